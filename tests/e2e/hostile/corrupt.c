// SPDX-License-Identifier: BSD-2-Clause
/*
 * corrupt silent|wakes|owner|noise SECONDS: takes the memory that proftrace gives to the library in
 * a process ($PROFTRACE_SHIM), and never answers; or says at once that it obeyed, counts on and
 * wakes whoever waits there, all the time; or takes the mark that tells that proftrace lives, too;
 * or writes noise over all of it.
 */
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "cupti_shim/protocol.h"

static void wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void wake_all(struct shim_control *c)
{
	__atomic_store_n(&c->done_seq, c->command_seq, __ATOMIC_RELEASE);
	c->state = SHIM_RECORDING;
	wake(&c->command_seq);
	wake(&c->owner);
	c->command_seq++;
}

static void take_owner(struct shim_control *c)
{
	c->owner = (uint32_t)getpid() | SHIM_OWNER_DIED;
	c->heartbeat_ns = 0;
	wake_all(c);
}

static uint64_t random_word(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Overwrites the control block and the start of each part behind it. */
static void write_noise(struct shim_control *c)
{
	char *const parts[] = {(char *)c,
			       (char *)shim_calls(c, 0),
			       shim_activity_bytes(c),
			       (char *)shim_functions(c),
			       (char *)shim_seen_names(c),
			       shim_seen_texts(c)};

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		for (size_t at = 0; at < sizeof(*c); at += 8)
			*(volatile uint64_t *)(parts[i] + at) = random_word();
	c->state = (uint32_t)random_word() % 6;
	c->error = (uint32_t)random_word() % 9;
	for (size_t i = 0; i < SHIM_RINGS; i++)
		c->rings[i].head = c->rings[i].tail + random_word() % (SHIM_RING_CALLS + 2);
	c->activities.head = c->activities.tail + random_word() % SHIM_ACTIVITY_BYTES;
}

int main(int argc, char **argv)
{
	const char *path = getenv(SHIM_ENV);
	int fd = path ? open(path, O_RDWR) : -1;
	struct shim_control *c;

	if (argc != 3 || fd < 0)
		return 2;
	c = mmap(NULL, SHIM_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED)
		return 2;
	c->pid = (uint32_t)getpid();
	c->state = SHIM_PARKED;
	for (time_t end = time(NULL) + atoi(argv[2]); time(NULL) < end;) {
		if (!strcmp(argv[1], "wakes"))
			wake_all(c);
		else if (!strcmp(argv[1], "owner"))
			take_owner(c);
		else if (!strcmp(argv[1], "noise"))
			write_noise(c);
		else
			usleep(10000);
	}
	return 0;
}

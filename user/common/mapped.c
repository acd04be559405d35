// SPDX-License-Identifier: BSD-2-Clause
#include "common/mapped.h"
#include "common/util.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#define MAPPED_MAX 4096 /* mappings at a time; each library of a process is one */

struct mapped {
	uint8_t *data;
	size_t size, whole; /* size: of the file; whole: with the page of zeros after it */
	size_t place;
	bool torn, borrowed;
};

/* The signal handler reads it, so each entry is set and cleared in one store. */
static struct mapped *places[MAPPED_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static size_t page;

static struct mapped *find(const void *address)
{
	const uint8_t *at = address;

	for (size_t i = 0; i < MAPPED_MAX; i++) {
		struct mapped *m = __atomic_load_n(&places[i], __ATOMIC_ACQUIRE);

		if (m && at >= m->data && at < m->data + m->whole)
			return m;
	}
	return NULL;
}

/* Replaces a page beyond the file's new end with a page of zeros. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	struct mapped *m = find(info->si_addr);
	void *at = (void *)((uintptr_t)info->si_addr & ~(page - 1));

	if (m && mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		      0) != MAP_FAILED) {
		__atomic_store_n(&m->torn, true, __ATOMIC_RELAXED);
		return;
	}
	/* The address is not in our mappings. The default action is restored; the instruction runs
	 * again and ends the process. */
	sigaction(SIGBUS, &before, NULL);
}

static void catch_bus_errors(void)
{
	const struct sigaction action = {
		.sa_sigaction = on_bus_error,
		.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER,
	};

	page = (size_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, &before);
}

/* An entry of the table for m; MAPPED_MAX: all are taken. */
static size_t enter(struct mapped *m)
{
	static bool catching;
	size_t i = 0;

	pthread_mutex_lock(&lock);
	if (!catching)
		catch_bus_errors();
	catching = true;
	while (i < MAPPED_MAX && places[i])
		i++;
	if (i < MAPPED_MAX)
		__atomic_store_n(&places[i], m, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	return i;
}

int mapped__open(int fd, size_t size, struct mapped **out)
{
	const size_t unit = (size_t)sysconf(_SC_PAGESIZE);
	struct mapped *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->size = size;
	m->whole = (size + unit) / unit * unit; /* at least one byte more than the file */
	m->data = mmap(NULL, m->whole, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m->data == MAP_FAILED) {
		free(m);
		return -ENOMEM;
	}
	if (mmap(m->data, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		err = -errno;
	else
		err = (m->place = enter(m)) < MAPPED_MAX ? 0 : -EMFILE;
	if (err) {
		munmap(m->data, m->whole);
		free(m);
		return err;
	}
	*out = m;
	return 0;
}

int mapped__guard(void *data, size_t size, struct mapped **out)
{
	struct mapped *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	*m = (struct mapped){.data = data, .size = size, .whole = size, .borrowed = true};
	m->place = enter(m);
	if (m->place == MAPPED_MAX) {
		free(m);
		return -EMFILE;
	}
	*out = m;
	return 0;
}

uint8_t *mapped__data(const struct mapped *m)
{
	return m->data;
}

bool mapped__is_torn(const struct mapped *m)
{
	return __atomic_load_n(&m->torn, __ATOMIC_RELAXED);
}

void mapped__drop(struct mapped *m)
{
	if (!m->borrowed)
		madvise(m->data, m->whole, MADV_DONTNEED);
}

void mapped__close(struct mapped *m)
{
	if (!m)
		return;
	pthread_mutex_lock(&lock);
	__atomic_store_n(&places[m->place], NULL, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	if (!m->borrowed)
		munmap(m->data, m->whole);
	free(m);
}

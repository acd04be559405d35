// SPDX-License-Identifier: BSD-2-Clause
#include "attach/calibrate.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "attach/calibrate_functions.h"
#include "bpf/skeleton.h"
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/own_program.h"
#include "attach/message_table.h"
#include "common/util.h"

static const struct {
	void (*call)(void);
	const char *symbol;
} functions[] = {
	[CALIBRATE_BARE] = {calibrate_bare, "calibrate_bare"},
	[CALIBRATE_EMULATED] = {calibrate_emulated, "calibrate_emulated"},
	[CALIBRATE_STEPPED] = {calibrate_stepped, "calibrate_stepped"},
	[CALIBRATE_PAIR] = {calibrate_pair, "calibrate_pair"},
	[CALIBRATE_SITE] = {calibrate_site, "calibrate_site"},
	[CALIBRATE_SITE_END] = {calibrate_site_end, "calibrate_site_end"},
};

/* ---- where ---- */

struct search {
	uint64_t addr, offset;
};

static int find_offset(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct search *s = ctx;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		uint64_t begin = info->dlpi_addr + ph->p_vaddr;

		if (ph->p_type == PT_LOAD && s->addr >= begin && s->addr - begin < ph->p_memsz) {
			s->offset = s->addr - begin + ph->p_offset;
			return 1;
		}
	}
	return 0;
}

void calibration__point(enum calibration_function fn, struct attach_point *point)
{
	struct search s = {.addr = (uint64_t)(uintptr_t)functions[fn].call};

	dl_iterate_phdr(find_offset, &s);
	*point = (struct attach_point){
		.path = own_program__path(), .offset = s.offset, .symbol = functions[fn].symbol};
}

void calibration__call_emulated(unsigned int calls)
{
	while (calls--)
		calibrate_emulated();
}

/* ---- the child ---- */

struct order {
	uint32_t fn, rounds, calls, pad;
	uint64_t evicted;
};

struct calibration {
	pid_t pid;
	int sock;
};

/* Reads a byte of every 64, which removes everything else from the caches. */
static void evict(const volatile char *memory, uint64_t size)
{
	for (uint64_t i = 0; i < size; i += 64)
		(void)memory[i];
}

static double hot_round(const struct order *o)
{
	uint64_t begin = clock__monotonic_ns();

	for (uint32_t i = 0; i < o->calls; i++)
		functions[o->fn].call();
	return (double)(clock__monotonic_ns() - begin) / o->calls;
}

static double cold_round(const struct order *o, const char *memory)
{
	uint64_t took = 0;

	for (uint32_t i = 0; i < o->calls; i++) {
		uint64_t begin;

		evict(memory, o->evicted);
		begin = clock__monotonic_ns();
		functions[o->fn].call();
		took += clock__monotonic_ns() - begin;
	}
	return (double)took / o->calls;
}

static double least_round(const struct order *o)
{
	auto_free char *memory = o->evicted ? calloc(1, o->evicted) : NULL;
	double least = 0;

	for (uint32_t r = 0; r < o->rounds; r++) {
		double ns = memory ? cold_round(o, memory) : hot_round(o);

		if (!r || ns < least)
			least = ns;
	}
	return least;
}

static void __attribute__((noreturn)) serve(int sock, pid_t parent)
{
	struct order o;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Closes inherited links, which would live as long as this child. It is killed in the end,
	 * and then the kernel could not take their probes out. */
	dup2(sock, STDERR_FILENO + 1);
	sock = STDERR_FILENO + 1;
	close_range((unsigned int)sock + 1, ~0u, 0);
	/* The parent may have died before prctl(); then nothing would end this process. */
	while (getppid() == parent && UNINTERRUPTED(read(sock, &o, sizeof(o))) == sizeof(o)) {
		double ns = least_round(&o);

		if (UNINTERRUPTED(write(sock, &ns, sizeof(ns))) != sizeof(ns))
			break;
	}
	_exit(0);
}

int calibration__start(struct calibration **out)
{
	struct calibration *c = malloc(sizeof(*c));
	pid_t parent = getpid();
	int socks[2];

	if (!c)
		return err__set(-ENOMEM, MESSAGE_CALIBRATION_OUT_OF_MEMORY);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0) {
		int err = -errno;

		free(c);
		return err__set(err, MESSAGE_CALIBRATION_SOCKETS_NOT_MADE,
				descriptors__lack(err) ? descriptors__why(err, 0) : strerror(-err));
	}
	c->pid = fork();
	if (c->pid == 0) {
		close(socks[0]);
		serve(socks[1], parent);
	}
	close(socks[1]);
	c->sock = socks[0];
	if (c->pid < 0) {
		int err = err__set(-errno, MESSAGE_CALIBRATION_NOT_FORKED, strerror(errno));

		close(c->sock);
		free(c);
		return err;
	}
	*out = c;
	return 0;
}

pid_t calibration__pid(const struct calibration *c)
{
	return c->pid;
}

int calibration__run(struct calibration *c, enum calibration_function fn, uint64_t evicted,
		     unsigned int rounds, unsigned int calls, double *ns_per_call)
{
	struct order o = {.fn = fn, .rounds = rounds, .calls = calls, .evicted = evicted};

	if (UNINTERRUPTED(send(c->sock, &o, sizeof(o), MSG_NOSIGNAL)) != sizeof(o) ||
	    UNINTERRUPTED(recv(c->sock, ns_per_call, sizeof(*ns_per_call), 0)) !=
		    sizeof(*ns_per_call))
		return err__set(-EPIPE, MESSAGE_CALIBRATION_CHILD_DIED);
	return 0;
}

void calibration__stop(struct calibration *c)
{
	if (!c)
		return;
	close(c->sock);
	kill(c->pid, SIGKILL);
	UNINTERRUPTED(waitpid(c->pid, NULL, 0));
	free(c);
}

/* ---- the programs ---- */

int calibration_programs__load(enum attach_method method, struct calibration_programs **out)
{
	struct calibration_programs *p = calloc(1, sizeof(*p));
	struct bpf_program *prog;
	struct bpf_map *map;
	size_t needed;
	int err;

	if (!p)
		return err__set(-ENOMEM, MESSAGE_CALIBRATION_OUT_OF_MEMORY);
	p->skel = proftrace_bpf__open();
	if (!p->skel) {
		err = -errno;
		goto fail;
	}
	p->empty = p->skel->progs.calibrate_empty;
	p->empty_return = p->skel->progs.calibrate_empty_return;
	p->count = p->skel->progs.calibrate_count;
	bpf_object__for_each_program(prog, p->skel->obj)
	{
		bpf_program__set_autoload(prog, prog == p->empty || prog == p->empty_return ||
							prog == p->count);
	}
	bpf_object__for_each_map(map, p->skel->obj)
	{
		/* libbpf binds every program to the internal maps (.rodata, .bss). */
		bpf_map__set_autocreate(map, bpf_map__is_internal(map));
	}
	attach_method__prepare(p->empty, method);
	attach_method__prepare(p->empty_return, method);
	attach_method__prepare(p->count, method);
	err = proftrace_bpf__load(p->skel);
	if (err)
		goto fail;
	p->hits = (const uint64_t *)&p->skel->bss->calibrate_hits;
	*out = p;
	return 0;
fail:
	needed = p->skel ? bpf_object__descriptors(p->skel->obj) : 0;
	calibration_programs__free(p);
	if (descriptors__lack(err))
		return err__set(err, MESSAGE_CALIBRATION_LACKS_DESCRIPTORS,
				descriptors__why(err, needed));
	if (err == -EPERM)
		return err__set(err, MESSAGE_CALIBRATION_NOT_PERMITTED, attach__libbpf_error(err),
				capability__why_refused(CAPABILITIES_TO_LOAD));
	return err__set(err, MESSAGE_CALIBRATION_NOT_LOADED, attach__libbpf_error(err));
}

void calibration_programs__free(struct calibration_programs *p)
{
	if (!p)
		return;
	proftrace_bpf__destroy(p->skel);
	free(p);
}

/* Threads that remove probes. They die when the process ends. Then the kernel leaks the probes that
 * are still in, and logs it. */
static struct {
	pthread_t threads[8];
	size_t cnt;
	pid_t pid;
} discarding;

static void wait_for_discarding(void)
{
	if (discarding.pid != getpid())
		return; /* in a child: the threads belong to its parent */
	while (discarding.cnt)
		pthread_join(discarding.threads[--discarding.cnt], NULL);
}

/* False: no thread can be started. */
static bool discard_aside(void *(*work)(void *), void *arg)
{
	if (discarding.pid != getpid()) {
		if (!discarding.pid && atexit(wait_for_discarding))
			return false;
		discarding.pid = getpid();
		discarding.cnt = 0;
	}
	if (discarding.cnt == ARRAY_SIZE(discarding.threads) ||
	    pthread_create(&discarding.threads[discarding.cnt], NULL, work, arg))
		return false;
	discarding.cnt++;
	return true;
}

struct discarded {
	struct attach_set *set;
	struct calibration_programs *programs;
};

static void *free_discarded(void *arg)
{
	struct discarded *d = arg;

	attach_set__free(d->set);
	calibration_programs__free(d->programs);
	free(d);
	return NULL;
}

void calibration__discard(struct attach_set *set, struct calibration_programs *p)
{
	struct discarded *d = malloc(sizeof(*d));

	if (d)
		*d = (struct discarded){set, p};
	if (d && discard_aside(free_discarded, d))
		return;
	free(d);
	attach_set__free(set);
	calibration_programs__free(p);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "inject/safe_point.h"
#include <fnmatch.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include "common/err.h"
#include "common/message_table.h"
#include "inject/message_table.h"
#include "common/util.h"

/* How many threads are examined before the first one is stopped. */
#define REHEARSED 4

enum rank { RANK_WAITS, RANK_MENDED, RANK_RUNS, RANK_NEVER };

/* System calls that wait for outside events, and in which neither malloc nor the loader waits. */
static const struct {
	long nr;
	enum rank rank;
} waits[] = {
	{SYS_read, RANK_WAITS},
	{SYS_readv, RANK_WAITS},
	{SYS_poll, RANK_WAITS},
	{SYS_ppoll, RANK_WAITS},
	{SYS_select, RANK_WAITS},
	{SYS_pselect6, RANK_WAITS},
	{SYS_nanosleep, RANK_WAITS},
	{SYS_clock_nanosleep, RANK_WAITS},
	{SYS_pause, RANK_WAITS},
	{SYS_rt_sigsuspend, RANK_WAITS},
	{SYS_wait4, RANK_WAITS},
	{SYS_waitid, RANK_WAITS},
	{SYS_accept, RANK_WAITS},
	{SYS_accept4, RANK_WAITS},
	{SYS_recvfrom, RANK_WAITS},
	{SYS_recvmsg, RANK_WAITS},
	{SYS_futex, RANK_WAITS},
	{SYS_write, RANK_MENDED},
	{SYS_epoll_wait, RANK_MENDED},
	{SYS_epoll_pwait, RANK_MENDED},
	{SYS_restart_syscall, RANK_WAITS},
};

static enum rank rank_of_call(long nr, uint64_t arg1, uint64_t arg2)
{
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		if (waits[i].nr != nr)
			continue;
		/* A wait for a lock, such as malloc's or the loader's. In glibc 2 means "locked,
		 * others wait" (lowlevellock.h). */
		if (nr == SYS_futex && (((arg1 & FUTEX_CMD_MASK) == FUTEX_WAIT && arg2 == 2) ||
					(arg1 & FUTEX_CMD_MASK) == FUTEX_LOCK_PI))
			return RANK_NEVER;
		return waits[i].rank;
	}
	return RANK_NEVER;
}

/* /proc/PID/task/TID/syscall has "running", or a number, six arguments, stack and instruction. */
static enum rank rank_of_thread(pid_t pid, pid_t tid, uint64_t *rsp)
{
	unsigned long arg[6], sp;
	auto_free char *text = NULL;
	char path[64];
	long nr;

	*rsp = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	text = file__read(path, NULL);
	if (!text)
		return RANK_NEVER;
	if (strncmp(text, "running", 7) == 0)
		return RANK_RUNS;
	if (sscanf(text, "%ld 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx 0x%lx", &nr, &arg[0], &arg[1],
		   &arg[2], &arg[3], &arg[4], &arg[5], &sp) != 8)
		return RANK_RUNS;
	*rsp = sp;
	return rank_of_call(nr, arg[1], arg[2]);
}

void safe_point__place(pid_t pid, pid_t tid, char *text, size_t size)
{
	auto_free char *call = NULL;
	char path[64], *end;
	long nr;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	call = file__read(path, NULL);
	nr = call ? strtol(call, &end, 10) : -1;
	if (!call)
		snprintf(text, size, "where it is, is unknown");
	else if (end == call)
		snprintf(text, size, "it runs");
	else if (nr < 0)
		snprintf(text, size, "it is in no system call");
	else if (nr == SYS_vfork)
		snprintf(text, size, "it waits for the child of its vfork");
	else
		snprintf(text, size, "it is in system call %ld", nr);
}

int safe_point__candidates(const struct safe_point *s, pid_t **tids, size_t *cnt)
{
	auto_free struct target_thread *threads = NULL;
	auto_free enum rank *ranks = NULL;
	size_t thread_cnt = 0;
	uint64_t rsp;
	int err = target__threads(s->target, &threads, &thread_cnt);

	if (err)
		return err;
	*cnt = 0;
	*tids = calloc(thread_cnt + 1, sizeof(**tids));
	ranks = calloc(thread_cnt + 1, sizeof(*ranks));
	if (!*tids || !ranks)
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	for (size_t i = 0; i < thread_cnt; i++)
		ranks[i] = rank_of_thread(s->target->pid, threads[i].tid, &rsp);
	for (enum rank r = RANK_WAITS; r < RANK_NEVER; r++) {
		for (size_t i = 0; i < thread_cnt; i++) {
			if (ranks[i] == r)
				(*tids)[(*cnt)++] = threads[i].tid;
		}
	}
	return 0;
}

int safe_point__rehearse(struct safe_point *s)
{
	auto_free pid_t *tids = NULL;
	size_t cnt = 0;
	int err = safe_point__candidates(s, &tids, &cnt);

	for (size_t i = 0; !err && i < cnt && i < REHEARSED; i++) {
		uint64_t rsp = 0;

		rank_of_thread(s->target->pid, tids[i], &rsp);
		frames__warm(s->frames, rsp);
	}
	for (size_t i = 0; !err && i < s->target->lib_cnt; i++) {
		const struct target_lib *lib = &s->target->libs[i];
		const char *slash = strrchr(lib->path, '/');
		struct elf_file *elf = NULL;
		struct elf_symbol symbol;

		if (libc_calls__is_libc(slash ? slash + 1 : lib->path))
			elf = target__elf(s->target, lib);
		if (elf)
			elf_file__symbol_at(elf, 0, &symbol);
	}
	return err;
}

static int no(struct safe_point *s, const struct tracee *h, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
static int no(struct safe_point *s, const struct tracee *h, const char *fmt, ...)
{
	int len = snprintf(s->why_not, sizeof(s->why_not), "thread %d ", h->tid);
	va_list args;

	va_start(args, fmt);
	vsnprintf(s->why_not + len, sizeof(s->why_not) - (size_t)len, fmt, args);
	va_end(args);
	return 0;
}

/* 1: it stopped at a system call that it may be taken from, or outside the kernel. */
static int check_call(struct safe_point *s, const struct tracee *h)
{
	const struct user_regs_struct *r = &h->regs;
	uint8_t code[2];

	if (r->cs != 0x33)
		return no(s, h, "runs code that is not 64-bit");
	if ((long)r->orig_rax < 0)
		return 1;
	if (rank_of_call((long)r->orig_rax, r->rsi, r->rdx) == RANK_NEVER)
		return no(s, h, "is in system call %ld", (long)r->orig_rax);
	if (target__read(s->target, r->rip - 2, code, sizeof(code)) < 0 || code[0] != 0x0f ||
	    code[1] != 0x05)
		return no(s, h, "made a system call by another instruction than syscall");
	return 1;
}

/* The thread's TCB points to itself (tcbhead_t), so the C library made the thread. */
static int check_thread(struct safe_point *s, const struct tracee *h)
{
	uint64_t tcb[3];

	if (!h->regs.fs_base || target__read(s->target, h->regs.fs_base, tcb, sizeof(tcb)) < 0 ||
	    tcb[0] != h->regs.fs_base || tcb[2] != h->regs.fs_base)
		return no(s, h, "is not one of the C library's");
	return 1;
}

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

/* A restartable sequence must begin again after an interruption. If we put the thread back, it
 * would continue instead. */
static int check_rseq(struct safe_point *s, const struct tracee *h)
{
	struct {
		uint64_t area;
		uint32_t size, signature, flags, pad;
	} conf = {0};
	struct {
		uint32_t version, flags;
		uint64_t start, len, abort;
	} cs;
	uint64_t cs_at;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, h->tid, sizeof(conf), &conf) < 0 || !conf.area)
		return 1;
	if (target__read(s->target, conf.area + 8, &cs_at, sizeof(cs_at)) < 0 || !cs_at)
		return 1;
	if (target__read(s->target, cs_at, &cs, sizeof(cs)) == 0 &&
	    h->regs.rip - cs.start >= cs.len)
		return 1;
	return no(s, h, "is in a restartable sequence");
}

/*
 * The loader's locks are recursive mutexes in _rtld_global, at offsets that differ by version. A
 * held lock is recognisable: its owner's id, one user, its kind, a count. Calls cb for each owner's
 * id (in its own namespace) until cb returns true; returns that.
 */
static int for_each_owner(const struct safe_point *s, bool (*cb)(pid_t owner, void *ctx), void *ctx)
{
	struct lock {
		int32_t word;
		uint32_t count;
		int32_t owner;
		uint32_t users;
		int32_t kind;
	};
	size_t size = s->calls->rtld_global_size;
	auto_free uint8_t *global = malloc(size);

	if (!global)
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	if (target__read(s->target, s->calls->rtld_global, global, size) < 0)
		return err__set(-ESRCH, MESSAGE_INJECT_TARGET_ENDED, s->target->pid);
	for (size_t off = 0; off + sizeof(struct lock) <= size; off += 8) {
		struct lock l;

		memcpy(&l, global + off, sizeof(l));
		if (l.kind == PTHREAD_MUTEX_RECURSIVE_NP && l.users == 1 && l.owner > 0 &&
		    l.count && (l.word == 1 || l.word == 2) && cb(l.owner, ctx))
			return 1;
	}
	return 0;
}

static bool is_owner(pid_t owner, void *tid)
{
	return owner == *(pid_t *)tid;
}

static bool any_owner(pid_t owner, void *ctx)
{
	return true;
}

int safe_point__loader_is_busy(const struct safe_point *s)
{
	return for_each_owner(s, any_owner, NULL);
}

static int check_loader_locks(struct safe_point *s, const struct tracee *h, bool patient)
{
	pid_t inside = proc__innermost_tid(h->tid);
	int ret;

	if (!inside)
		inside = h->tid; /* the kernel does not show it, so there is no namespace */
	ret = for_each_owner(s, is_owner, &inside);
	if (ret)
		return ret < 0 ? ret : no(s, h, "holds a lock of the dynamic loader");
	ret = patient ? for_each_owner(s, any_owner, NULL) : 0;
	if (ret)
		return ret < 0 ? ret : no(s, h, "would wait for the dynamic loader's lock");
	return 1;
}

/* Functions of the C library that hold locks, or in which the process is in an intermediate
 * state. */
static const char *const bad_functions[] = {
	"malloc",	  "calloc",	     "realloc",	       "free",
	"cfree",	  "memalign",	     "aligned_alloc",  "valloc",
	"pvalloc",	  "posix_memalign",  "reallocarray",   "malloc_*",
	"mall*",	  "__libc_malloc",   "__libc_free",    "__libc_calloc",
	"__libc_realloc", "__libc_memalign", "fork",	       "_Fork",
	"__libc_fork",	  "vfork",	     "__fork",	       "posix_spawn*",
	"exit",		  "_exit",	     "abort",	       "quick_exit",
	"pthread_create", "pthread_exit",    "pthread_atfork", "dl*",
	"_dl_*",	  "__libc_dl*",
};

/* Libraries that replace malloc, or watch every access. */
static const char *const bad_libs[] = {"*malloc*", "libhoard*", "libasan*", "liblsan*", "libtsan*"};

static bool matches_any(const char *name, const char *const *patterns, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	}
	return false;
}

struct walk {
	struct safe_point *s;
	const struct tracee *h;
	int depth;
	bool in_call;
};

enum { WALK_REFUSED = 1 };

static int refuse_frame(const struct walk *w, const struct frame *f, const char *what)
{
	no(w->s, w->h, "%s %s", f->is_guess ? "may be in" : "is in", what);
	return WALK_REFUSED;
}

static int check_frame(const struct frame *f, void *ctx)
{
	struct walk *w = ctx;
	const char *slash = f->lib ? strrchr(f->lib->path, '/') : NULL;
	const char *base = slash ? slash + 1 : "";
	bool innermost = w->depth++ == 0;
	struct elf_symbol symbol;
	struct elf_file *elf;

	if (f->is_signal)
		return refuse_frame(w, f, "a signal handler");
	if (libc_calls__is_loader(base))
		return refuse_frame(w, f, "the dynamic loader");
	if (matches_any(base, bad_libs, ARRAY_SIZE(bad_libs)))
		return refuse_frame(w, f, base);
	/* The vdso, and code made at run time, may be anything, but hold no lock of the C
	 * library. */
	if (!f->lib || !libc_calls__is_libc(base))
		return 0;
	/* Many functions of a stripped C library have no name. None of them calls other code while
	 * it holds a lock. So only the innermost frame must not be one of them. */
	if (innermost && !w->in_call)
		return refuse_frame(w, f, "the C library");
	elf = target__elf(w->s->target, f->lib);
	if (elf && elf_file__symbol_at(elf, f->pc - f->lib->base - 1, &symbol) == 0 &&
	    matches_any(symbol.name, bad_functions, ARRAY_SIZE(bad_functions)))
		return refuse_frame(w, f, symbol.name);
	return 0;
}

static int check_frames(struct safe_point *s, const struct tracee *h)
{
	struct walk w = {.s = s, .h = h, .in_call = (long)h->regs.orig_rax >= 0};
	int ret = frames__walk(s->frames, &h->regs, check_frame, &w);

	if (ret < 0)
		return no(s, h, "has a stack that cannot be read");
	return ret == WALK_REFUSED ? 0 : 1;
}

int safe_point__check(struct safe_point *s, const struct tracee *h, bool patient)
{
	int ok = check_call(s, h);

	if (ok > 0)
		ok = check_thread(s, h);
	if (ok > 0)
		ok = check_rseq(s, h);
	if (ok > 0)
		ok = check_loader_locks(s, h, patient);
	if (ok > 0)
		ok = check_frames(s, h);
	return ok;
}

// SPDX-License-Identifier: BSD-2-Clause
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include "common/err.h"
#include "inject/message_table.h"
#include "common/util.h"
#include "inject/session.h"
#include "inject/steps.h"

#define MAX_CODE    1024
#define MXCSR_RESET 0x1f80 /* System V ABI, 3.2.3 */
#define TICK_NS	    500000
/* How long the tracee thread may wait in pthread_create for a contended lock before it leaves a
 * half-made thread. Leaving does more harm than the wait, unless other threads wait for this
 * one. */
#define PATIENCE_NS 500000000
/* The new thread waits for us three times, each time briefly. After so many seconds (or one less)
 * it takes us for dead. */
#define DEAD_S 5

/* Only a file that stays mapped can be used, not one that dlclose might unmap. */
static bool is_permanent(const struct session *s, const struct map_range *r)
{
	const char *base = maps__basename(r);

	return libc_calls__is_libc(base) || libc_calls__is_loader(base) ||
	       strncmp(base, "libm.so", 7) == 0 || strncmp(base, "libm-", 5) == 0 ||
	       (s->target->exe && strcmp(r->path, s->target->exe) == 0);
}

static size_t slack(struct session *s, const struct map_range *r)
{
	uint64_t last_page = r->end - REMOTE_PAGE;

	for (size_t i = 0; i < s->target->lib_cnt; i++) {
		const struct target_lib *lib = &s->target->libs[i];
		struct elf_file *elf;
		size_t used;

		if (strcmp(lib->path, r->path) != 0)
			continue;
		elf = target__elf(s->target, lib);
		if (!elf || !elf_file__bytes(elf, last_page - lib->base, &used) ||
		    used >= REMOTE_PAGE)
			return 0;
		return (REMOTE_PAGE - used) & ~7ul;
	}
	return 0;
}

int cave__find(struct session *s)
{
	size_t need = remote__stub().size, most = 0;

	s->cave = (struct cave){0};
	for (size_t i = 0; i < s->maps.cnt; i++) {
		const struct map_range *r = &s->maps.ranges[i];
		size_t size;

		if (!r->executable || r->shared || !is_permanent(s, r))
			continue;
		size = slack(s, r);
		if (size < need || size <= most)
			continue;
		most = size;
		s->cave = (struct cave){r->end - need, need};
	}
	if (!most)
		return err__set(-EOPNOTSUPP, MESSAGE_INJECTED_CALL_NO_ROOM, s->target->pid, need);
	return 0;
}

bool cave__is_marked(const struct session *s)
{
	uint64_t mark_at = s->cave.addr + s->cave.size - 8, mark = 0;

	return target__read(s->target, mark_at, &mark, sizeof(mark)) == 0 &&
	       mark == REMOTE_STUB_MAGIC;
}

int session__write(const struct session *s, uint64_t addr, const void *bytes, size_t len)
{
	struct iovec local = {(void *)(uintptr_t)bytes, len}; // NOLINT
	struct iovec remote = {(void *)(uintptr_t)addr, len}; // NOLINT

	if (process_vm_writev(s->target->pid, &local, 1, &remote, 1, 0) == (ssize_t)len)
		return 0;
	return errno ? -errno : -EIO;
}

/* ---- the stub ---- */

struct stub_code {
	_Alignas(8) uint8_t bytes[MAX_CODE];
	size_t len; /* a multiple of 8 */
};

static void prepare_stub(const struct session *s, struct stub_code *out)
{
	struct remote_code code = remote__stub();
	struct remote_regs r;
	struct remote_stub_data data;

	tracee__self_regs(&s->tracee, &r);
	data = (struct remote_stub_data){
		.sigmask = s->tracee.sigmask,
		.rax = r.rax,
		.rcx = r.rcx,
		.rdx = r.rdx,
		.rsi = r.rsi,
		.rdi = r.rdi,
		.r8 = r.r8,
		.r9 = r.r9,
		.r10 = r.r10,
		.r11 = r.r11,
		.rip = r.rip,
		.magic = REMOTE_STUB_MAGIC,
	};
	memset(out, 0, sizeof(*out));
	memcpy(out->bytes, code.bytes, code.size);
	memcpy(out->bytes + code.data_off, &data, sizeof(data));
	out->len = code.size;
}

static bool always(void *ctx)
{
	return true;
}

/* Sends the thread through the stub with one system call. Results as of tracee__run_until. */
static int run_stub(struct session *s, size_t entry, const struct user_regs_struct *args,
		    struct user_regs_struct *regs)
{
	struct remote_code code = remote__stub();
	struct user_regs_struct to = s->tracee.regs;
	struct tracee_wait wait = {.base = s->cave.addr,
				   .size = code.size,
				   .begin = code.wait_begin,
				   .end = code.wait_end,
				   .ready = always,
				   .deadline_ns = UINT64_MAX};
	int err;

	to.rip = s->cave.addr + entry;
	to.orig_rax = ~0ull;
	to.rax = args->rax;
	to.rdi = args->rdi;
	to.rsi = args->rsi;
	to.rdx = args->rdx;
	to.r10 = args->r10;
	to.r8 = args->r8;
	to.r9 = args->r9;
	err = tracee__send(&s->tracee, &to);
	if (err)
		return err;
	inject_step(INJECT_STEP_STUB_RUNS);
	err = tracee__run_until(&s->tracee, &wait, regs);
	return err == -ETIMEDOUT ? tracee__leave(&s->tracee) : err;
}

static int unmap_region(struct session *s, uint64_t region)
{
	struct user_regs_struct regs, args = {
					      .rax = SYS_munmap,
					      .rdi = region,
					      .rsi = REMOTE_SIZE,
				      };

	return run_stub(s, remote__stub().unmap_off, &args, &regs);
}

static int map_region(struct session *s, uint64_t region)
{
	struct user_regs_struct regs,
		args = {
			.rax = SYS_mmap,
			.rdi = region,
			.rsi = REMOTE_SIZE,
			.rdx = PROT_READ | PROT_EXEC,
			.r10 = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			.r8 = ~0ull,
		};
	int err = run_stub(s, 0, &args, &regs);

	inject_step(INJECT_STEP_STUB_HELD);
	if (err < 0)
		return err;
	if (err > 0) /* it has continued without us; the next attempt uses another region */
		return -EAGAIN;
	if (regs.r8 == region && regs.rax == 0)
		return 0;
	if (regs.r8 == (uint64_t)-EEXIST)
		return -EAGAIN;
	if (regs.r8 == region) {
		unmap_region(s, region);
		err = (int)(int64_t)regs.rax;
	} else {
		err = (int)(int64_t)regs.r8;
	}
	return err__set(err < 0 ? err : -ENOMEM, MESSAGE_INJECTED_CALL_NO_CODE_MEMORY,
			s->target->pid, strerror(-err));
}

/* ---- the region ---- */

static void fill_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

static void prepare_data(const struct session *s, struct remote_data *d)
{
	const struct inject_request *q = s->request;

	memset(d, 0, sizeof(*d));
	d->pthread_create = s->calls.pthread_create;
	d->pthread_self = s->calls.pthread_self;
	d->pthread_detach = s->calls.pthread_detach;
	d->dlopen = s->calls.dlopen;
	d->dlsym = s->calls.dlsym;
	d->dlclose = s->calls.dlclose;
	d->dlerror = s->calls.dlerror;
	d->munmap = s->calls.munmap;
	d->mode = s->calls.dlopen_mode;
	d->function = s->function;
	d->sigmask = s->tracee.sigmask;
	tracee__self_regs(&s->tracee, &d->regs);
	d->fd = -1;
	d->mxcsr = MXCSR_RESET;
	d->tick[1] = TICK_NS;
	d->patience_s = DEAD_S;
	fill_text(d->path, sizeof(d->path), q->path);
	fill_text(d->name, sizeof(d->name), q->image ? q->image_name : NULL);
	fill_text(d->symbol, sizeof(d->symbol), q->symbol);
	fill_text(d->arg, sizeof(d->arg), q->arg);
}

static int write_region(struct session *s, uint64_t region)
{
	_Alignas(8) uint8_t page[MAX_CODE] = {0};
	struct remote_code code = remote__main();
	struct remote_data data;
	int err;

	memcpy(page, code.bytes, code.size);
	prepare_data(s, &data);
	err = session__write(s, region + REMOTE_PAGE, &data, sizeof(data));
	if (err)
		return err__set(err, MESSAGE_INJECTED_CALL_NOT_WRITTEN, s->target->pid,
				strerror(-err));
	err = tracee__poke(&s->tracee, region, page, (code.size + 7) & ~7ul);
	inject_step(INJECT_STEP_MAIN_WRITTEN);
	return err;
}

struct state_at {
	const struct session *s;
	uint64_t addr;
};

static bool is_created(void *ctx)
{
	const struct state_at *at = ctx;
	uint64_t state = 0;

	/* Unreadable memory: the process is dead, and the stop will show it. */
	return target__read(at->s->target, at->addr, &state, sizeof(state)) < 0 || state != 0;
}

/*
 * The thread is in pthread_create and waits too long for another thread's lock. It holds no lock
 * itself. Leaving loses the new thread's stack, and perhaps a wake-up for others that wait for that
 * lock.
 */
static bool is_stuck(const struct user_regs_struct *regs)
{
	return regs->orig_rax == SYS_futex && (long)regs->rax < 0;
}

static void wake_others(struct session *s, const struct user_regs_struct *stuck)
{
	struct user_regs_struct regs, args = {
					      .rax = SYS_futex,
					      .rdi = stuck->rdi,
					      .rsi = FUTEX_WAKE | (stuck->rsi & FUTEX_PRIVATE_FLAG),
					      .rdx = INT_MAX,
				      };

	run_stub(s, remote__stub().unmap_off, &args, &regs);
}

static int run_main(struct session *s, uint64_t region)
{
	struct remote_code code = remote__main();
	struct state_at at = {s, region + REMOTE_PAGE + RD_STATE};
	struct tracee_wait wait = {.base = region,
				   .size = REMOTE_PAGE,
				   .begin = code.wait_begin,
				   .end = code.wait_end,
				   .ready = is_created,
				   .ctx = &at};
	struct user_regs_struct regs, to = s->tracee.regs;
	int err;

	to.rip = region;
	to.rsp = region + REMOTE_SIZE;
	to.rbp = 0;
	to.eflags = 0x202;
	to.orig_rax = ~0ull;
	err = tracee__send(&s->tracee, &to);
	if (err)
		return err;
	inject_step(INJECT_STEP_MAIN_RUNS);
	do {
		wait.deadline_ns = clock__monotonic_ns() + PATIENCE_NS;
		err = tracee__run_until(&s->tracee, &wait, &regs);
		if (err == -ETIMEDOUT && is_stuck(&regs)) {
			wake_others(s, &regs);
			snprintf(s->safe.why_not, sizeof(s->safe.why_not),
				 "thread %d waits for a lock to make a thread", s->tracee.tid);
			return -EAGAIN;
		}
	} while (err == -ETIMEDOUT && !tracee__is_late(&s->tracee));
	if (err == -ETIMEDOUT)
		err = tracee__leave(&s->tracee);
	inject_step(INJECT_STEP_MAIN_HELD);
	return err < 0 ? err : 0;
}

static int check_created(struct session *s, uint64_t region)
{
	uint64_t rc = 0;
	int err = target__read(s->target, region + REMOTE_PAGE + RD_CREATE_RC, &rc, sizeof(rc));

	if (err)
		return err__set(-ESRCH, MESSAGE_INJECTED_CALL_TARGET_ENDED, s->target->pid);
	if (!rc)
		return 0;
	if (s->tracee.moved)
		unmap_region(s, region);
	/* pthread_create returns EAGAIN for all that it lacks. No other thread would have it. */
	return err__set(rc == EAGAIN ? -ENOMEM : -(int)rc, MESSAGE_INJECTED_CALL_NO_THREAD,
			s->target->pid, strerror((int)rc));
}

/* The thread has left our code, or will leave it when its process lets it run. */
static int left(const struct session *s)
{
	char where[64];

	if (tracee__user_stops(&s->tracee))
		return err__set(-EINTR, MESSAGE_INJECT_STOPPED);
	safe_point__place(s->target->pid, s->tracee.tid, where, sizeof(where));
	return err__set(-ETIME, MESSAGE_INJECTED_CALL_THREAD_LATE, s->target->pid, s->tracee.tid,
			where);
}

int injected_call__make_thread(struct session *s)
{
	struct stub_code stub, before = {0};
	uint64_t region = maps__gap(&s->maps, REMOTE_SIZE);
	int err = 0, put_back;

	if (!region)
		return err__set(-ENOMEM, MESSAGE_INJECTED_CALL_ADDRESS_SPACE_FULL, s->target->pid);
	prepare_stub(s, &stub);
	/* Remains of a killed proftrace are not restored. */
	if (!cave__is_marked(s))
		err = tracee__peek(&s->tracee, s->cave.addr, before.bytes, stub.len);
	if (!err)
		err = tracee__poke(&s->tracee, s->cave.addr, stub.bytes, stub.len);
	if (err)
		return err;
	inject_step(INJECT_STEP_STUB_WRITTEN);
	err = map_region(s, region);
	if (!err) {
		err = write_region(s, region);
		if (err)
			unmap_region(s, region);
	}
	if (!err)
		err = run_main(s, region);
	if (!err)
		err = check_created(s, region);
	if (s->tracee.left) /* it may be in the stub, which stays there, as after a kill */
		return left(s);
	/* The thread is stopped outside the stub, or is put back below without running. */
	put_back = tracee__poke(&s->tracee, s->cave.addr, before.bytes, stub.len);
	inject_step(INJECT_STEP_STUB_CLEARED);
	if (!err)
		s->region = region;
	return err ? err : put_back;
}

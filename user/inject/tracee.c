// SPDX-License-Identifier: BSD-2-Clause
#include "inject/tracee.h"
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "common/capability.h"
#include "common/err.h"
#include "common/util.h"
#include "inject/steps.h"

/* Kernel-internal results of an interrupted system call (include/linux/errno.h). */
#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516

#define POLL_NS 30000

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
}

static int trace_error(const struct tracee *h, const char *what)
{
	int err = -errno;

	if (err == -ESRCH || err == -ECHILD)
		return err__set(-ESRCH, "process %d: thread %d ended meanwhile", h->pid, h->tid);
	return err__set(err, "process %d: %s of thread %d: %s", h->pid, what, h->tid,
			strerror(-err));
}

/* A fault of the code that we sent the thread to is ours to bear, not the program's. */
static bool is_our_fault(const struct tracee *h, int sig)
{
	return h->moved && (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
			    sig == SIGTRAP);
}

/*
 * Waits for the stop that PTRACE_INTERRUPT asked for; signals that come first go where they were
 * going. 0, -EAGAIN: time is up; -ESTALE: stopped for job control (SIGSTOP); -EFAULT: our code
 * failed there.
 */
static int await_stop(struct tracee *h, uint64_t deadline_ns)
{
	for (;;) {
		int status;
		pid_t got = waitpid(h->tid, &status, __WALL | WNOHANG);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return trace_error(h, "waiting for a stop");
		if (got == 0) {
			uint64_t now = clock__monotonic_ns();

			if (now > deadline_ns)
				return -EAGAIN;
			if (!h->moved)
				h->stopped_at = now; /* it still runs, or has not run yet */
			nap();
			continue;
		}
		if (!WIFSTOPPED(status)) {
			errno = ESRCH;
			return trace_error(h, "stop");
		}
		if (status >> 16 == PTRACE_EVENT_STOP)
			return WSTOPSIG(status) == SIGTRAP ? 0 : -ESTALE;
		if (is_our_fault(h, WSTOPSIG(status)))
			return -EFAULT;
		if (ptrace(PTRACE_CONT, h->tid, NULL, (long)WSTOPSIG(status)) < 0)
			return trace_error(h, "delivering a signal");
	}
}

static int interrupt(struct tracee *h, uint64_t deadline_ns)
{
	if (ptrace(PTRACE_INTERRUPT, h->tid, NULL, NULL) < 0)
		return trace_error(h, "interruption");
	return await_stop(h, deadline_ns);
}

static int seize(const struct tracee *h)
{
	if (ptrace(PTRACE_SEIZE, h->tid, NULL, NULL) == 0)
		return 0;
	if (errno == EPERM)
		return err__set(-EPERM, "process %d: not allowed to trace it: %s", h->pid,
				capability__why_refused(CAPABILITY(CAP_SYS_PTRACE)));
	return trace_error(h, "tracing");
}

/*
 * Some waits (epoll_wait, recv with a timeout; signal(7)) fail with EINTR after any stop. No
 * handler has run, so nobody shall see it: as if it were one of those that begin again unless one
 * runs.
 */
static void hide_stop(struct tracee *h)
{
	if ((long)h->regs.orig_rax < 0 || (long)h->regs.rax != -EINTR)
		return;
	h->regs.rax = (unsigned long)-ERESTARTNOHAND;
	h->changed = true;
}

static int read_state(struct tracee *h)
{
	struct iovec xstate = {h->xstate, sizeof(h->xstate)};

	if (ptrace(PTRACE_GETREGS, h->tid, NULL, &h->regs) < 0 ||
	    ptrace(PTRACE_GETREGSET, h->tid, (void *)NT_X86_XSTATE, &xstate) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, h->tid, sizeof(h->sigmask), &h->sigmask) < 0)
		return trace_error(h, "reading the registers");
	h->xstate_size = xstate.iov_len;
	if (h->xstate_size >= sizeof(h->xstate))
		return err__set(-EOPNOTSUPP, "vector registers larger than %d bytes",
				TRACEE_XSTATE_MAX);
	hide_stop(h);
	return 0;
}

static void detach(struct tracee *h)
{
	ptrace(PTRACE_DETACH, h->tid, NULL, NULL);
	if (h->stopped_at)
		h->stopped_ns += clock__monotonic_ns() - h->stopped_at;
	h->stopped_at = 0;
	h->tid = 0;
}

int tracee__stop(struct tracee *h, pid_t pid, pid_t tid, uint64_t deadline_ns)
{
	int err;

	h->pid = pid;
	h->tid = tid;
	h->moved = h->changed = false;
	err = seize(h);
	if (err)
		return err;
	inject_step(INJECT_STEP_SEIZED);
	h->stopped_at = clock__monotonic_ns();
	h->stops++;
	err = interrupt(h, deadline_ns);
	if (!err)
		err = read_state(h);
	if (!err) {
		inject_step(INJECT_STEP_STOPPED);
		return 0;
	}
	detach(h);
	return err == -ESTALE ? -EAGAIN : err;
}

int tracee__let_go(struct tracee *h)
{
	struct iovec xstate = {h->xstate, h->xstate_size};
	int err = 0;

	if (!h->tid)
		return 0;
	if (h->moved) {
		/* Death between these leaves the thread in code that does the rest itself. */
		if (ptrace(PTRACE_SETREGSET, h->tid, (void *)NT_X86_XSTATE, &xstate) < 0)
			err = trace_error(h, "restoring the vector registers");
		inject_step(INJECT_STEP_VECTORS_BACK);
		if (ptrace(PTRACE_SETSIGMASK, h->tid, sizeof(h->sigmask), &h->sigmask) < 0)
			err = trace_error(h, "restoring the signal mask");
		inject_step(INJECT_STEP_MASK_BACK);
	}
	if ((h->moved || h->changed) && ptrace(PTRACE_SETREGS, h->tid, NULL, &h->regs) < 0)
		err = trace_error(h, "restoring the registers");
	h->moved = h->changed = false;
	inject_step(INJECT_STEP_REGS_BACK);
	detach(h);
	inject_step(INJECT_STEP_DETACHED);
	return err;
}

void tracee__self_regs(const struct tracee *h, struct remote_regs *out)
{
	const struct user_regs_struct *r = &h->regs;

	*out = (struct remote_regs){
		.rax = r->rax,
		.rbx = r->rbx,
		.rcx = r->rcx,
		.rdx = r->rdx,
		.rsi = r->rsi,
		.rdi = r->rdi,
		.rbp = r->rbp,
		.rsp = r->rsp,
		.r8 = r->r8,
		.r9 = r->r9,
		.r10 = r->r10,
		.r11 = r->r11,
		.r12 = r->r12,
		.r13 = r->r13,
		.r14 = r->r14,
		.r15 = r->r15,
		.rip = r->rip,
		.rflags = r->eflags,
	};
	if ((long)r->orig_rax < 0)
		return;
	switch (-(long)r->rax) {
	case ERESTARTSYS:
	case ERESTARTNOINTR:
	case ERESTARTNOHAND:
		out->rax = r->orig_rax;
		out->rip -= 2; /* the syscall instruction */
		break;
	case ERESTART_RESTARTBLOCK:
		out->rax = SYS_restart_syscall;
		out->rip -= 2;
		break;
	default:
		break;
	}
}

int tracee__send(struct tracee *h, const struct user_regs_struct *regs)
{
	uint64_t all = ~0ull;

	if (ptrace(PTRACE_SETREGS, h->tid, NULL, regs) < 0)
		return trace_error(h, "setting the registers");
	inject_step(h->moved ? INJECT_STEP_MAIN_SET : INJECT_STEP_REGS_SET);
	if (h->moved)
		return 0;
	h->moved = true;
	/* After the registers: a mask alone would stay with a thread that nobody puts back. */
	if (ptrace(PTRACE_SETSIGMASK, h->tid, sizeof(all), &all) < 0)
		return trace_error(h, "blocking the signals");
	inject_step(INJECT_STEP_MASK_SET);
	return 0;
}

int tracee__run_until(struct tracee *h, const struct tracee_wait *w, struct user_regs_struct *regs)
{
	for (;;) {
		uint64_t off;
		int err;

		if (ptrace(PTRACE_CONT, h->tid, NULL, NULL) < 0)
			return trace_error(h, "continuation");
		while (clock__monotonic_ns() < w->deadline_ns) {
			nap();
			if (w->ready(w->ctx))
				break;
		}
		/* The thread is ours until it stops: there is no other way to put it back. */
		err = interrupt(h, UINT64_MAX);
		if (err == -EFAULT)
			return err__set(-EFAULT, "process %d: the loaded code failed", h->pid);
		if (err && err != -ESTALE)
			return err;
		if (ptrace(PTRACE_GETREGS, h->tid, NULL, regs) < 0)
			return trace_error(h, "reading the registers");
		off = regs->rip - w->base;
		if (off >= w->begin && off < w->end)
			return 0;
		if (clock__monotonic_ns() >= w->deadline_ns)
			return -ETIMEDOUT;
		if (off >= w->size && w->ready(w->ctx)) {
			/* It was faster than we: its own again. */
			h->moved = h->changed = false;
			h->regs = *regs;
			hide_stop(h);
			return 1;
		}
	}
}

int tracee__poke(const struct tracee *h, uint64_t addr, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		unsigned long word;

		memcpy(&word, (const char *)bytes + i, sizeof(word));
		if (ptrace(PTRACE_POKEDATA, h->tid, (void *)(addr + i), word) < 0)
			return trace_error(h, "writing to the memory");
	}
	return 0;
}

int tracee__peek(const struct tracee *h, uint64_t addr, void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i += 8) {
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKDATA, h->tid, (void *)(addr + i), NULL);
		if (errno)
			return trace_error(h, "reading the memory");
		memcpy((char *)bytes + i, &word, sizeof(word));
	}
	return 0;
}

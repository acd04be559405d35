// SPDX-License-Identifier: BSD-2-Clause
#include "inject/tracee.h"
#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include "common/capability.h"
#include "common/err.h"
#include "inject/message_table.h"
#include "common/util.h"
#include "inject/steps.h"

/* Internal results of an interrupted system call in the kernel (include/linux/errno.h). */
#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516

/* Polls become rarer after a while. A thread waits for us in our code for at least 10 ms
 * (remote_x86.c). */
#define FIRST_POLL_NS 30000
#define LAST_POLL_NS  4000000

/* How long our code and the thread's pthread_create may take. Usually it is well below 1 ms. */
#define LATE_NS	   3000000000
#define HURRIED_NS 300000000 /* the same once the user wants an end */

static void nap(long *poll_ns)
{
	nanosleep(&(struct timespec){.tv_nsec = *poll_ns}, NULL);
	*poll_ns += *poll_ns / 16;
	if (*poll_ns > LAST_POLL_NS)
		*poll_ns = LAST_POLL_NS;
}

bool tracee__user_stops(const struct tracee *h)
{
	return h->user_stop && *h->user_stop;
}

bool tracee__is_late(struct tracee *h)
{
	const uint64_t now = clock__monotonic_ns();

	if (tracee__user_stops(h) && h->give_up_ns > now + HURRIED_NS)
		h->give_up_ns = now + HURRIED_NS;
	return now >= h->give_up_ns;
}

static int trace_error(const struct tracee *h, const char *what)
{
	int err = -errno;

	if (err == -ESRCH || err == -ECHILD)
		return err__set(-ESRCH, MESSAGE_TRACEE_THREAD_ENDED, h->pid, h->tid);
	return err__set(err, MESSAGE_TRACEE_REQUEST_FAILED, h->pid, what, h->tid, strerror(-err));
}

/* Is a signal the fault of the code that we sent the thread to? The program must not get it
 * then. */
static bool is_our_fault(const struct tracee *h, int sig)
{
	return h->moved && (sig == SIGSEGV || sig == SIGBUS || sig == SIGILL || sig == SIGFPE ||
			    sig == SIGTRAP);
}

/*
 * Waits for the stop of PTRACE_INTERRUPT. Signals that come first are passed on. 0, -EAGAIN: time
 * is up; -ESTALE: it stopped for job control (SIGSTOP); -EFAULT: our code failed there.
 */
static int await_stop(struct tracee *h)
{
	long poll_ns = FIRST_POLL_NS;

	for (;;) {
		const bool late = tracee__is_late(h);
		int status;
		pid_t got = waitpid(h->tid, &status, __WALL | WNOHANG);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return trace_error(h, "waiting for a stop");
		if (got == 0) {
			if (late)
				return -EAGAIN;
			if (!h->moved) /* the thread still runs, or has not run yet */
				h->stopped_at = clock__monotonic_ns();
			nap(&poll_ns);
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
		if (late) /* signals keep coming */
			return -EAGAIN;
	}
}

static int interrupt(struct tracee *h)
{
	if (ptrace(PTRACE_INTERRUPT, h->tid, NULL, NULL) < 0)
		return trace_error(h, "interruption");
	return await_stop(h);
}

/* Since the thread was found, its number may have passed to a thread of another process. That one
 * continues. The kernel releases it at the end of the tracing thread. */
static int check_owner(const struct tracee *h)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", h->pid, h->tid);
	if (!stat(path, &st))
		return 0;
	errno = ESRCH;
	return trace_error(h, "tracing");
}

static int seize(const struct tracee *h)
{
	if (ptrace(PTRACE_SEIZE, h->tid, NULL, NULL) == 0)
		return check_owner(h);
	if (errno == EPERM)
		return err__set(-EPERM, MESSAGE_TRACEE_NOT_PERMITTED, h->pid,
				capability__why_refused(CAPABILITY(CAP_SYS_PTRACE)));
	return trace_error(h, "tracing");
}

/*
 * Some waits (epoll_wait, recv with a timeout; signal(7)) fail with EINTR after any stop. No
 * handler ran, so the program must not see this. The wait begins again, as other system calls do.
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
		return err__set(-EOPNOTSUPP, MESSAGE_TRACEE_REGISTERS_LARGE, TRACEE_XSTATE_MAX);
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
	h->moved = h->changed = h->left = false;
	h->give_up_ns = deadline_ns;
	err = seize(h);
	if (err)
		return err;
	inject_step(INJECT_STEP_SEIZED);
	h->stopped_at = clock__monotonic_ns();
	h->stops++;
	err = interrupt(h);
	if (!err)
		err = read_state(h);
	if (!err) {
		inject_step(INJECT_STEP_STOPPED);
		return 0;
	}
	detach(h);
	return err == -ESTALE ? -EAGAIN : err;
}

/* If it is not stopped, the kernel releases it at the end of the tracing thread. */
int tracee__leave(struct tracee *h)
{
	h->left = true;
	h->moved = h->changed = false;
	return -ETIME;
}

int tracee__let_go(struct tracee *h)
{
	struct iovec xstate = {h->xstate, h->xstate_size};
	int err = 0;

	if (!h->tid)
		return 0;
	if (h->moved) {
		/* If we die between these calls, the thread is in code that does the rest
		 * itself. */
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

	h->give_up_ns = clock__monotonic_ns() + LATE_NS;
	if (ptrace(PTRACE_SETREGS, h->tid, NULL, regs) < 0)
		return trace_error(h, "setting the registers");
	inject_step(h->moved ? INJECT_STEP_MAIN_SET : INJECT_STEP_REGS_SET);
	if (h->moved)
		return 0;
	h->moved = true;
	/* After the registers: if we die here, nobody would restore a changed mask. */
	if (ptrace(PTRACE_SETSIGMASK, h->tid, sizeof(all), &all) < 0)
		return trace_error(h, "blocking the signals");
	inject_step(INJECT_STEP_MASK_SET);
	return 0;
}

int tracee__run_until(struct tracee *h, const struct tracee_wait *w, struct user_regs_struct *regs)
{
	for (;;) {
		long poll_ns = FIRST_POLL_NS;
		uint64_t off;
		int err;

		if (ptrace(PTRACE_CONT, h->tid, NULL, NULL) < 0)
			return trace_error(h, "continuation");
		do
			nap(&poll_ns);
		while (!w->ready(w->ctx) && clock__monotonic_ns() < w->deadline_ns &&
		       !tracee__user_stops(h));
		/* A thread that waits for the child of its vfork does not stop. */
		err = interrupt(h);
		if (err == -EAGAIN)
			return tracee__leave(h);
		if (err == -EFAULT)
			return err__set(-EFAULT, MESSAGE_TRACEE_CODE_FAILED, h->pid);
		if (err && err != -ESTALE)
			return err;
		if (ptrace(PTRACE_GETREGS, h->tid, NULL, regs) < 0)
			return trace_error(h, "reading the registers");
		off = regs->rip - w->base;
		if (off >= w->begin && off < w->end)
			return 0;
		if (off >= w->size && w->ready(w->ctx)) {
			/* The thread was faster, and has restored itself. */
			h->moved = h->changed = false;
			h->regs = *regs;
			hide_stop(h);
			return 1;
		}
		if (clock__monotonic_ns() >= w->deadline_ns || tracee__is_late(h))
			return -ETIMEDOUT;
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One thread of the target, traced by ptrace: stopped, sent elsewhere, put back.
 *
 * Every stop is a PTRACE_EVENT_STOP, which the kernel reports from where it delivers signals. There
 * an interrupted system call goes on as if it had not been, once its registers are back. A signal
 * that came meanwhile is delivered then, and interrupts that call or not as it would have.
 * PTRACE_O_EXITKILL is never set. When we die, the kernel lets the thread run on from its current
 * registers. These always name code that finds its way back by itself.
 */
#ifndef PROFTRACE_INJECT_TRACEE_H
#define PROFTRACE_INJECT_TRACEE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>
#include "inject/remote.h"

#define TRACEE_XSTATE_MAX 16384

struct tracee {
	pid_t pid, tid;
	struct user_regs_struct regs; /* as it was stopped, then as it shall be put back */
	uint64_t sigmask;
	uint8_t xstate[TRACEE_XSTATE_MAX];
	size_t xstate_size;
	bool moved;	       /* its registers are not its own now */
	bool left;	       /* in our code, without a tracer: it puts itself back there */
	bool changed;	       /* regs differ from what the kernel has, though not moved */
	uint64_t stopped_at;   /* 0: not stopped by us */
	uint64_t stopped_ns;   /* sum of all */
	unsigned int stops;
	const volatile sig_atomic_t *user_stop; /* not 0: the user wants an end; NULL: never */
	uint64_t give_up_ns;		   /* of what was sent; CLOCK_MONOTONIC */
};

/* The user wants an end. */
bool tracee__user_stops(const struct tracee *h);

/* What the thread was sent to takes too long, or the user does not wait for it any more. */
bool tracee__is_late(struct tracee *h);

/* The thread, stopped or not, goes on from where it is, and puts itself back. -ETIME. */
int tracee__leave(struct tracee *h);

/*
 * Traces tid and stops it; reads its registers. 0; -EBUSY another tracer, -EPERM, -ESRCH, -EAGAIN
 * if it does not stop before deadline_ns (CLOCK_MONOTONIC) or stops for job control. Unless 0 it
 * is not stopped and not traced. One that did not stop in time, or is another process's (-ESRCH), is
 * let go when the caller, a thread for this alone, ends.
 */
int tracee__stop(struct tracee *h, pid_t pid, pid_t tid, uint64_t deadline_ns);

/* Puts the thread back if it was moved, and lets it go. */
int tracee__let_go(struct tracee *h);

/* Where the thread would go if it put itself back: its registers, a system call set to be
 * repeated. */
void tracee__self_regs(const struct tracee *h, struct remote_regs *out);

/* Sends the thread to regs with all signals blocked. */
int tracee__send(struct tracee *h, const struct user_regs_struct *regs);

/*
 * Lets the thread run until it is in [begin, end) of the code at base, and holds it there.
 * 0 and its registers; 1 if it has left the code, having put itself back, stopped; -ETIMEDOUT if
 * the deadline passed or tracee__is_late(), stopped wherever it is; -ETIME, if it is late and does
 * not stop either: see tracee__leave(); else a negative errno.
 */
struct tracee_wait {
	uint64_t base;
	size_t size, begin, end;
	bool (*ready)(void *ctx); /* worth a stop now? */
	void *ctx;
	uint64_t deadline_ns;
};
int tracee__run_until(struct tracee *h, const struct tracee_wait *w, struct user_regs_struct *regs);

/* Writes to memory that the target itself may not write; len a multiple of 8. */
int tracee__poke(const struct tracee *h, uint64_t addr, const void *bytes, size_t len);
int tracee__peek(const struct tracee *h, uint64_t addr, void *bytes, size_t len);

#endif

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
	struct user_regs_struct regs; /* first as it was stopped, then as it will be put back */
	uint64_t sigmask;
	uint8_t xstate[TRACEE_XSTATE_MAX];
	size_t xstate_size;
	bool moved;	       /* the kernel has other registers for it than its own */
	bool left;	       /* it runs our code without a tracer, and restores itself there */
	bool changed;	       /* regs differ from those in the kernel, though it was not moved */
	uint64_t stopped_at;   /* 0: not stopped by us */
	uint64_t stopped_ns;   /* total time */
	unsigned int stops;
	const volatile sig_atomic_t *user_stop; /* not 0: the user wants an end; NULL: never */
	uint64_t give_up_ns;		   /* deadline for the code that it was sent to;
					      CLOCK_MONOTONIC */
};

/* Does the user want an end? */
bool tracee__user_stops(const struct tracee *h);

/* Does the code that the thread was sent to take too long, or does the user not wait for it any
 * more? */
bool tracee__is_late(struct tracee *h);

/* Releases the thread, stopped or not. It restores itself. -ETIME. */
int tracee__leave(struct tracee *h);

/*
 * Traces tid, stops it and reads its registers. 0; -EBUSY: another tracer has it; -EPERM; -ESRCH;
 * -EAGAIN: it does not stop before deadline_ns (CLOCK_MONOTONIC), or stops for job control. After
 * an error it is neither stopped nor traced. A thread that did not stop in time, or that belongs to
 * another process (-ESRCH), is released when the calling thread ends, which exists for this alone.
 */
int tracee__stop(struct tracee *h, pid_t pid, pid_t tid, uint64_t deadline_ns);

/* Puts the thread back if it was moved, and releases it. */
int tracee__let_go(struct tracee *h);

/* The registers with which the thread would restore itself. A system call is set to be repeated. */
void tracee__self_regs(const struct tracee *h, struct remote_regs *out);

/* Sends the thread to regs, with all signals blocked. */
int tracee__send(struct tracee *h, const struct user_regs_struct *regs);

/*
 * Lets the thread run until it is in [begin, end) of the code at base, and stops it there. Returns 0
 * and its registers. 1: it left the code, has restored itself, and is stopped. -ETIMEDOUT: the
 * deadline passed, or tracee__is_late(), and it is stopped anywhere. -ETIME: it is late and does
 * not stop either, see tracee__leave(). Otherwise another negative errno.
 */
struct tracee_wait {
	uint64_t base;
	size_t size, begin, end;
	bool (*ready)(void *ctx); /* is a stop worthwhile now? */
	void *ctx;
	uint64_t deadline_ns;
};
int tracee__run_until(struct tracee *h, const struct tracee_wait *w, struct user_regs_struct *regs);

/* Writes to memory that the target itself may not write. len is a multiple of 8. */
int tracee__poke(const struct tracee *h, uint64_t addr, const void *bytes, size_t len);
int tracee__peek(const struct tracee *h, uint64_t addr, void *bytes, size_t len);

#endif

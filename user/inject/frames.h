/* SPDX-License-Identifier: BSD-2-Clause */
/* The call chain of a stopped thread, by the unwind tables of the files with its code. */
#ifndef PROFTRACE_INJECT_FRAMES_H
#define PROFTRACE_INJECT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/user.h>
#include "inject/maps.h"
#include "target/target.h"

struct frames;

struct frame {
	uint64_t pc;
	const struct target_lib *lib; /* NULL: anonymous code, or the vdso */
	bool is_signal;		      /* made by the kernel, below a signal handler */
	bool is_guess;		      /* found as a word of the stack that looks like a return
					 address */
};

/* Unwind tables are opened on first use and kept. The result needs t and m as long as it lives. */
int frames__new(struct target *t, const struct maps *m, struct frames **out);
void frames__free(struct frames *f);

/* Opens the tables of all code to which the stack from rsp on seems to return. rsp 0: only those of
 * the program and the C library. */
void frames__warm(struct frames *f, uint64_t rsp);

/*
 * Calls cb for each frame, the innermost first, until it returns non-zero; returns that. If a frame
 * has no unwind table, it gives words of the stack that point after a call instruction as guesses.
 * So no frame is missed. A negative errno if the stack cannot be read.
 */
int frames__walk(struct frames *f, const struct user_regs_struct *regs,
		 int (*cb)(const struct frame *frame, void *ctx), void *ctx);

#endif

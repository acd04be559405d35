/* SPDX-License-Identifier: BSD-2-Clause */
/* The call chain of a stopped thread, by the unwind tables of the files that its code is from. */
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
	const struct target_lib *lib; /* NULL: anonymous code, the vdso */
	bool is_signal;		      /* the kernel's, below a signal handler */
	bool is_guess;		      /* a word of the stack that looks like a return address */
};

/* Unwind tables are opened on first use and kept. t and m must outlive it. */
int frames__new(struct target *t, const struct maps *m, struct frames **out);
void frames__free(struct frames *f);

/* Opens the tables of all code that the stack from rsp on seems to return to; rsp 0: of the
 * program and the C library alone. */
void frames__warm(struct frames *f, uint64_t rsp);

/*
 * Calls cb for each frame, the innermost first, until it returns non-zero, which is returned. If a
 * frame has no unwind table, words of the stack above it that point behind a call instruction are
 * given as guesses. So no frame there is missed. A negative errno if the stack cannot be read.
 */
int frames__walk(struct frames *f, const struct user_regs_struct *regs,
		 int (*cb)(const struct frame *frame, void *ctx), void *ctx);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a probe may go, and what it costs there. The kernel emulates a few instructions (push, nop,
 * jmp, jcc, call rel32). It single-steps all others out of line, which costs 2 to 13 times more. It
 * refuses instructions with VEX or EVEX coding or, worse, takes them for others (see site_x86.c).
 * So these never carry a probe. Architecture: x86-64 (site_x86.c).
 */
#ifndef PROFTRACE_SITE_H
#define PROFTRACE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum site_class {
	SITE_EMULATED = 0,
	SITE_STEPPED = 1,
	SITE_REFUSED = 2, /* the kernel answers ENOTSUPP (which fails a whole multi link), or
			     should */
	SITE_UNKNOWN = 3, /* not decoded */
};
const char *site_class__name(enum site_class c);

/* The class of the instruction at code[0]. *insn_len gets its length, 0 if unknown. */
enum site_class site__classify(const uint8_t *code, size_t len, size_t *insn_len);
/* Only the length, 0 if unknown. Takes half the time. */
size_t site__insn_len(const uint8_t *code, size_t len);

/* Bits of a set of registers that a probe's program reads. (signal.h has the names REG_.) */
enum {
	SITE_RDI = 1,
	SITE_RSI = 2,
	SITE_RDX = 4,
	SITE_RCX = 8,
	SITE_R8 = 16,
	SITE_R9 = 32,
	SITE_RSP = 64,
	SITE_RAX = 128,
	SITE_R10 = 512,
	SITE_KEPT = 256, /* the registers that a function preserves: rbx, rbp, r12 to r15 */
};

/*
 * Offset of the cheapest instruction that can replace the entry. The search steps through
 * straight-line code only: it stops at call, ret, and at the target of a jump inside code[0..len).
 * It also stops after an instruction that writes a register in `keep`. 0 if the entry itself is
 * best. `rsp_shift` gets the number of bytes by which rsp is lower at the new site than at the
 * entry. Negative errno if even the entry is refused and there is no other site (-ENOTSUP).
 */
int site__slide(const uint8_t *code, size_t len, unsigned int keep, int *rsp_shift);

/* The part of a function that the compiler moved away because it hardly ever runs. */
struct site_cold {
	const uint8_t *code; /* NULL: the function has none */
	size_t len;
	int64_t distance; /* from the function's code[0] to this code */
};

/*
 * Offset of the last instruction inside a function of `len` bytes that every normal return passes
 * exactly once, and that the kernel emulates. A span can end there even if exceptions leave the
 * function. The function's frame still exists there. After it come at most `max_calls` calls, such
 * as destructors; a tail call counts as two. -ENOENT if there is none, -EINVAL if the code is not
 * understood, -E2BIG, -ENOMEM. (site_pass_x86.c)
 */
int site__pass(const uint8_t *code, size_t len, const struct site_cold *cold,
	       unsigned int max_calls);

/* An instruction that leaves the function: a return, or a jump out of it. */
struct site_exit {
	uint32_t off;
	bool is_jump;
	int64_t target; /* of a jump: distance from code[0] */
};

/*
 * The exits of a function of `len` bytes at which the stack pointer is as at the entry. Conditional
 * exits, and jumps to an address in a register, are left out. Returns their number; -EINVAL if the
 * code is not understood, -ENOTSUP if an exit can carry no probe, -E2BIG: more than max.
 */
int site__exits(const uint8_t *code, size_t len, struct site_exit *exits, size_t max);

/* The places outside the function that its jumps lead to, as distances from code[0], each once.
 * Returns their number, at most max. */
size_t site__jumps_outside(const uint8_t *code, size_t len, int64_t *targets, size_t max);

/*
 * Where a function compiled with -fstack-protector checks its stack. Each normal return passes this
 * jump while the frame still exists; an exception does not. Puts offsets into at[] and returns
 * their number. 0: there is no check, or a return without one, or more than max.
 */
size_t site__stack_checks(const uint8_t *code, size_t len, uint32_t *at, size_t max);

/*
 * Where a function keeps a pointer to an object during a call that returns to code[from]. The
 * function then passes the object, as the second of two arguments, to the function at distance
 * `callee` from code[0]. Its instructions prove that the register does not change in between, on
 * some way through the code. Returns the register's number in the instruction set (3 rbx, 5 rbp, 12
 * to 15); -ENOENT: there is none, or too far away. (site_kept_x86.c)
 */
int site__kept_argument(const uint8_t *code, size_t len, size_t from, int64_t callee);

/* The offset of the push of rbp after a prologue that aligns the stack. The kernel emulates that
 * push. There r10 points just above the return address. 0 if the function does not begin so. */
size_t site__aligned_push(const uint8_t *code, size_t len);

/* Where a function jumps that does nothing else, with unchanged arguments and stack. The distance
 * from code[0]; 0 if it is no such function. */
int64_t site__jumps_to(const uint8_t *code, size_t len);

#endif

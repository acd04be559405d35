/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a probe may go and what it costs there. The kernel emulates a few instructions (push, nop,
 * jmp, jcc, call rel32). It single-steps all others out of line, which costs 2 to 13 times more. It
 * refuses VEX and EVEX coded ones or, worse, takes them for others (site_x86.c says how), so they
 * never carry a probe. Architecture: x86-64 (site_x86.c).
 */
#ifndef PROFTRACE_SITE_H
#define PROFTRACE_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum site_class {
	SITE_EMULATED = 0,
	SITE_STEPPED = 1,
	SITE_REFUSED = 2, /* the kernel says ENOTSUPP (one fails a whole multi link), or should */
	SITE_UNKNOWN = 3, /* not decoded */
};
const char *site_class__name(enum site_class c);

/* Class of the instruction at code[0]; its length in *insn_len (0 if unknown). */
enum site_class site__classify(const uint8_t *code, size_t len, size_t *insn_len);
/* The length alone, 0 if unknown: takes half the time. */
size_t site__insn_len(const uint8_t *code, size_t len);

/* Bits of a register set, for what a probe's program reads. (signal.h owns REG_.) */
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
	SITE_KEPT = 256, /* those that a function gives back as they were: rbx, rbp, r12 to r15 */
};

/*
 * Offset of the cheapest instruction that can stand in for the entry. The search steps through
 * straight-line code only: it stops at call, ret, and where a jump inside code[0..len) goes to. It
 * also stops when an instruction passed writes a register in `keep`. 0 if the entry itself is best.
 * `rsp_shift` gets the bytes by which rsp is lower at the new site than at the entry. Negative
 * errno if even the entry is refused and no other site was found (-ENOTSUP).
 */
int site__slide(const uint8_t *code, size_t len, unsigned int keep, int *rsp_shift);

/* The part of a function that the compiler has moved away because it hardly ever runs. */
struct site_cold {
	const uint8_t *code; /* NULL: it has none */
	size_t len;
	int64_t distance; /* from the function's code[0] to its own */
};

/*
 * Offset of the last instruction inside a function of `len` bytes that every normal return passes,
 * exactly once, and that the kernel emulates. A span can end there though exceptions leave the
 * function. Its frame is still in place there. From it on at most `max_calls` calls follow, as of
 * destructors; one that the function ends with counts as two. -ENOENT if there is none, -EINVAL if
 * the code is not understood, -E2BIG, -ENOMEM. (site_pass_x86.c)
 */
int site__pass(const uint8_t *code, size_t len, const struct site_cold *cold,
	       unsigned int max_calls);

/* An instruction by which a function leaves: a return, or a jump out of it. */
struct site_exit {
	uint32_t off;
	bool is_jump;
	int64_t target; /* of a jump, as distance from code[0] */
};

/*
 * The exits of a function of `len` bytes at which the stack pointer is as at its entry. Conditional
 * exits, and jumps to an address in a register, are left out. Returns how many; -EINVAL if
 * the code is not understood, -ENOTSUP if an exit can carry no probe, -E2BIG: more than max.
 */
int site__exits(const uint8_t *code, size_t len, struct site_exit *exits, size_t max);

/* Distances from code[0] of the places outside the function that its jumps lead to, each once;
 * returns how many, at most max. */
size_t site__jumps_outside(const uint8_t *code, size_t len, int64_t *targets, size_t max);

/*
 * Where a function compiled with -fstack-protector checks its stack. Each normal return passes this
 * jump, with the frame still in place; an exception does not. Offsets into at[]; returns how many
 * (0: it has none, or a return without one, or more than max).
 */
size_t site__stack_checks(const uint8_t *code, size_t len, uint32_t *at, size_t max);

/*
 * Where a function keeps a pointer to an object over a call that returns to code[from]. It then
 * passes the object, as the second of two arguments, to the function at distance `callee` from
 * code[0]. Its instructions prove that the register is not changed in between, on a way that the
 * code can take. Returns the register's number in their encoding (3 rbx, 5 rbp, 12 to 15); -ENOENT:
 * there is none, or too far away. (site_kept_x86.c)
 */
int site__kept_argument(const uint8_t *code, size_t len, size_t from, int64_t callee);

/* Where, behind a prologue that aligns the stack anew, rbp is pushed, which is emulated: r10 points
 * behind the return address there. 0 if the function does not begin so. */
size_t site__aligned_push(const uint8_t *code, size_t len);

/* Where a function that does nothing itself jumps to, with its arguments and its stack as they
 * came. The distance from code[0]; 0 if it is no such function. */
int64_t site__jumps_to(const uint8_t *code, size_t len);

#endif

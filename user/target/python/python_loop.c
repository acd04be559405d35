// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_loop.h"
#include <errno.h>
#include <stdbool.h>
#include "common/util.h"

/* An instruction is an opcode and an argument, one byte each. */
#define UNIT 2

/* Opcodes of Include/opcode.h. The second of each is a replacement, or the same. */
struct numbers {
	unsigned int minor;
	uint8_t generator, pop_top, for_iter, load_fast, yield_value;
	uint8_t store_fast[2], jump[2];
	bool jumps_to; /* the argument is an absolute place in the function; else a distance
			  backwards */
	bool resumes;  /* RESUME begins functions, and follows a yield */
	uint8_t resume[2];
};

static const struct numbers versions[] = {
	{
		.minor = 10,
		.generator = 129, /* GEN_START */
		.pop_top = 1,
		.for_iter = 93,
		.load_fast = 124,
		.yield_value = 86,
		.store_fast = {125, 125},
		.jump = {113, 113}, /* JUMP_ABSOLUTE */
		.jumps_to = true,
	},
	{
		.minor = 11,
		.generator = 75, /* RETURN_GENERATOR */
		.pop_top = 1,
		.for_iter = 93,
		.load_fast = 124,
		.yield_value = 86,
		.store_fast = {125, 161}, /* STORE_FAST__LOAD_FAST */
		.jump = {140, 38},	  /* JUMP_BACKWARD, JUMP_BACKWARD_QUICK */
		.resumes = true,
		.resume = {151, 150}, /* RESUME_QUICK */
	},
};

/* The loop, in units. After YIELD_VALUE come RESUME (if the version has it), POP_TOP and the
 * jump. */
enum { FOR_ITER, STORE_FAST, LOAD_FAST, YIELD_VALUE, AGAIN };
#define LAST_UNITS 2

/* Arguments of RESUME. */
enum { AT_FUNCTION = 0, AFTER_YIELD = 1 };

/* unit of the first RESUME: before it are RETURN_GENERATOR and POP_TOP */
#define FIRST_RESUME 2

static size_t loop_units(const struct numbers *n)
{
	return AGAIN + n->resumes + LAST_UNITS;
}

static const struct numbers *numbers_of(unsigned int minor)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (versions[i].minor == minor)
			return &versions[i];
	return NULL;
}

static bool is(const uint8_t *code, uint8_t number)
{
	return code[0] == number;
}

static bool is_either(const uint8_t *code, const uint8_t numbers[2])
{
	return is(code, numbers[0]) || is(code, numbers[1]);
}

static bool is_resume(const struct numbers *n, const uint8_t *code, uint8_t where)
{
	return is_either(code, n->resume) && code[1] == where;
}

/* The unit at which the function continues when its first item is requested. */
static size_t first_unit(const struct numbers *n)
{
	return n->resumes ? FIRST_RESUME : 0;
}

static bool begins_generator(const struct numbers *n, const uint8_t *code, size_t len)
{
	if (len < (first_unit(n) + 1) * UNIT || !is(code, n->generator))
		return false;
	return !n->resumes || (is(code + UNIT, n->pop_top) &&
			       is_resume(n, code + FIRST_RESUME * UNIT, AT_FUNCTION));
}

/* Jumps of loops and iterators are relative to the next instruction, in units. */
static bool jumps_back(const struct numbers *n, const uint8_t *jump, size_t first)
{
	return is_either(jump, n->jump) && jump[1] == (n->jumps_to ? first : loop_units(n));
}

/* Caches of the interpreter between instructions cannot look like this loop by chance. `first`: of
 * the loop, in units from the function's begin. */
static bool is_loop(const struct numbers *n, const uint8_t *c, size_t first)
{
	const uint8_t *last = &c[UNIT * (loop_units(n) - LAST_UNITS)];

	return is(&c[UNIT * FOR_ITER], n->for_iter) &&
	       c[UNIT * FOR_ITER + 1] == loop_units(n) - 1 &&
	       is_either(&c[UNIT * STORE_FAST], n->store_fast) &&
	       is(&c[UNIT * LOAD_FAST], n->load_fast) &&
	       c[UNIT * LOAD_FAST + 1] == c[UNIT * STORE_FAST + 1] &&
	       is(&c[UNIT * YIELD_VALUE], n->yield_value) &&
	       (!n->resumes || is_resume(n, &c[UNIT * AGAIN], AFTER_YIELD)) &&
	       is(last, n->pop_top) && jumps_back(n, last + UNIT, first);
}

int python_loop__find(unsigned int minor, const uint8_t *code, size_t len, struct python_loop *loop)
{
	const struct numbers *n = numbers_of(minor);
	size_t found = 0;

	if (!n)
		return -ENOTSUP;
	if (!begins_generator(n, code, len))
		return -ENOENT;
	for (size_t at = 0; at + UNIT * loop_units(n) <= len; at += UNIT) {
		if (!is_loop(n, code + at, at / UNIT))
			continue;
		if (found)
			return -ENOENT;
		found = at;
	}
	if (!found)
		return -ENOENT;
	*loop = (struct python_loop){
		.first = (uint32_t)(UNIT * first_unit(n)),
		.again = (uint32_t)found + UNIT * AGAIN,
		.yield = (uint32_t)found + UNIT * YIELD_VALUE,
	};
	return 0;
}

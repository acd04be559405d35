// SPDX-License-Identifier: BSD-2-Clause
#include "target/python_loop.h"
#include <errno.h>
#include <stdbool.h>
#include "common/util.h"

/* An instruction is its number and an argument, a byte each. */
#define UNIT 2

/* Include/opcode.h: each with what it may be replaced by, or the same once more. */
struct numbers {
	unsigned int minor;
	uint8_t return_generator, pop_top, for_iter, load_fast, yield_value;
	uint8_t resume[2], store_fast[2], jump_backward[2];
};

static const struct numbers versions[] = {
	{
		.minor = 11,
		.return_generator = 75,
		.pop_top = 1,
		.for_iter = 93,
		.load_fast = 124,
		.yield_value = 86,
		.resume = {151, 150},	    /* RESUME_QUICK */
		.store_fast = {125, 161},   /* STORE_FAST__LOAD_FAST */
		.jump_backward = {140, 38}, /* JUMP_BACKWARD_QUICK */
	},
};

/* The loop, in units, and what RESUME has for an argument. */
enum { FOR_ITER, STORE_FAST, LOAD_FAST, YIELD_VALUE, RESUME, POP_TOP, JUMP_BACKWARD, LOOP_UNITS };
enum { AT_FUNCTION = 0, AFTER_YIELD = 1 };

/* Before it, of the function: RETURN_GENERATOR, POP_TOP and */
#define FIRST_RESUME 2

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

static bool begins_generator(const struct numbers *n, const uint8_t *code, size_t len)
{
	return len > FIRST_RESUME * UNIT && is(code, n->return_generator) &&
	       is(code + UNIT, n->pop_top) && is_resume(n, code + FIRST_RESUME * UNIT, AT_FUNCTION);
}

/* Jumps count from the next instruction, in units. What lies between instructions, which the
 * interpreter keeps for itself, cannot look like this by chance. */
static bool is_loop(const struct numbers *n, const uint8_t *c)
{
	return is(&c[UNIT * FOR_ITER], n->for_iter) && c[UNIT * FOR_ITER + 1] == LOOP_UNITS - 1 &&
	       is_either(&c[UNIT * STORE_FAST], n->store_fast) &&
	       is(&c[UNIT * LOAD_FAST], n->load_fast) &&
	       c[UNIT * LOAD_FAST + 1] == c[UNIT * STORE_FAST + 1] &&
	       is(&c[UNIT * YIELD_VALUE], n->yield_value) &&
	       is_resume(n, &c[UNIT * RESUME], AFTER_YIELD) && is(&c[UNIT * POP_TOP], n->pop_top) &&
	       is_either(&c[UNIT * JUMP_BACKWARD], n->jump_backward) &&
	       c[UNIT * JUMP_BACKWARD + 1] == LOOP_UNITS;
}

int python_loop__find(unsigned int minor, const uint8_t *code, size_t len, struct python_loop *loop)
{
	const struct numbers *n = numbers_of(minor);
	size_t found = 0;

	if (!n)
		return -ENOTSUP;
	if (!begins_generator(n, code, len))
		return -ENOENT;
	for (size_t at = 0; at + UNIT * LOOP_UNITS <= len; at += UNIT) {
		if (!is_loop(n, code + at))
			continue;
		if (found)
			return -ENOENT;
		found = at;
	}
	if (!found)
		return -ENOENT;
	*loop = (struct python_loop){
		.first = UNIT * FIRST_RESUME,
		.again = (uint32_t)found + UNIT * RESUME,
		.yield = (uint32_t)found + UNIT * YIELD_VALUE,
	};
	return 0;
}

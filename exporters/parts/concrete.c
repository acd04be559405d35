// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/concrete.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A symbolic size has the address of its expression instead of a number. As an integer it is at
 * most -2^62 - 1, below all sizes. */
#define SYMBOLIC_MAX (-(INT64_C(1) << 62) - 1)

#define WHOLE_MAX 1e10 /* smaller whole numbers get a point without digits after it */
#define WORD_MAX  32   /* characters of a number and its separator */

static int put_float(char *p, size_t size, double d)
{
	if (fabs(d) < WHOLE_MAX && d == (double)(int64_t)d)
		return snprintf(p, size, "%s%" PRId64 ".", d == 0 && signbit(d) ? "-" : "",
				(int64_t)d);
	return snprintf(p, size, "%.17g", d);
}

/* 0: unknown. */
static int put_word(char *p, size_t size, uint8_t kind, int64_t word)
{
	double d;

	switch (kind) {
	case EVENT_ARG_INT:
	case EVENT_ARG_INTS:
		return word > SYMBOLIC_MAX ? snprintf(p, size, "%" PRId64, word) : 0;
	case EVENT_ARG_BOOL:
	case EVENT_ARG_BOOLS:
		return snprintf(p, size, word ? "True" : "False");
	case EVENT_ARG_FLOAT:
	case EVENT_ARG_FLOATS:
		memcpy(&d, &word, sizeof(d));
		return put_float(p, size, d);
	default:
		return 0;
	}
}

bool concrete__is_list(const struct event_arg *a)
{
	return a->kind == EVENT_ARG_INTS || a->kind == EVENT_ARG_BOOLS ||
	       a->kind == EVENT_ARG_FLOATS;
}

size_t concrete__text(const struct event_arg *a, char text[CONCRETE_TEXT_MAX])
{
	const bool list = concrete__is_list(a);
	char *p = text;

	*p = '\0';
	if (a->kind == EVENT_ARG_TENSOR || (!list && !a->cnt))
		return 0;
	if (list)
		*p++ = '[';
	for (unsigned int i = 0; i < a->cnt && p + WORD_MAX + 4 < text + CONCRETE_TEXT_MAX; i++) {
		int n;

		if (i)
			p = stpcpy(p, ", ");
		n = put_word(p, WORD_MAX, a->kind, event_arg__word(a, i));
		if (n <= 0) {
			*text = '\0';
			return 0;
		}
		p += n;
	}
	if (list)
		*p++ = ']';
	*p = '\0';
	return (size_t)(p - text);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints a recording's windows and events as lines of text, for comparisons. */
#ifndef PROFTRACE_TEST_DUMP_H
#define PROFTRACE_TEST_DUMP_H

#include "recording/recording.h"
#include <inttypes.h>
#include <stdio.h>

static void dump__windows(const struct recording *r)
{
	const json_t *windows = json_object_get(recording__summary(r), "windows"), *w;
	size_t i;

	json_array_foreach(windows, i, w)
		printf("window\t%" JSON_INTEGER_FORMAT "\t%" JSON_INTEGER_FORMAT "\n",
		       json_integer_value(json_object_get(w, "begin_ns")),
		       json_integer_value(json_object_get(w, "end_ns")));
}

/* The exit status. */
static int dump__run(const char *path, void (*print)(const struct recording *r,
						     const struct event *e))
{
	struct recording_cursor *c;
	struct recording *r;
	struct event e;

	if (!path || recording__open(path, &r) || recording_cursor__open(r, &c))
		return 1;
	dump__windows(r);
	while (recording_cursor__next(c, &e) > 0)
		print(r, &e);
	recording_cursor__close(c);
	recording__close(r);
	return 0;
}

#endif

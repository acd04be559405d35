/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of an EVENT_SPAN: first tensors, then all others. */
#ifndef PROFTRACE_RECORDING_EVENT_ARGS_H
#define PROFTRACE_RECORDING_EVENT_ARGS_H

#include <stdbool.h>
#include "recording/event.h"

struct event_args_reader {
	const unsigned char *p, *end;
	bool values; /* the tensors have been read */
};

struct event_arg {
	uint8_t arg;  /* index of the argument */
	uint8_t kind; /* enum event_arg_kind; EVENT_ARG_TENSOR: a tensor */
	uint8_t cnt;  /* number of values, or of dimensions */
	struct event_tensor tensor;
	const unsigned char *words; /* cnt of them, unaligned */
};

struct event_args_reader event_args__read(const struct event *e);

/* The next argument. False: there are no more, or the rest is invalid. */
bool event_args__next(struct event_args_reader *r, struct event_arg *out);

/* Dimension or value i, less than cnt. For EVENT_ARG_FLOAT its bits. */
int64_t event_arg__word(const struct event_arg *a, unsigned int i);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The arguments of an EVENT_SPAN, tensors first, then what is none. */
#ifndef PROFTRACE_RECORDING_EVENT_ARGS_H
#define PROFTRACE_RECORDING_EVENT_ARGS_H

#include <stdbool.h>
#include "recording/event.h"

struct event_args_reader {
	const unsigned char *p, *end;
	bool values; /* the tensors are behind it */
};

struct event_arg {
	uint8_t arg;  /* index of the argument */
	uint8_t kind; /* enum event_arg_kind; EVENT_ARG_TENSOR: a tensor */
	uint8_t cnt;  /* values, or dimensions */
	struct event_tensor tensor;
	const unsigned char *words; /* cnt of them, unaligned */
};

struct event_args_reader event_args__read(const struct event *e);

/* The next argument; false: there are no more, or what follows is none. */
bool event_args__next(struct event_args_reader *r, struct event_arg *out);

/* Dimension or value i, less than cnt; of a EVENT_ARG_FLOAT the bits. */
int64_t event_arg__word(const struct event_arg *a, unsigned int i);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The spelling of an event's data in all formats but the Chrome trace. */
#ifndef PROFTRACE_EVENT_TEXT_H
#define PROFTRACE_EVENT_TEXT_H

#include "recording/recording.h"

const char *category__key(uint8_t category); /* "backward_node" */
const char *copy_kind__key(uint32_t kind);   /* "HtoD", NULL: not known */
const char *event_cut__key(uint16_t flags);  /* "begin", "end", "both", NULL: whole */

/* "thread 12 (python)", "GPU 0 stream 7"; 128 bytes are enough for all but long thread names. */
void track__label(const struct track *t, char *text, size_t size);

struct dtypes {
	const char **names; /* of the recording, which must live longer */
	size_t cnt;
};
int dtypes__load(const struct recording *r, struct dtypes *out);
void dtypes__free(struct dtypes *d);

#define TENSORS_TEXT_MAX 4096

/* "float[64,3,8,8]; long int[64]" for the args of a host span. Returns the length. Ends with ";
 * ..." if it does not fit. */
size_t tensors__text(const struct dtypes *d, const void *args, size_t len, char *text, size_t size);

#define DIM3_TEXT_MAX 36
void dim3__text(const uint32_t dim[3], char text[DIM3_TEXT_MAX]); /* "[4,1,1]" */

/* The args of a runtime or driver call, or of a kernel. False: the event has none. */
bool event__call(const struct event *e, uint8_t category, struct event_call *out);
bool event__kernel(const struct event *e, uint8_t category, struct event_kernel *out);
bool event__memory(const struct event *e, struct event_memory *out);

#endif

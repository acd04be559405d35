/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of a recording as begins and ends on rows, for viewers that need nested slices. There
 * is one row per thread, device stream, stream's synchronisations and lane of asynchronous work. On
 * a row time never goes back, and each end is that of the latest open slice. A span that lasts
 * longer than its enclosing span is cut at that span's end. If the part after it is longer, the
 * span begins there instead.
 */
#ifndef PROFTRACE_SLICES_H
#define PROFTRACE_SLICES_H

#include "exporters/parts/timeline.h"

enum slice_row_kind { ROW_THREAD, ROW_STREAM, ROW_SYNC, ROW_LANE };

struct slice_row {
	uint32_t id; /* from 0 to slices__row_cnt - 1; some ids have no track */
	enum slice_row_kind kind;
	const struct track *track; /* of a lane: the thread that used it first; NULL: no row */
	uint32_t lane;		   /* number of a lane, from 0 */
	uint64_t last_ns;	   /* begin of the latest slice */
	uint64_t *open_ns;	   /* ends of the open slices */
	size_t open_cnt, open_cap;
	uint64_t slices;
};

enum slice_what {
	SLICE_BEGIN,
	SLICE_END,
	SLICE_POINT, /* memory, counter or instant */
};

struct slice {
	enum slice_what what;
	const struct slice_row *row;
	uint64_t ts_ns;	     /* of this begin, end or point */
	uint64_t end_ns;     /* BEGIN: when it will end */
	uint64_t clipped_ns; /* BEGIN: nanoseconds removed from the duration so that slices nest */
	struct event ev;     /* BEGIN, POINT: as recorded; args are valid until the next call */
};

struct slices;

int slices__open(const struct recording *r, struct slices **out);
void slices__close(struct slices *s);
/* 1 with *out set, 0 at the end, or a negative errno. */
int slices__next(struct slices *s, struct slice *out);

uint64_t slices__begin_ns(const struct slices *s); /* of the earliest event, 0 if there is none */
uint64_t slices__end_ns(const struct slices *s);   /* of the latest so far */
uint32_t slices__row_cnt(const struct slices *s);  /* so far, because lanes are made when needed */
/* Rows do not move until close. */
const struct slice_row *slices__row(const struct slices *s, uint32_t id);

/* "thread 12 (python)", "GPU 0 stream 7"; size 128 is enough for all but long thread names. */
void slice_row__name(const struct slice_row *row, char *name, size_t size);

#endif

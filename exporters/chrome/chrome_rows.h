/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a Chrome trace: one per thread, device stream, stream's synchronisations and lane of
 * asynchronous work. A row keeps its open spans, so that each new one is clipped to nest.
 */
#ifndef PROFTRACE_CHROME_ROWS_H
#define PROFTRACE_CHROME_ROWS_H

#include <string.h>
#include "recording/recording.h"

#define CHROME_NO_ID UINT64_MAX

struct chrome_open {
	uint64_t end_ns;
	uint64_t operator_id; /* External id of the innermost operator: this span or one around
				 it */
	uint64_t correlation; /* of the innermost launch: this span or one around it */
	uint32_t stack;	      /* stack that called the innermost operator, 0: unknown */
	bool in_node;	      /* in the backward pass: its stack is that of the differentiated
				 operator */
	bool communication;   /* in a range around a collective */
};

struct chrome_row {
	uint64_t pid, tid;
	bool device;
	bool thousandths; /* times with three decimals, else whole microseconds */
	int64_t stream;
	char head[64]; /* `,"pid":1,"tid":2,"ts":` */
	size_t head_len;
	uint64_t last_ns; /* begin of the latest span */
	struct chrome_open *open;
	size_t open_cnt, open_cap;
};

/* Would HTA make the span last -1 us? That happens to a span with thousandths and no whole
 * microsecond, because HTA rounds times inwards (HTA 0.5 and 0.6, round_down_time_stamps). */
static inline bool chrome_row__is_negative_in_hta(const struct chrome_row *row, uint64_t begin_ns,
						  uint64_t end_ns)
{
	return row->thousandths && (begin_ns + 999) / 1000 > end_ns / 1000;
}

/* Copies its head to p, which has room for the whole array: a fixed size needs no loop. */
static inline char *chrome_row__put(char *p, const struct chrome_row *row)
{
	memcpy(p, row->head, sizeof(row->head));
	return p + row->head_len;
}

struct chrome_rows {
	struct chrome_row *main; /* by track id */
	struct chrome_row *sync; /* by track id, for tracks of devices */
	struct chrome_row **lanes;
	size_t lane_cnt, lane_cap;
	struct chrome_row **collectives; /* one per process */
	size_t collective_cnt, collective_cap;
	uint32_t track_cnt;
};

int chrome_rows__make(const struct recording *r, struct chrome_rows *out);
void chrome_rows__free(struct chrome_rows *rows);

/* The row of the track (NULL if there is no such track). sync: the row of its synchronisations. */
struct chrome_row *chrome_rows__find(struct chrome_rows *rows, uint32_t track, bool sync);

/* The row of a process's collectives. *fresh: this call made it. NULL: out of memory. */
struct chrome_row *chrome_rows__collectives(struct chrome_rows *rows, uint64_t pid, bool *fresh);

/* A lane of the process that is free at ts_ns. *fresh: this call made it. NULL: out of memory. */
struct chrome_row *chrome_rows__lane(struct chrome_rows *rows, uint64_t pid, uint64_t ts_ns,
				     bool *fresh);

/* A span that begins inside another and ends long after it should begin when that one ends. Returns
 * that time, or begin_ns. */
uint64_t chrome_row__later_begin(struct chrome_row *row, uint64_t begin_ns, uint64_t end_ns);

/*
 * Opens a span on the row; begins must not decrease. Clips *begin_ns and *end_ns to lie inside the
 * open spans. Sets what the new span inherits; the caller may change it. NULL: out of memory.
 */
struct chrome_open *chrome_row__enter(struct chrome_row *row, uint64_t *begin_ns, uint64_t *end_ns);

#endif

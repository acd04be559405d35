/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a Chrome trace: one per thread, device stream, stream of synchronisations and lane of
 * asynchronous work. A row keeps the spans that are open, so that each new one is clipped to nest.
 */
#ifndef PROFTRACE_CHROME_ROWS_H
#define PROFTRACE_CHROME_ROWS_H

#include <string.h>
#include "recording/recording.h"

#define CHROME_NO_ID UINT64_MAX

struct chrome_open {
	uint64_t end_ns;
	uint64_t operator_id; /* External id of the innermost operator, this one or around it */
	uint64_t correlation; /* of the innermost launch, this one or around it */
	uint32_t stack;	      /* that called the innermost operator, 0: not known */
	bool in_node;	      /* of the backward pass: its stack is that of what it differentiates */
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

/* It holds no whole microsecond, and has thousandths: HTA, which rounds times inwards, makes it
 * last -1 us (HTA 0.5 and 0.6, round_down_time_stamps). */
static inline bool chrome_row__is_negative_in_hta(const struct chrome_row *row, uint64_t begin_ns,
						  uint64_t end_ns)
{
	return row->thousandths && (begin_ns + 999) / 1000 > end_ns / 1000;
}

/* Its head at p, where there is room for all of the array: copied as a whole, that needs no loop. */
static inline char *chrome_row__put(char *p, const struct chrome_row *row)
{
	memcpy(p, row->head, sizeof(row->head));
	return p + row->head_len;
}

struct chrome_rows {
	struct chrome_row *main; /* by track id */
	struct chrome_row *sync; /* by track id; used by tracks of devices */
	struct chrome_row **lanes;
	size_t lane_cnt, lane_cap;
	struct chrome_row **collectives; /* one per process */
	size_t collective_cnt, collective_cap;
	uint32_t track_cnt;
};

int chrome_rows__make(const struct recording *r, struct chrome_rows *out);
void chrome_rows__free(struct chrome_rows *rows);

/* Row of the track (NULL if there is no such track); sync: the row of its synchronisations. */
struct chrome_row *chrome_rows__find(struct chrome_rows *rows, uint32_t track, bool sync);

/* The row of a process's collectives. *fresh: it was made by this call. NULL: out of memory. */
struct chrome_row *chrome_rows__collectives(struct chrome_rows *rows, uint64_t pid, bool *fresh);

/* A lane of the process that is free at ts_ns; *fresh tells that it was just made. NULL: no memory.
 */
struct chrome_row *chrome_rows__lane(struct chrome_rows *rows, uint64_t pid, uint64_t ts_ns,
				     bool *fresh);

/* A span that begins inside another and ends long after it had better begin when that one is over:
 * returns that time, or begin_ns. */
uint64_t chrome_row__later_begin(struct chrome_row *row, uint64_t begin_ns, uint64_t end_ns);

/*
 * Opens a span on the row; begins must not decrease. Clips *begin_ns and *end_ns to lie inside the
 * spans still open. Fills what the new span inherits, to be adjusted by the caller; NULL: no
 * memory.
 */
struct chrome_open *chrome_row__enter(struct chrome_row *row, uint64_t *begin_ns, uint64_t *end_ns);

#endif

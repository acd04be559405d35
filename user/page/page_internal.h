/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the page's data. Each is made in a pass of the model, and its size is bounded. */
#ifndef PROFTRACE_PAGE_INTERNAL_H
#define PROFTRACE_PAGE_INTERNAL_H

#include "analysis/analysis.h"
#include "exporters/parts/stacks.h"
#include "exporters/parts/text_file.h"
#include "model/model.h"

/* ---- JSON inside a <script>: no `<` may stand in it ---- */

void page_json__string(struct text_file *out, const char *text);
/* Writes JSON text unchanged, except `<`, which only occurs in strings. */
void page_json__raw(struct text_file *out, const char *json, size_t len);

/* Names are written once, at the end. Elsewhere they are numbers. */
struct page_names {
	const struct stacks *stacks; /* the functions of frames */
	uint32_t *numbers;	     /* by frame: number + 1, 0: not used yet */
	uint32_t *frames;	     /* by number: the frame */
	size_t cnt, cap;
};
int page_names__init(struct page_names *n, const struct stacks *stacks);
void page_names__free(struct page_names *n);
int page_names__number(struct page_names *n, uint32_t frame, uint32_t *number);
uint32_t page_names__frame(const struct page_names *n, const struct span *s);
void page_names__write(const struct page_names *n, struct text_file *out);

/* ---- time in bins that get wider as there is more of it ---- */

#define BIN_CNT	   512
#define SERIES_MAX 96

struct bin_series {
	enum bin_what {
		BIN_PHASE,  /* id: enum span_kind; KIND_STEP is the whole step */
		BIN_THREAD, /* id: track */
		BIN_DEVICE, /* id: index */
		BIN_MEMORY, /* id: place, see usage.c; a level, not a sum */
	} what;
	uint32_t id;
	uint64_t sum_ns[BIN_CNT];	    /* sum_ns: time in the bin; for a level: */
	int64_t max[BIN_CNT], last[BIN_CNT]; /* valid where has[] is set */
	bool has[BIN_CNT];
};

struct bins {
	bool begun;
	uint64_t begin_ns, width_ns; /* of one bin */
	uint64_t end_ns;	     /* end of everything that was added */
	struct bin_series *series[SERIES_MAX];
	size_t cnt;
	uint64_t left_out; /* number of things without room for a series */
};
void bins__begin(struct bins *b, uint64_t ns);
/* 0, or -ENOMEM. A part before the series' begin is left out. */
int bins__add(struct bins *b, enum bin_what what, uint32_t id, uint64_t from_ns, uint64_t to_ns);
int bins__level(struct bins *b, uint32_t id, uint64_t ns, int64_t level);
void bins__free(struct bins *b);

/* ---- what is over time ---- */

#define USAGE_DEVICES 16
#define USAGE_PLACES  (2 * (USAGE_DEVICES + 1))

struct usage {
	const struct recording *r;
	struct bins bins;
	bool has_device;
	int64_t held[USAGE_PLACES];
	bool relative[USAGE_PLACES]; /* the level counts from the window's begin */
};
int usage__visit(struct usage *u, const struct batch *b);
int usage__finish(struct usage *u);
void usage__write(const struct usage *u, struct text_file *out);
void usage__free(struct usage *u);

/* ---- steps ---- */

#define BARS_MAX   600 /* more steps are shown in groups */

struct page_steps {
	struct step *items;
	size_t cnt, cap;
	bool timer_only; /* recording__is_timer_only */
};
int page_steps__visit(struct page_steps *s, const struct batch *b);
int page_steps__write(const struct page_steps *s, struct text_file *out);

/* Steps with a timeline: the requested one, the slowest, the median one, the first. */
#define TIMELINES_MAX 4
struct chosen_step {
	size_t ordinal; /* position among the recording's steps */
	char why[64];
};
/* Chooses the steps, each once, and returns their number; or -ENOMEM, or -EINVAL if the requested
 * one does not exist (NULL: none was requested). */
int page_steps__choose(const struct page_steps *s, const uint64_t *wanted,
		       struct chosen_step out[TIMELINES_MAX]);

/* ---- the flame graph ---- */

#define FLAME_MAX 4000 /* nodes */
int flame__write(const struct stacks *s, struct page_names *names, struct text_file *out);

/* ---- timelines ---- */

#define TIMELINE_SPANS_MAX 5000 /* of one timeline, after merging small ones */
#define TIMELINE_ROWS_MAX  64
#define TIMELINE_DEPTH_MAX 48
#define TIMELINE_READ_MAX  (1u << 20) /* spans of one timeline before merging */

struct timeline_span {
	uint64_t begin_ns, end_ns;
	uint32_t row, frame;
	uint32_t cnt; /* number of spans that it stands for */
	uint16_t depth;
	uint8_t kind;
	bool cut; /* it begins or ends outside of the recorded time */
};

struct page_timeline {
	struct chosen_step step;
	struct step of; /* index and so on; all zero without steps */
	uint32_t rows[TIMELINE_ROWS_MAX]; /* track ids */
	size_t row_cnt;
	struct timeline_span *spans;
	size_t cnt, cap;
	uint64_t left_out; /* spans left out: too many rows, too deep, or too many in total */
	uint64_t merged, small_ns; /* merged: spans inside others; small_ns: their greatest
				      length */
};

struct page_timelines {
	const struct recording *r;
	const struct page_names *names;
	struct page_timeline items[TIMELINES_MAX];
	size_t cnt, seen; /* seen: steps that passed */
	bool stepless;	  /* there are no steps: the first timeline shows the begin */
};
int page_timelines__visit(const struct batch *b, void *ctx);
int page_timelines__write(struct page_timelines *t, const struct recording *r,
			  struct page_names *names, struct text_file *out);
void page_timelines__free(struct page_timelines *t);
/* Merges until there are at most `most`. */
void page_timeline__merge(struct page_timeline *t, size_t most);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What reading, pairing, judging and printing of a comparison share. */
#ifndef PROFTRACE_DIFF_INTERNAL_H
#define PROFTRACE_DIFF_INTERNAL_H

#include "analysis/diff.h"
#include "analysis/left_out.h"
#include "analysis/series.h"

#define SIGNIFICANT 0.05

struct diff_window {
	char *path; /* owned */
	struct recording *r;
	struct series_set set;
	struct left_out_rows estimates;
	double cpu_busy; /* 0..1 of the machine's processors; negative: not recorded */
};

/* One side: one recording, or several of the same. */
struct diff_side {
	struct diff_window *windows;
	size_t cnt;
};

/* One row: what is in both sides, or in one. */
struct pair {
	enum series_kind kind;
	const char *name;
	struct pair_side {
		bool is_there;
		bool estimated; /* none of this side's windows recorded it */
		uint64_t ns;	/* of a step: median or mean; of several windows the median of theirs */
	} a, b;
	double p;		/* negative: cannot be told */
	double least;		/* the smallest change that would be told */
	const char *unrecorded; /* why the one without it could not have it; NULL: it could */
	bool only_ready; /* it takes longer, and the thread's wait for a processor may explain it */
};

struct pairs {
	struct pair *items;
	size_t cnt, cap;
};

struct diff {
	const struct diff_opts *opts;
	struct diff_side a, b;
	bool by_mean;	   /* steps are uneven in one of the windows: means are compared */
	bool device_bound; /* in each window a device computes nearly all the time */
	struct pairs steps, operators, kernels;
};

/* "a.ptrec" or "a1.ptrec,a2.ptrec": opens them. 0 or a negative errno, with err__set. */
int diff_side__read(const char *paths, const struct diff_opts *opts, struct diff_side *out);
void diff_side__free(struct diff_side *s);
uint64_t diff_side__steps(const struct diff_side *s);
bool diff_side__is_timed(const struct diff_side *s);
/* Others used the processors in one of its windows. */
bool diff_window__was_busy(const struct diff_window *w);
/* Says on stderr what makes the sides' times incomparable, and may be meant. */
void diff__warn_unlike(const struct diff *d);

struct pairs *diff__pairs_of(struct diff *d, enum series_kind kind);
int diff__make_pairs(struct diff *d);
bool pair__is_significant(const struct pair *p);
double pair__percent(const struct pair *p);
/* The operator or kernel is in the second side only. */
bool pair__is_new(const struct pair *p);
bool pair__is_estimated(const struct pair *p);

/* Counts it in *exceeded, with a line on stderr, if it is. 0 or -EINVAL with err__set. */
int diff__check_limit(struct diff *d, const char *text, size_t *exceeded);

#endif

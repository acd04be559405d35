/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of a comparison share: reading, pairing, testing and printing. */
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

/* One side: one recording, or several of the same job. */
struct diff_side {
	struct diff_window *windows;
	size_t cnt;
};

/* One row: a name that one side or both have. */
struct pair {
	enum series_kind kind;
	const char *name;
	struct pair_side {
		bool is_there;
		bool estimated; /* no window of this side recorded it */
		uint64_t ns;	/* per step: median or mean; for several windows the median over
				   them */
	} a, b;
	double p;		/* negative: unknown */
	double least;		/* the smallest change that would be significant */
	const char *unrecorded; /* why one side could not record it; NULL: both could */
	bool only_ready; /* it takes longer, and the thread's wait for a processor may be the
			    cause */
};

struct pairs {
	struct pair *items;
	size_t cnt, cap;
};

struct diff {
	const struct diff_opts *opts;
	struct diff_side a, b;
	bool by_mean;	   /* steps are uneven in some window, so means are compared */
	bool device_bound; /* in each window a device computes nearly all the time */
	struct pairs steps, operators, kernels;
};

/* "a.ptrec" or "a1.ptrec,a2.ptrec": opens them. 0 or a negative errno, with err__set. */
int diff_side__read(const char *paths, const struct diff_opts *opts, struct diff_side *out);
void diff_side__free(struct diff_side *s);
uint64_t diff_side__steps(const struct diff_side *s);
bool diff_side__is_timed(const struct diff_side *s);
/* Did other processes use the processors in this window? */
bool diff_window__was_busy(const struct diff_window *w);
/* Warns on stderr about differences that make the sides incomparable but may be intended. */
void diff__warn_unlike(const struct diff *d);

struct pairs *diff__pairs_of(struct diff *d, enum series_kind kind);
int diff__make_pairs(struct diff *d);
bool pair__is_significant(const struct pair *p);
double pair__percent(const struct pair *p);
/* Does only the second side have the operator or kernel? */
bool pair__is_new(const struct pair *p);
bool pair__is_estimated(const struct pair *p);

/* If the limit is exceeded, counts it in *exceeded and prints a line on stderr. 0 or -EINVAL with
 * err__set. */
int diff__check_limit(struct diff *d, const char *text, size_t *exceeded);

#endif

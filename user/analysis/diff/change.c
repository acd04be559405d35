// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/diff/change.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "common/median.h"
#include "common/util.h"

#define BLOCK_NS 1e9 /* least length of a block */
/* least number of blocks in a window from which its variance is estimated */
#define BLOCKS_LEAST 4
#define BLOCKS_MOST  32
#define CORRELATED   0.3  /* if neighbouring blocks correlate more, blocks are made longer */
#define PERSISTS_NS  1e10 /* a machine may stay slow for so long, so it is one sample */
#define NOISE_FLOOR  0.02 /* smaller changes are not reported */
#define CERTAIN_DF   1e6
#define SIGNIFICANT  0.05
/* factor on standard errors: windows are slow or fast, with little between */
#define NOT_NORMAL 1.1

/*
 * Standard deviation (of logarithms) of windows of one unchanged job, if the recordings do not show
 * it. Measured on a shared virtual machine with 40 windows of 0.1 s, also beside other work.
 */
#define PRIOR_SD      0.25
#define PRIOR_SD_BUSY 0.75 /* added, times the share of time without a processor */
/* The standard deviation that counts as one more degree of freedom if there are several windows. */
#define MODERATE_SD 0.1
/* Factor on both deviations for a device's times. Assumed, because clocks of GPUs vary by a few
 * percent. */
#define DEVICE_SD 0.2

#define UNEVEN 1.5 /* mean / median from which on steps are uneven */

/* ---- Student's t ---- */

/* Continued fraction of the incomplete beta function, by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m <= 300; m++) {
		const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-12)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double student_t__p(double t, double df)
{
	if (df >= CERTAIN_DF / 10)
		return erfc(fabs(t) / sqrt(2));
	return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

/* The t that has p = 0.05. */
static double critical_t(double df)
{
	double low = 0, high = 1000;

	while (high - low > 1e-6 * high) {
		const double middle = (low + high) / 2;

		*(student_t__p(middle, df) > SIGNIFICANT ? &low : &high) = middle;
	}
	return high;
}

/* ---- a window ---- */

struct level {
	double log;	 /* logarithm of the median or mean */
	double variance; /* variance of log; negative: the window does not show it */
	double df;
};

static uint64_t mean_of(const uint64_t *ns, size_t cnt)
{
	double sum = 0;

	for (size_t i = 0; i < cnt; i++)
		sum += (double)ns[i];
	return cnt ? (uint64_t)(sum / (double)cnt) : 0;
}

uint64_t change__level(uint64_t *ns, size_t cnt, bool by_mean)
{
	return by_mean ? mean_of(ns, cnt) : median__of(ns, cnt);
}

/* A single long step may be chance, so it does not make a window uneven. */
int change__is_uneven(const uint64_t *ns, size_t cnt, bool *uneven)
{
	auto_free uint64_t *sorted = calloc(cnt + 1, sizeof(*sorted));
	double median;

	if (!sorted)
		return -ENOMEM;
	memcpy(sorted, ns, cnt * sizeof(*sorted));
	median = (double)median__of(sorted, cnt);
	*uneven = cnt >= CHANGE_FEWEST && (double)mean_of(sorted, cnt - 1) > UNEVEN * median;
	return 0;
}

static double log_level(const uint64_t *ns, size_t cnt, bool by_mean, uint64_t *room)
{
	memcpy(room, ns, cnt * sizeof(*room));
	return log(1 + (double)change__level(room, cnt, by_mean));
}

/* Splits the window into blocks of equal time and stores the logarithm of each block's level.
 * Returns the number of blocks. */
static size_t blocks_of(const struct change_window *w, bool by_mean, double whole_ns, size_t want,
			double *out, uint64_t *room)
{
	size_t cnt = 0, first = 0;
	double at_ns = 0;

	for (size_t i = 0, block = 0; i < w->cnt; i++) {
		const size_t next = (size_t)(at_ns * (double)want / whole_ns);

		if (next > block && i > first) {
			out[cnt++] = log_level(w->ns + first, i - first, by_mean, room);
			first = i;
			block = next;
		}
		at_ns += (double)w->step_ns[i];
	}
	if (w->cnt > first && cnt < want)
		out[cnt++] = log_level(w->ns + first, w->cnt - first, by_mean, room);
	return cnt;
}

struct spread {
	double variance, correlation; /* correlation: of neighbouring blocks */
};

static struct spread spread_of(const double *x, size_t cnt)
{
	double mean = 0, squares = 0, products = 0;
	struct spread s = {0};

	for (size_t i = 0; i < cnt; i++)
		mean += x[i] / (double)cnt;
	for (size_t i = 0; i < cnt; i++) {
		squares += (x[i] - mean) * (x[i] - mean);
		products += i ? (x[i] - mean) * (x[i - 1] - mean) : 0;
	}
	s.variance = cnt > 1 ? squares / (double)(cnt - 1) : 0;
	s.correlation = squares > 0 ? products / squares : 0;
	/* Few blocks give too low an estimate; this corrects it (Kendall). */
	s.correlation += (1 + 3 * s.correlation) / (double)cnt;
	s.correlation = fmin(fmax(s.correlation, 0), 0.95);
	return s;
}

/* Makes blocks longer until neighbours hardly correlate (the batch means method of simulation). */
static void describe_variance(const struct change_window *w, bool by_mean, double whole_ns,
			      double *blocks, uint64_t *room, struct level *out)
{
	size_t want = (size_t)fmin(fmin(whole_ns / BLOCK_NS, BLOCKS_MOST), (double)w->cnt / 4), cnt;
	double independent;
	struct spread s;

	out->variance = -1;
	out->df = CERTAIN_DF;
	if (want < BLOCKS_LEAST)
		return;
	for (;; want /= 2) {
		cnt = blocks_of(w, by_mean, whole_ns, want, blocks, room);
		s = spread_of(blocks, cnt);
		if (s.correlation < CORRELATED || want < 2 * BLOCKS_LEAST)
			break;
	}
	if (cnt < BLOCKS_LEAST)
		return;
	independent = (double)cnt * (1 - s.correlation) / (1 + s.correlation);
	independent = fmin(independent, fmax(whole_ns / PERSISTS_NS, 1));
	out->variance = s.variance / fmax(independent, 1);
	out->df = (double)(cnt - 1);
}

static int level_of(const struct change_window *w, bool by_mean, struct level *out)
{
	auto_free uint64_t *room = calloc(w->cnt + 1, sizeof(*room));
	double blocks[BLOCKS_MOST], whole_ns = 0;

	if (!room)
		return -ENOMEM;
	for (size_t i = 0; i < w->cnt; i++)
		whole_ns += (double)w->step_ns[i];
	out->log = log_level(w->ns, w->cnt, by_mean, room);
	describe_variance(w, by_mean, whole_ns, blocks, room, out);
	return 0;
}

/* ---- two sides ---- */

struct sums {
	double mean, between; /* between: sum of squares of the levels */
	double busy;	      /* variance of a window that a lack of processors explains */
	double within;	      /* variance of the mean, from the windows' own blocks or the prior */
	double within_df;
};

static int sum_side(const struct change_side *side, struct sums *out)
{
	const double cnt = (double)side->cnt;
	const double prior = side->on_device ? DEVICE_SD * PRIOR_SD : PRIOR_SD;
	double welch = 0;
	int err = 0;

	*out = (struct sums){0};
	for (size_t i = 0; i < side->cnt && !err; i++) {
		const double busy =
			side->on_device ? 0 : PRIOR_SD_BUSY * side->windows[i].ready_share;
		struct level l = {0};
		double variance, distance;

		err = level_of(&side->windows[i], side->by_mean, &l);
		variance =
			(l.variance < 0 ? prior * prior + busy * busy : l.variance) / (cnt * cnt);
		distance = l.log - out->mean;
		out->mean += distance / (double)(i + 1);
		out->between += distance * (l.log - out->mean);
		out->within += variance;
		out->busy += busy * busy / cnt;
		welch += variance * variance / l.df;
	}
	out->within_df = welch > 0 ? out->within * out->within / welch : CERTAIN_DF;
	return err;
}

/* Standard error from the spread of several windows. */
static double between_error(const struct sums *a, const struct sums *b, size_t a_cnt, size_t b_cnt,
			    bool on_device)
{
	const double moderate = on_device ? DEVICE_SD * MODERATE_SD : MODERATE_SD;
	const double df = (double)(a_cnt + b_cnt - 2);
	const double guess = moderate * moderate + (a->busy + b->busy) / 2;
	const double variance = (a->between + b->between + guess) / (df + 1);

	return sqrt(variance * (1 / (double)a_cnt + 1 / (double)b_cnt));
}

static bool has_few(const struct change_side *s)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->windows[i].cnt < CHANGE_FEWEST)
			return true;
	return !s->cnt;
}

int change__test(const struct change_side *a, const struct change_side *b, struct change *out)
{
	struct sums x, y;
	double distance, error, df;
	int err;

	*out = (struct change){.p = -1};
	if (has_few(a) || has_few(b))
		return 0;
	err = sum_side(a, &x);
	if (!err)
		err = sum_side(b, &y);
	if (err)
		return err;
	if (a->cnt + b->cnt >= 4) {
		error = between_error(&x, &y, a->cnt, b->cnt, a->on_device);
		df = (double)(a->cnt + b->cnt - 2);
	} else {
		const double welch =
			x.within * x.within / x.within_df + y.within * y.within / y.within_df;

		error = sqrt(x.within + y.within);
		df = welch > 0 ? (x.within + y.within) * (x.within + y.within) / welch : CERTAIN_DF;
	}
	error = fmax(error * NOT_NORMAL, NOISE_FLOOR / 4);
	distance = fabs(y.mean - x.mean);
	out->p = distance < log1p(NOISE_FLOOR) ? 1 : student_t__p(distance / error, df);
	out->least = fmax(expm1(critical_t(df) * error), NOISE_FLOOR);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Do two samples come from one distribution? Tests that make no assumption of its shape. */
#ifndef PROFTRACE_RANK_SUM_H
#define PROFTRACE_RANK_SUM_H

#include <stddef.h>
#include <stdint.h>

#define RANK_SUM_FEWEST 4 /* of each sample; below there is nothing to say */

/*
 * Two-sided p of the Mann-Whitney U test by the normal approximation, corrected for ties and
 * continuity (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, section 4.1).
 * Negative: too few values, or no memory.
 */
double rank_sum__p(const uint64_t *a, size_t a_cnt, const uint64_t *b, size_t b_cnt);

/* Holm's correction of cnt values for their number, in place; negative ones are left as they are.
 */
int holm__correct(double *p, size_t cnt);

#endif

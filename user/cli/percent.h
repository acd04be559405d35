/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_PERCENT_H
#define PROFTRACE_PERCENT_H

/* "2%", "0.5": percent, as a share of 1. 0, or -EINVAL with err__set. */
int percent__parse(const char *option, const char *value, double *out);

#endif

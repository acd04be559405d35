/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_PERCENT_H
#define PROFTRACE_PERCENT_H

/* Parses a percentage such as "2%" or "0.5" into a share of 1. 0, or -EINVAL with err__set. */
int percent__parse(const char *option, const char *value, double *out);

#endif

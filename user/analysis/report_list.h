/* SPDX-License-Identifier: BSD-2-Clause */
/* The registry of tables, in their order in JSON and CSV. */
#ifndef PROFTRACE_REPORT_LIST_H
#define PROFTRACE_REPORT_LIST_H

#include "analysis/analysis.h"

#define REPORT_TABLES 30
#define ALL_TABLES    "all" /* as a name: each of them */

/* Prefix of PyTorch's backward nodes. */
#define NODE_PREFIX "autograd::engine::evaluate_function: "

extern const struct table_impl *const report_impls[REPORT_TABLES];

/* Sets named[i] for each table of a list of names. 0 or -EINVAL with err__set. */
int report__find_named(const char *names, bool *named);
/* Is ALL_TABLES one of the names? */
bool report__names_all(const char *names);
bool report__uses(size_t table, unsigned int use);

#endif

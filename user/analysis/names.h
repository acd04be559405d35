/* SPDX-License-Identifier: BSD-2-Clause */
/* What the ids of a recording are called. */
#ifndef PROFTRACE_NAMES_H
#define PROFTRACE_NAMES_H

#include "recording/recording.h"

struct analysis;

const char *analysis__name(const struct analysis *a, uint32_t id); /* never NULL */
/* The id under which an operator's rows are by full name. An operator without a known full name is
 * no part of those that share its name. And what it is called in full, where that is known; never
 * NULL. */
uint32_t analysis__full_id(const struct analysis *a, const struct event *e);
const char *analysis__full_name(const struct analysis *a, uint32_t id);
/* "python (4242)" */
void analysis__thread(const struct analysis *a, uint32_t track, char *buf, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for the ids of a recording. */
#ifndef PROFTRACE_NAMES_H
#define PROFTRACE_NAMES_H

#include "recording/recording.h"

struct analysis;

const char *analysis__name(const struct analysis *a, uint32_t id); /* never NULL */
/* The id under which an operator's rows are listed by full name. An operator whose full name is
 * unknown is kept apart from those that share its name. analysis__full_name() gives the full name
 * if it is known, and is never NULL. */
uint32_t analysis__full_id(const struct analysis *a, const struct event *e);
const char *analysis__full_name(const struct analysis *a, uint32_t id);
/* "python (4242)" */
void analysis__thread(const struct analysis *a, uint32_t track, char *buf, size_t size);

#endif

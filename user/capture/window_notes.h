/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a window is not as its tables look: lateness, doubts about its steps, what is missing. */
#ifndef PROFTRACE_WINDOW_NOTES_H
#define PROFTRACE_WINDOW_NOTES_H

#include <jansson.h>
#include "capture/session.h"

/* Sentences for the report's foot, of the window that ends; a new reference. */
json_t *window_notes(const struct session *s);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces and pages of several windows, numbered as their recordings are. */
#ifndef PROFTRACE_WINDOW_PATH_H
#define PROFTRACE_WINDOW_PATH_H

#include "recording/recording.h"

/*
 * The output path of a recording, if an option names `path`. Window 0 goes there. Window N goes to
 * the name with .N before its ending (x.json.gz: x.1.json.gz; x.pt.trace.json: x.1.pt.trace.json).
 * "-", directories, devices and pipes stay as they are, as does NULL. Returns path or out, or NULL
 * with err__set if that is too long for size bytes.
 */
const char *window_path__of(const struct recording *r, const char *path, char *out, size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Paths of traces and pages of several windows, numbered like their recordings. */
#ifndef PROFTRACE_WINDOW_PATH_H
#define PROFTRACE_WINDOW_PATH_H

#include "recording/recording.h"

/*
 * The output path of a recording, if an option names `path`. Window 0 gets that path. Window N gets
 * it with .N before its extension (x.json.gz: x.1.json.gz; x.pt.trace.json: x.1.pt.trace.json).
 * "-", directories, devices, pipes and NULL are returned unchanged. Returns path or out, or NULL
 * with err__set if the result is too long for size bytes.
 */
const char *window_path__of(const struct recording *r, const char *path, char *out, size_t size);

#endif

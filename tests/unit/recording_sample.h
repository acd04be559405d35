/* SPDX-License-Identifier: BSD-2-Clause */
/* A small recording with one of everything, and files to spoil. */
#ifndef PROFTRACE_TESTS_RECORDING_SAMPLE_H
#define PROFTRACE_TESTS_RECORDING_SAMPLE_H

#include <stdbool.h>
#include "recording/recording.h"

#define SAMPLE_NAMES  3u
#define SAMPLE_TRACKS 2u
#define SAMPLE_SCHED  2u

/* Bytes of a file in memory. */
struct blob {
	uint8_t *data;
	size_t len;
};

/* Path of a fresh empty file in $TMPDIR; the caller frees. */
char *sample__path(void);

/* The events of the sample, in the order written. */
const struct event *sample__events(size_t *cnt);

/* Writes the sample, one flush after every `per_chunk` events. */
void sample__write(const char *path, size_t per_chunk);

struct blob sample__load(const char *path);
void sample__store(const char *path, const void *data, size_t len);

/* Rewrites the checksums of all chunks that can be walked from the start, and of the header. */
void sample__fix_checksums(uint8_t *data, size_t len);

bool event__equal(const struct event *a, const struct event *b);

/* Opens and reads everything there is to read; returns recording__salvage's error. events: how many
 * were read before the end or an error; error: what the cursor ended with; prefix: whether they
 * are the first ones of the sample. NULLs are fine. */
struct sample_reading {
	struct recording_damage damage;
	size_t events;
	int error;
	bool prefix, has_summary;
};
int sample__read(const char *path, struct sample_reading *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Makes a recording and parses its Chrome trace as JSON. */
#ifndef PROFTRACE_TESTS_CHROME_SAMPLE_H
#define PROFTRACE_TESTS_CHROME_SAMPLE_H

#include "exporters/exporter.h"
#include "recording/recording.h"

struct made {
	struct recording_writer *w;
	char dir[64], path[96], trace[96];
	uint32_t thread;	     /* pid 10, tid 11 */
	uint32_t stream;	     /* device 0, stream 7 */
	struct export_result result; /* of the latest export */
};

/* meta NULL: an empty object. Stolen. */
void made__begin(struct made *s, json_t *meta);
uint32_t made__name(struct made *s, enum span_category category, const char *text);
void made__put(struct made *s, const struct event *e);
/* An event on the thread, times in nanoseconds. */
void made__span(struct made *s, enum span_category category, const char *text, uint64_t begin_ns,
		uint64_t end_ns, uint64_t id);
void made__step(struct made *s, uint64_t index, uint64_t begin_ns, uint64_t end_ns);
void made__device(struct made *s, enum span_category category, const char *text, uint64_t begin_ns,
		  uint64_t end_ns, uint64_t id);
void made__close(struct made *s);
/* Closes, exports (dialect NULL: default) and parses. Caller frees with json_decref. */
json_t *made__export(struct made *s, const char *dialect);
/* Exports a closed sample to `output`. Returns the exporter's result. */
int made__export_to(struct made *s, const char *output, int gzip_level, char *written);
void made__remove(struct made *s);

/* Returns the first event of that name (and phase, if not NULL), or NULL. */
json_t *trace__find(const json_t *trace, const char *name, const char *ph);
size_t trace__count(const json_t *trace, const char *name);
double trace__number(const json_t *event, const char *key);
const json_t *trace__arg(const json_t *event, const char *key);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Small recordings written by hand, and the model's tree of them as text. */
#ifndef PROFTRACE_TESTS_MODEL_SYNTH_H
#define PROFTRACE_TESTS_MODEL_SYNTH_H

#include "analysis/report.h"
#include "model/model.h"

struct synth {
	struct recording_writer *w;
	struct recording *r;
	char *path;
	uint32_t main, other; /* tracks */
};

/* Starts a file. meta is JSON text. Process 100 has the threads 100 "main" and 101 "other". */
struct synth synth__new(const char *meta);
uint32_t synth__thread(struct synth *s, uint32_t pid, uint32_t tid, const char *name);
uint32_t synth__stream(struct synth *s, int device, int64_t stream);

/* Times in ns. Write children before parents, as capture does. */
struct event synth__event(struct synth *s, uint32_t track, enum span_category cat, const char *name,
			  uint64_t begin, uint64_t end);
void synth__write(struct synth *s, const struct event *e);
void synth__span(struct synth *s, uint32_t track, enum span_category cat, const char *name,
		 uint64_t begin, uint64_t end);
void synth__step(struct synth *s, uint64_t index, uint64_t begin, uint64_t end);
void synth__launch(struct synth *s, uint32_t track, uint64_t id, uint64_t begin, uint64_t end);
void synth__kernel(struct synth *s, uint32_t track, enum span_category cat, const char *name,
		   uint64_t id, uint64_t begin, uint64_t end);
void synth__memory(struct synth *s, uint32_t track, uint64_t ts, uint64_t addr, int64_t bytes);

/* Ends the file (summary as JSON text, NULL: as if interrupted) and opens it. */
void synth__open(struct synth *s, const char *summary);
void synth__free(struct synth *s);

/* Everything the model shows, one line per span; caller frees. */
char *synth__tree(struct synth *s, const struct model_opts *opts);
/* A report; caller frees. */
char *synth__report(struct synth *s, const struct report_opts *opts);

/* Fails with a readable difference. */
void synth__expect(char *got, const char *want); /* frees got */
void synth__expect_line(const char *got, const char *line);

/* Ends the file as if interrupted, expects this tree of it, and frees it. */
void synth__expect_tree(struct synth *s, const char *want);
/* The report with these tables; caller frees. */
char *synth__tables(struct synth *s, const char *tables, const struct report_opts *opts);
void synth__expect_lines(struct synth *s, const char *tables, const struct report_opts *opts,
			 size_t cnt, const char *const *lines);
#define EXPECT_LINES(s, tables, opts, ...)                                                         \
	do {                                                                                       \
		static const char *const lines[] = {__VA_ARGS__};                                  \
		synth__expect_lines(s, tables, opts, sizeof(lines) / sizeof(*lines), lines);       \
	} while (0)

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* One recorded window: its file, its metadata at the begin and its summary at the end. */
#ifndef PROFTRACE_WINDOW_H
#define PROFTRACE_WINDOW_H

#include "capture/capture.h"
#include "capture/arming/prune_policy.h"
#include "capture/arming/span_cost.h"
#include "capture/steps/steps.h"
#include "recording/recording.h"

/* Facts of the session that each window's file repeats. */
struct window_facts {
	const struct capture_opts *opts;
	const struct target *target;
	const struct framework_match *match; /* match->framework may be NULL */
	const struct probe_plan *plan;
	const struct step_rule *rule; /* boundary PT_CLASS_NONE: no steps */
	char counted[256];	      /* text to add to the rule's explanation; may be empty */
	struct probe_cost cost;
	const char *device_source; /* NULL: none */
};

struct window {
	struct recording_writer *writer;
	char path[4096];
	int memory; /* the descriptor of a recording in memory; -1: the recording is a file */
	uint32_t index;
	uint64_t first_step, end_step; /* [first, end) */
	uint64_t open_ns, close_ns;
};

/* Path of the window's file: opts->output (file or directory) or HOST_PID.ptrec, with .INDEX before
 * the extension from the second window on. */
void window__path(const struct capture_opts *opts, uint32_t index, char *out, size_t size);

int window__open(struct window *w, const struct window_facts *facts, uint32_t index);
/* Adds "windows", "steps" and "missing" to the summary, closes the file and frees the writer. Takes over the
 * summary. */
int window__close(struct window *w, const struct window_facts *facts, json_t *summary);
/* Removes the recording. */
void window__forget(struct window *w);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many probes behind one perf event, for kernels without uprobe multi: an event of tracefs may have
 * several probes (Linux 5.4, ca89bc071d5e). Each perf event that is closed waits for the kernel to
 * forget it, one after another: 2400 of them took minutes.
 */
#ifndef PROFTRACE_ATTACH_TRACE_EVENT_H
#define PROFTRACE_ATTACH_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Where a probe is, and its row of the probe table: the event's own cookie is one for all. */
struct trace_probe {
	uint64_t offset; /* in the file */
	uint32_t row;
};

struct trace_event;

/* Finds out whether the kernel can and lets us, once, and removes what a killed proftrace left. */
void trace_event__prepare(void);
/* After a fork: events of this process are its own. */
void trace_event__own(void);
/* A path with a blank cannot be told to the kernel. */
bool trace_event__usable(const char *path);

/*
 * Defines the event. rows_fd: map from struct pt_address to row, filled for each place where the
 * process maps the file. Nothing is in the target's text yet. 0 or a negative errno.
 */
int trace_event__new(const char *path, bool is_return, const struct trace_probe *probes, size_t cnt,
		     pid_t pid, int rows_fd, struct trace_event **out);
/* Puts the breakpoints in: a perf event's descriptor or a negative errno. */
int trace_event__open(const struct trace_event *e);
/* What bpf_get_attach_cookie() must give to the program. */
uint64_t trace_event__cookie(const struct trace_event *e);
/* After the descriptor, and the link on it, are closed. */
void trace_event__free(struct trace_event *e);

#endif

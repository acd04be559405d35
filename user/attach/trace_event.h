/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Many probes behind one perf event, for kernels without uprobe multi. An event of tracefs may have
 * several probes (Linux 5.4, ca89bc071d5e). The kernel closes perf events one after another, and
 * each takes a while: 2400 took minutes.
 */
#ifndef PROFTRACE_ATTACH_TRACE_EVENT_H
#define PROFTRACE_ATTACH_TRACE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A probe's place, and its row in the probe table. The cookie is the same for the whole event. */
struct trace_probe {
	uint64_t offset; /* in the file */
	uint32_t row;
};

struct trace_event;

/* Finds out once whether the kernel supports and allows it. Removes what a killed proftrace
 * left. */
void trace_event__prepare(void);
/* Call it after a fork: the child's events are its own. */
void trace_event__own(void);
/* False for a path with a blank, which the kernel's syntax does not allow. */
bool trace_event__usable(const char *path);

/*
 * Defines the event. rows_fd: the map from struct pt_address to row, filled for each place where
 * the process maps the file. The target's code is still unchanged. 0 or a negative errno.
 */
int trace_event__new(const char *path, bool is_return, const struct trace_probe *probes, size_t cnt,
		     pid_t pid, int rows_fd, struct trace_event **out);
/* Inserts the breakpoints. A perf event's descriptor or a negative errno. */
int trace_event__open(const struct trace_event *e);
/* What bpf_get_attach_cookie() returns in the program. */
uint64_t trace_event__cookie(const struct trace_event *e);
/* Call it after closing the descriptor and its link. */
void trace_event__free(struct trace_event *e);

#endif

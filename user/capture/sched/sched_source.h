/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler as a source of events, by bpf/sched.bpf.c. It has run, runnable and blocked time of the targets'
 * threads per step, and the utilisation of the process and of each CPU. On request it has the time in system calls and
 * page faults (bpf/entries.bpf.c).
 *
 * The caller loads the skeleton. The order of calls, one on each line:
 *         skel = proftrace_bpf__open(); switch off autoload of all programs
 *         sched_source__prepare(skel, &opts)              before the load
 *         proftrace_bpf__load(skel); fill the map `targets`
 *         sched_source__start(skel, &src)                 near the window: switches cost time from here on
 *         sched_source__boundary(src, ts, step)           for each PT_REC_STEP, in order
 *         sched_source__poll(src)                         about once a second
 *         sched_source__drain(src, open, close, fn, ctx, &totals) after each window
 *         sched_source__stop(src)
 *
 * The window is the one of the BPF programs (ctl.window_open, window_open_ns, window_close_ns). To open it yourself,
 * set window_open_ns first, then window_open. Read the ring up to the window's end before a drain, so that the
 * boundaries are known. Drain a window before the next but one opens. Functions return 0 or a negative errno with
 * err__set.
 */
#ifndef PROFTRACE_SCHED_SOURCE_H
#define PROFTRACE_SCHED_SOURCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "capture/sched/sched_sums.h"

struct proftrace_bpf;
struct recording_writer;
struct sched_source;

struct sched_source_opts {
	bool all; /* all processes of the machine, without reasons; `targets` is ignored */
	bool syscalls, page_faults; /* time of threads in the kernel for each of them */
	/* threads of the job now; the tables have at least 16 places for each, up to PT_SCHED_MAX_THREADS */
	size_t threads;
};

/* Places in the tables for a job with so many threads now: PT_SCHED_MIN_THREADS to PT_SCHED_MAX_THREADS. */
uint32_t sched_source__places(size_t threads);

/* Chooses the programs and sizes the maps. */
int sched_source__prepare(struct proftrace_bpf *skel, const struct sched_source_opts *opts);

/* Attaches the programs and reads the state of all existing threads. */
int sched_source__start(struct proftrace_bpf *skel, struct sched_source **out);

/* A step begins at ts_ns. step EVENT_NO_ID: no step begins. */
int sched_source__boundary(struct sched_source *s, uint64_t ts_ns, uint64_t step);

/* Time of the scheduler's programs in windows so far, at events of the targets' threads. Measured at some events. */
uint64_t sched_source__own_ns(const struct proftrace_bpf *skel);

/* Events since the load that found a table or the ring full. */
uint64_t sched_source__lost(const struct proftrace_bpf *skel);

/* Since when a thread is blocked; 0: it is not blocked, or unknown. */
uint64_t sched_source__asleep_since(const struct sched_source *s, uint32_t tid);

/* Enlarges the ring for the records of unread_ns. It is cheap: call it often. */
int sched_source__fit(struct sched_source *s, uint64_t unread_ns);

/* Moves the sums from the kernel's maps into our memory, since the maps are bounded. */
int sched_source__poll(struct sched_source *s);

struct sched_cpu_time {
	uint32_t cpu;
	uint64_t busy_ns, idle_ns;
};

struct sched_totals {
	uint64_t wall_ns;
	uint64_t process_ns; /* run time of all followed processes, by the kernel's own count */
	uint64_t busy_ns, idle_ns;
	struct sched_cpu_time *per_cpu; /* online CPUs */
	uint32_t cpu_cnt;
	uint64_t lost;	 /* intervals since the start that found a map or the ring full */
	uint64_t missed; /* unseen switches since the start that the run time has corrected */
};

/*
 * Passes each row of the window [open_ns, close_ns) to fn, except rows of CPUs (tgid PT_SCHED_CPU). fn may be NULL. A
 * result other than 0 of fn ends the drain. Open intervals count up to close_ns. close_ns may be now, while the window
 * is open: the next drain continues there. Free totals with sched_totals__free().
 */
typedef int (*sched_row_fn)(void *ctx, const struct sched_sum_row *row);
int sched_source__drain(struct sched_source *s, uint64_t open_ns, uint64_t close_ns,
			sched_row_fn fn, void *ctx, struct sched_totals *totals);
void sched_totals__free(struct sched_totals *t);

/* A sched_row_fn that writes to a recording; entries go to their own table. ctx is a struct sched_sink. */
struct sched_sink {
	struct recording_writer *writer;
	/* Id of the thread's track; 0: an error. comm may be empty. */
	uint32_t (*track)(void *ctx, uint32_t pid, uint32_t tid, const char *comm);
	void *ctx;
};
int sched_sink__row(void *sink, const struct sched_sum_row *row);

/* The summary's "cpu" object: wall_ns, process_ns, busy_ns, idle_ns, cpus, per_cpu [{cpu, busy_ns,
 * idle_ns}]. NULL if out of memory. */
json_t *sched_totals__json(const struct sched_totals *t);

/* Detaches and frees; NULL is allowed. */
void sched_source__stop(struct sched_source *s);

#endif

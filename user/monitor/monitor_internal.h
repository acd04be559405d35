/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of `proftrace monitor`, for the files that implement it. */
#ifndef PROFTRACE_MONITOR_INTERNAL_H
#define PROFTRACE_MONITOR_INTERNAL_H

#include "monitor/alarms.h"
#include "monitor/backoff.h"
#include "monitor/exporter_watch.h"
#include "monitor/job_windows.h"
#include "monitor/monitor.h"
#include "monitor/page_maker.h"
#include "monitor/pushes.h"
#include "monitor/watch.h"
#include "monitor/window_reader.h"

#define WINDOW_SPARE (16u << 20) /* a session ends if it writes this much more than the largest window */

struct monitor {
	const struct monitor_opts *opts;
	struct event_loop loop;
	struct event_source signals, files;
	struct exporter_watch exporter;
	int listen_fd;
	struct discovery *discovery;
	struct watch_opts watch_opts;
	struct watch **watches;
	size_t watch_cnt, watch_cap;
	uint32_t next_id;
	struct backoffs backoffs;
	struct left { /* a process that still lives after its session has ended */
		uint32_t id;
		struct found_rank rank;
	} *left;
	size_t left_cnt, left_cap;
	struct window_reader reader;
	struct job_windows job_windows;
	struct alarms alarms;
	struct page_maker pages;
	struct pushes pushes;
	int store; /* descriptor of the store's directory */
	struct monitor_counts counts;
	struct governor governor;
	uint64_t scan_due_ns, counts_due_ns, keep_due_ns;
	uint64_t window_bytes; /* size of the largest recording that is read and kept */
	bool is_stopping;
	int err; /* why the monitor stops, with err__set */
};

/* Borrows opts, which must stay valid. */
void monitor__set_opts(struct monitor *m, const struct monitor_opts *opts);
/* Plans windows of all ranks for jobs for which one is due. */
void monitor__plan_job_windows(struct monitor *m, uint64_t now_ns);
/* Keeps a recording as a rank's baseline. */
void monitor__keep_baseline(struct monitor *m, const char *file);
/* Steps take longer than in the baseline `file`: has a window recorded. w may be NULL. */
void monitor__record_alarm(struct monitor *m, struct watch *w, const char *file);
/* That window was read: keeps it and has it compared with the baseline. */
void monitor__compare_alarm(struct monitor *m, const struct watch *w);
/* Passes the comparison on to the exporter. ctx: the monitor. */
void monitor__alarm_compared(void *ctx, const struct alarm_made *alarm, int json);
/* Handles SIGHUP. */
void monitor__reload(struct monitor *m);
/* Measures CPU time and memory of the monitor and its sessions, and the pressure on the host. */
void monitor__measure_self(struct monitor *m);
/* Decides whether windows may open, and sets counts.hold. */
void monitor__set_hold(struct monitor *m);

#endif

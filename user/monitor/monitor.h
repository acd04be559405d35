/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `proftrace monitor`: watches the jobs of this host. One loop without polling. Scans of /proc find
 * ranks (discovery.h). Each rank gets a session (watch.h). Reports read the windows
 * (window_reader.h). A process without rights exports the figures (exporter.h).
 */
#ifndef PROFTRACE_MONITOR_H
#define PROFTRACE_MONITOR_H

#include <stddef.h>
#include <stdint.h>
#include "monitor/discovery.h"
#include "monitor/governor.h"

struct monitor_opts {
	const char *store, *listen;
	const char *token; /* HTTP requests for windows must have this token; NULL: such requests are refused */
	bool pages;	   /* everybody who connects may read pages of recordings */
	const char *otlp, *pprof; /* URLs of receivers; NULL: nothing is pushed */
	uint64_t otlp_interval_ns;
	uint64_t keep_bytes, window_steps, series_max, ranks_max;
	uint64_t all_ranks; /* each window with this number is one of all ranks of a job; 0: none */
	int device_times; /* not 0: sessions that begin load our library into processes that use CUDA */
	double budget, max_duty;
	struct governor_limits limits;
	struct discovery_opts discovery;
	/* For SIGHUP: reads the configuration again and passes it to `apply`. The old one is freed afterwards. Returns
	 * 0; -ENOENT if there is no file, or another negative errno, with err__set. After an error nothing changes. */
	int (*reload)(void *ctx, void (*apply)(void *to, const struct monitor_opts *opts), void *to);
	void *reload_ctx;
};

/* Runs until SIGINT or SIGTERM. Returns 0, or a negative errno with err__set. */
int monitor__run(const struct monitor_opts *opts);

#endif

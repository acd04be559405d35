// SPDX-License-Identifier: BSD-2-Clause
/* Applies a configuration to the monitor, at its begin and at SIGHUP. */
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/monitor_internal.h"

#define WINDOW_SHARE 4		 /* part of --keep that one window's recording may take, */
#define WINDOW_MAX   (64u << 20) /* and at most so many bytes */

void monitor__set_opts(struct monitor *m, const struct monitor_opts *opts)
{
	const uint64_t share = opts->keep_bytes / WINDOW_SHARE;

	m->opts = opts;
	m->window_bytes = share < WINDOW_MAX ? share : WINDOW_MAX;
	m->counts.budget = opts->budget;
	m->governor.limits = opts->limits;
	m->reader.directory = opts->store;
	m->job_windows.directory = opts->store;
	m->alarms.directory = opts->store;
	m->pages.directory = opts->store;
	m->pages.cpus = opts->limits.cpu;
	m->watch_opts.store = opts->store;
	m->watch_opts.budget = opts->budget;
	m->watch_opts.max_duty = opts->max_duty;
	m->watch_opts.window_steps = opts->window_steps;
	m->watch_opts.device_times = opts->device_times;
	m->watch_opts.file_bytes = m->window_bytes + WINDOW_SPARE;
}

/* Processes that the rules exclude now are released at the next scan. */
static void apply(void *to, const struct monitor_opts *opts)
{
	struct monitor *m = to;
	const char *const urls[PUSH_TO_CNT] = {opts->otlp, opts->pprof};

	monitor__set_opts(m, opts);
	m->exporter.opts.exporter.token = opts->token; /* equal text in the new configuration's
							  memory */
	pushes__set_texts(&m->pushes, urls, opts->store);
	discovery__set_opts(m->discovery, &opts->discovery);
	for (size_t i = 0; i < m->watch_cnt; i++)
		schedule__set_budget(&m->watches[i]->schedule, opts->budget, opts->max_duty);
	m->scan_due_ns = m->keep_due_ns = 0;
}

void monitor__reload(struct monitor *m)
{
	const int err = m->opts->reload(m->opts->reload_ctx, apply, m);

	m->counts.reloads[err ? RELOAD_REFUSED : RELOAD_OK]++;
	m->counts_due_ns = 0;
	if (err)
		log__warn(MESSAGE_CONFIG_NOT_CHANGED, err__take(err));
	else
		log__info(MESSAGE_CONFIG_CHANGED, 100 * m->opts->budget);
}

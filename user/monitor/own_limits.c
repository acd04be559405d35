// SPDX-License-Identifier: BSD-2-Clause
/* Resources of the monitor itself, and whether windows may open. */
#include <math.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/monitor_internal.h"
#include "monitor/own_usage.h"
#include "monitor/window_store.h"

void monitor__measure_self(struct monitor *m)
{
	struct own_usage usage = {0};
	double cpu_s;

	own_usage__add(&usage, getpid());
	own_usage__add(&usage, m->exporter.exporter.pid);
	pushes__add_usage(&m->pushes, &usage);
	for (size_t i = 0; i < m->watch_cnt; i++)
		if (m->watches[i]->session.pid)
			own_usage__add(&usage, m->watches[i]->session.pid);
	cpu_s = (double)(usage.cpu_ns + own_usage__ended_cpu_ns()) / 1e9;
	m->counts.anonymous_bytes = usage.anonymous_bytes;
	m->counts.bpf_bytes = usage.bpf_bytes;
	/* A process that ends between the two readings is missing in both, so the sum must not
	 * decrease. */
	m->counts.cpu_s = fmax(m->counts.cpu_s, cpu_s);
	governor__add(&m->governor, &(struct governor_sample){
					    .at_ns = clock__monotonic_ns(),
					    .cpu_s = m->counts.cpu_s,
					    .memory_bytes = usage.anonymous_bytes + usage.bpf_bytes,
					    .pressure = pressure__read(),
				    });
}

/* A full disk is no fault of a session. Our recordings have a limit and are not the cause. */
static enum hold why_held(const struct monitor *m)
{
	if (!window_store__has_room(m->store, m->window_bytes + WINDOW_SPARE))
		return HOLD_DISK;
	return governor__hold(&m->governor);
}

void monitor__set_hold(struct monitor *m)
{
	static const char *const reasons[HOLD_CNT] = {
		[HOLD_DISK] = "the file system of --store is nearly full",
		[HOLD_CPU] = "--cpu is used up for the latest ten minutes",
		[HOLD_MEMORY] = "more than --memory is in use",
		[HOLD_PRESSURE] = "others want the processors (--max-pressure)",
	};
	const enum hold hold = why_held(m);

	if (hold == m->counts.hold)
		return;
	if (hold)
		log__warn(MESSAGE_WINDOWS_HELD, reasons[hold]);
	else
		log__info(MESSAGE_WINDOWS_OPEN_AGAIN);
	m->counts.hold = hold;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Page faults in each window of the thread that makes the steps. */
#include "capture/session.h"

/* Without steps there is no such thread. */
static struct fault_count count(const struct session *s)
{
	const uint32_t tid = s->probes.ctl->step_tid;

	return tid ? fault_count__read(s->opts->pid, (pid_t)tid) : (struct fault_count){0};
}

static void window_open(struct session *s)
{
	s->before.faults = count(s);
	s->faults = (struct fault_count){0};
}

static void window_close(struct session *s)
{
	s->faults = count(s);
}

static void describe(struct session *s, json_t *summary)
{
	json_t *faults = fault_count__json(&s->before.faults, &s->faults);

	if (faults)
		json_object_set_new(summary, "faults", faults);
}

const struct component component_faults = {
	.name = "page faults",
	.window_open = window_open,
	.window_close = window_close,
	.describe = describe,
};

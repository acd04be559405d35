// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/watched.h"
#include "capture/arming/arm.h"
#include "common/counted.h"
#include "common/util.h"

#define SLOW 2.0 /* times as long */

/* A range or a data loader; an optimizer's step, of which there was one, has another program. */
static bool is_instruction(const struct planned_probe *probe)
{
	return probe->group == GROUP_WATCH && !probe->writes_alone;
}

/* NULL: there is none, or they are called. */
static const struct planned_probe *uncalled(const struct session *s)
{
	const struct planned_probe *probe = NULL;
	struct pt_probe_stat stat;

	for (size_t i = 0; i < s->plan.cnt; i++) {
		if (!is_instruction(&s->plan.probes[i]))
			continue;
		probe = &s->plan.probes[i];
		probes__stat(&s->probes, probe->row, &stat);
		if (stat.hits)
			return NULL;
	}
	return probe;
}

int watched__choose(struct session *s, uint64_t steps)
{
	const struct planned_probe *probe = uncalled(s);

	if (s->facts.cost.watch_slows < SLOW || s->opts->keep_all || s->opts->step_range ||
	    s->opts->detail == DETAIL_INNER || !steps || !probe)
		return 0;
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (is_instruction(&s->plan.probes[i]))
			s->dropped[s->plan.probes[i].row] = true;
	s->unwatched = probe->category == CAT_USER ? "ranges" : "data loaders";
	s->unwatched_after = steps;
	return arm__reattach(s, GROUP_WATCH);
}

void watched__note(const struct session *s, json_t *notes)
{
	const double slows = s->facts.cost.watch_slows;

	if (s->unwatched)
		json_array_append_new(
			notes,
			json_sprintf(
				"%s written in Python are not shown: there was none in %s before "
				"the window, and the data breakpoints that show them make copies "
				"of some KiB take up to %.0f times as long on this processor; "
				"--keep-all shows them",
				s->unwatched, counted(s->unwatched_after, "step", "steps").s,
				slows));
	if (s->probes.watchpoints && slows >= SLOW)
		json_array_append_new(
			notes,
			json_sprintf(
				"while data breakpoints are set, copies of some KiB take up to "
				"%.0f times as long on this processor: what the threads of Python "
				"copy and fill is told longer than it is without",
				slows));
}

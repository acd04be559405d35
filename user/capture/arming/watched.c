// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/watched.h"
#include "capture/arming/arm_groups.h"
#include "common/util.h"

#define SLOW 2.0 /* times as long */

bool watched__slows_copies(const struct session *s)
{
	return s->facts.cost.watch_slows >= SLOW;
}

/* A breakpoint of a range or a data loader. An optimizer's step, of which there is one, has another
 * program. */
static bool is_instruction(const struct planned_probe *probe)
{
	return probe->group == GROUP_WATCH && !probe->writes_alone;
}

/* A planned range or loader without calls. NULL: none is planned, or one was called. */
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

	if (!watched__slows_copies(s) || s->opts->no_prune || s->opts->step_range ||
	    s->opts->detail == DETAIL_INNER || !steps || !probe)
		return 0;
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (is_instruction(&s->plan.probes[i]))
			s->pruned.rows[s->plan.probes[i].row] = true;
	s->pruned.unwatched = probe->category == CAT_USER ? "ranges" : "data loaders";
	s->pruned.unwatched_after = steps;
	return arm__reattach(s, GROUP_WATCH);
}

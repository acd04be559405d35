// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/launches.h"
#include "capture/arming/arm_groups.h"
#include "common/err.h"
#include "device/cuda_calls.h"

/* Hidden when not in use: these probes must not be attached with those of a window. */
static void show(struct session *s, bool shown)
{
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].group == GROUP_LAUNCH)
			s->pruned.rows[s->plan.probes[i].row] = !shown;
}

int launches__watch(struct session *s)
{
	size_t before = s->plan.cnt;
	int n;

	if (!s->device || s->cupti.functions_alone || s->calls_on)
		return 0;
	n = target__refresh_libs(s->target);
	if (n) {
		err__take(n);
		return 0; /* the target has ended; the loop notices that */
	}
	n = cuda_calls__plan_launches(s->target, &s->plan);
	if (n < 0)
		return n;
	decoder__plan_grew(s->records.decoder);
	n = probes__plan_grew(&s->probes, before);
	show(s, true);
	return n ? n : arm__reattach(s, GROUP_LAUNCH);
}

void launches__unwatch(struct session *s)
{
	if (!s->probes.attached[GROUP_LAUNCH])
		return;
	show(s, false);
	arm__detach(s, GROUP_LAUNCH);
}

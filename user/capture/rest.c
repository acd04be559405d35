// SPDX-License-Identifier: BSD-2-Clause
#include "capture/rest.h"
#include "bpf/proftrace.skel.h"
#include "capture/arm.h"
#include "capture/epoch_end.h"
#include "capture/step_probes.h"
#include "common/counted.h"
#include "common/err.h"
#include "common/util.h"

static bool is_range(const struct planned_probe *probe)
{
	return step_probe__runs(probe, "range_");
}

static bool is_range_end(const struct planned_probe *probe)
{
	return step_probe__runs(probe, "range_exit") || step_probe__runs(probe, "range_stop");
}

bool rest__needs(const struct probe_plan *plan, const struct step_rule *rule,
		 const struct planned_probe *probe)
{
	const uint32_t wanted[] = {rule->boundary, rule->needs};

	if (step_probe__runs(probe, "async_") || is_range_end(probe))
		return false;
	if (is_range(probe) || step_probe__is_phase(probe))
		return step_probe__shows(plan, probe, wanted, ARRAY_SIZE(wanted));
	return true;
}

static bool may_be_far(const struct session *s)
{
	const struct pt_schedule *p = &s->opts->schedule;
	uint64_t near = arm__lead_ns() / (s->step_ns ? s->step_ns : 1);

	return s->opts->paused || s->opts->start_at_ns ||
	       (s->opts->has_schedule && p->skip_first + p->closed > 2 * near);
}

int rest__settle(struct session *s)
{
	uint64_t cnt = 0;
	int err;

	/* An end that is inside another one's range is no step, nor is an ask that finds no batch:
	 * begins do not tell. */
	if (s->opts->timer_only || !s->rule.boundary || !may_be_far(s) ||
	    (s->rule.at_end && s->probes.ctl->nests) || epoch_end__matters(&s->plan, &s->rule))
		return 0;
	for (size_t i = 0; i < s->plan.cnt; i++) {
		struct planned_probe *probe = &s->plan.probes[i];

		if (probe->group != GROUP_STEP || rest__needs(&s->plan, &s->rule, probe))
			continue;
		probe->group = GROUP_PHASE;
		cnt++;
	}
	if (!cnt)
		return 0;
	log__debug("between windows %s taken out", counted(cnt, "probe is", "probes are").s);
	err = arm__reattach(s, GROUP_STEP);
	if (!err)
		err = arm__reattach(s, GROUP_PHASE);
	probes__forget_spans(&s->probes);
	return err;
}

void rest__begin(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	if (!s->probes.attached[GROUP_PHASE])
		return;
	ctl->resting = 1;
	s->resting_since = ctl->step_seq;
}

void rest__go_on(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	if (!ctl->resting || !s->probes.attached[GROUP_PHASE] ||
	    ctl->step_seq <= s->resting_since + 1)
		return;
	arm__hurry(true);
	probes__detach(&s->probes, GROUP_PHASE);
	arm__hurry(false);
}

void rest__forget_ranges(struct session *s)
{
	s->probes.ctl->woken_ns = clock__monotonic_ns();
	decoder__forget_ranges(s->decoder, s->probes.ctl->woken_ns);
}

void rest__end(struct session *s)
{
	if (!s->probes.ctl->resting)
		return;
	rest__forget_ranges(s);
	s->probes.ctl->resting = 0;
}

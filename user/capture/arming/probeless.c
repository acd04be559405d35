// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/probeless.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "capture/arming/steps_only.h"
#include "capture/arming/until_window.h"
#include "capture/session.h"
#include "common/counted.h"
#include "common/err.h"
#include "common/util.h"

#define MS 1000000ull

enum {
	ALIKE = 16, /* steps in a row in which both variables must have grown by the same */
};

/* Interval of reading the common variable. Shortest and longest time without probes. */
#define LOOK_NS	   (100 * MS)
#define SHORTLY_NS (1000 * MS)
#define LONG_NS	   (16000 * MS)

/* An evaluation between steps has no backward pass. The rule must not count it as a step either. */
static bool has_backward(const struct session *s)
{
	const struct step_rule *rule = &s->rule;
	const uint32_t sign = rule->needs ? rule->needs : rule->boundary;

	return (sign == PT_CLASS_OPTIMIZER || sign == PT_CLASS_BACKWARD) &&
	       !(rule->at_end && s->probes.ctl->nests);
}

/* Requires uprobe multi links: probes that are attached one by one take too long to come back. */
bool probeless__may_begin(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	if (s->probeless.refuted || s->probeless.is_checked || s->opts->count_each ||
	    s->opts->timer_only)
		return false;
	if (s->probes.attached[GROUP_PHASE] || s->probes.method != ATTACH_UPROBE_MULTI)
		return false;
	if (!ctl->started || !ctl->counter_step[0] || !ctl->counter_step[1])
		return false;
	return ctl->counter_alike >= ALIKE && has_backward(s);
}

int probeless__begin(struct session *s, bool *begun)
{
	struct pt_ctl *ctl = s->probes.ctl;

	arm__detach(s, GROUP_STEP);
	probes__forget_spans(&s->probes);
	/* A step that ended meanwhile may have been unlike the others. */
	*begun = ctl->counter_alike >= ALIKE;
	if (!*begun)
		return arm__reattach_steps(s);
	if (!s->probeless.pause_ns) {
		s->probeless.pause_ns = SHORTLY_NS;
		log__debug("from step %llu on steps are counted without probes",
			   (unsigned long long)ctl->step);
	}
	ctl->steps_left_probeless = arm__steps_left(ctl);
	ctl->probeless = 1;
	s->probeless.step_ns = 0;
	s->probeless.looked_ns = clock__monotonic_ns();
	s->probeless.until_ns = s->probeless.looked_ns + s->probeless.pause_ns;
	return 0;
}

int probeless__end(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	s->probeless.is_checked = true;
	s->probeless.seq = ctl->step_seq;
	s->probeless.odd = ctl->counter_odd;
	s->probeless.alike = ctl->counter_alike;
	return arm__reattach_steps(s);
}

/* Reads how many steps the job has done, and how long they take. */
static void read_steps(struct session *s, uint64_t now)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t before = ctl->probeless_steps, value;

	/* a read fails if the target ends; the loop notices that */
	if (target__read_of(s->opts->pid, ctl->layout.counters.common, &value, sizeof(value)))
		return;
	ctl->probeless_steps = (value - ctl->counter[1]) / ctl->counter_step[1];
	if (ctl->probeless_steps > before)
		s->probeless.step_ns =
			(now - s->probeless.looked_ns) / (ctl->probeless_steps - before);
}

void probeless__poll_counters(struct session *s)
{
	const uint64_t now = clock__monotonic_ns();

	if (now - s->probeless.looked_ns < LOOK_NS)
		return;
	read_steps(s, now);
	s->probeless.looked_ns = now;
}

/* Also true if the window's begin is past. */
bool probeless__pause_is_over(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	return s->probeless.looked_ns > s->probeless.until_ns ||
	       (!ctl->hold && ctl->probeless_steps >= ctl->steps_left_probeless);
}

/* The first boundary after the probes are back shows how many steps there were. The next boundaries
 * show whether steps still grow the variables by the same. */
void probeless__poll_verdict(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t seen = ctl->step_seq - s->probeless.seq;

	if (!s->probeless.is_checked || seen < 2)
		return;
	s->probeless.is_checked = false;
	if (s->probeless.pause_ns < LONG_NS)
		s->probeless.pause_ns *= 2;
	/* a boundary may come between the two reads */
	if (ctl->counter_odd == s->probeless.odd &&
	    ctl->counter_alike + 2 >= s->probeless.alike + seen - 1)
		return;
	s->probeless.refuted = true;
	steps_only__doubt(s, "not all steps were alike while they were counted without probes");
}

void probeless__describe(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	*s->facts.counted = '\0';
	if (ctl->counted_steps)
		snprintf(s->facts.counted, sizeof(s->facts.counted),
			 "; %s not seen, but counted by backward passes (%llu a step, whether an "
			 "optimizer step followed or not)%s",
			 counted(ctl->counted_steps, "step before was", "steps before were").s,
			 (unsigned long long)ctl->counter_step[1],
			 s->probeless.refuted
				 ? ", and not all were alike: step numbers may be wrong"
				 : "");
}

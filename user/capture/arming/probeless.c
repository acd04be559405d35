// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/probeless.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm.h"
#include "capture/arming/steps_only.h"
#include "capture/session.h"
#include "common/counted.h"
#include "common/err.h"
#include "common/util.h"

#define MS 1000000ull

enum {
	ALIKE = 16, /* steps in a row in which the variables must have grown by as much */
	NEAR = 4,   /* steps before a window that are seen by probes */
};

/* How often the common variable is read, and for how long there are no probes. */
#define LOOK_NS	   (100 * MS)
#define SHORTLY_NS (1000 * MS)
#define LONG_NS	   (16000 * MS)

/* Evaluation between steps holds no backward pass, and must be no step by the rule either. */
static bool has_backward(const struct session *s)
{
	const struct step_rule *rule = &s->rule;
	const uint32_t sign = rule->needs ? rule->needs : rule->boundary;

	return (sign == PT_CLASS_OPTIMIZER || sign == PT_CLASS_BACKWARD) &&
	       !(rule->at_end && s->probes.ctl->nests);
}

/* Probes that are attached one by one take too long to come back. */
static bool may_leave(const struct session *s, uint64_t left, uint64_t step_ns)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	if (s->probeless.refuted || s->opts->count_each || s->opts->timer_only || s->armed)
		return false;
	if (s->probes.attached[GROUP_PHASE] || s->probes.method != ATTACH_UPROBE_MULTI)
		return false;
	if (!ctl->started || !ctl->counter_step[0] || !ctl->counter_step[1])
		return false;
	return ctl->counter_alike >= ALIKE && has_backward(s) && left > 2 * NEAR &&
	       left > 4 * arm__lead_ns(s) / step_ns;
}

static void take_out(struct session *s)
{
	arm__detach(s, GROUP_STEP);
	probes__forget_spans(&s->probes);
	s->probeless.out = true;
}

static int bring_back(struct session *s)
{
	s->probeless.out = false;
	return arm__reattach_steps(s);
}

static int leave(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;

	take_out(s);
	/* A step that has ended meanwhile may have been another. */
	if (ctl->counter_alike < ALIKE)
		return bring_back(s);
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

	if (!s->probeless.out)
		return 0;
	s->probeless.is_checked = true;
	s->probeless.seq = ctl->step_seq;
	s->probeless.odd = ctl->counter_odd;
	s->probeless.alike = ctl->counter_alike;
	return bring_back(s);
}

/* Reads how far the job has come, and how fast. */
static void read_steps(struct session *s, uint64_t now)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t before = ctl->probeless_steps, value;

	/* Else it is ending, which the loop will see. */
	if (target__read_of(s->opts->pid, ctl->layout.counters.common, &value, sizeof(value)))
		return;
	ctl->probeless_steps = (value - ctl->counter[1]) / ctl->counter_step[1];
	if (ctl->probeless_steps > before)
		s->probeless.step_ns =
			(now - s->probeless.looked_ns) / (ctl->probeless_steps - before);
}

static int look(struct session *s, uint64_t step_ns)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint64_t now = clock__monotonic_ns(), left;

	if (now - s->probeless.looked_ns < LOOK_NS)
		return 0;
	read_steps(s, now);
	s->probeless.looked_ns = now;
	step_ns = probeless__pace(s, step_ns);
	left = arm__steps_left(ctl);
	if (now > s->probeless.until_ns || left <= NEAR || left <= 2 * arm__lead_ns(s) / step_ns ||
	    (!ctl->hold && ctl->probeless_steps >= ctl->steps_left_probeless))
		return probeless__end(s);
	return 0;
}

uint64_t probeless__pace(const struct session *s, uint64_t step_ns)
{
	const uint64_t seen =
		s->probeless.out || s->probeless.is_checked ? s->probeless.step_ns : 0;

	return seen && seen < step_ns ? seen : step_ns;
}

/* The first boundary since the probes came back has told how many steps there were, the next ones
 * whether they still are as they were. */
void probeless__check(struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t seen = ctl->step_seq - s->probeless.seq;

	if (!s->probeless.is_checked || seen < 2)
		return;
	s->probeless.is_checked = false;
	if (s->probeless.pause_ns < LONG_NS)
		s->probeless.pause_ns *= 2;
	/* A boundary may come between the two readings. */
	if (ctl->counter_odd == s->probeless.odd &&
	    ctl->counter_alike + 2 >= s->probeless.alike + seen - 1)
		return;
	s->probeless.refuted = true;
	steps_only__doubt(s, "not all steps were alike while they were counted without probes");
}

int probeless__poll(struct session *s, uint64_t left, uint64_t step_ns)
{
	if (s->probeless.out)
		return look(s, step_ns);
	return !s->probeless.is_checked && may_leave(s, left, step_ns) ? leave(s) : 0;
}

uint64_t probeless__step(const struct pt_ctl *ctl)
{
	return ctl->step + ctl->probeless_steps;
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

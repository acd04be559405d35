// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/arm.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "capture/arming/may_open.h"
#include "capture/arming/probe_kind.h"
#include "capture/arming/probeless.h"
#include "capture/arming/steps_only.h"
#include "capture/arming/until_window.h"
#include "capture/capture_ring.h"
#include "capture/session.h"
#include "capture/steps/optimizer_step.h"
#include "common/err.h"
#include "common/util.h"
#include <malloc.h>

/* Each operator, allocation or device call hits these groups. */
static bool is_of_operators(enum probe_group group)
{
	return group >= GROUP_OPERATOR && group <= GROUP_NODE_TYPE;
}

/* Takes the edge of residency.c for this event, if there is one. */
static void enter(struct session *s, const struct residency_view *view)
{
	const enum residency to = residency__next(s->residency, view);

	if (to != s->residency)
		log__debug("probes: %s", residency__name(to));
	s->residency = to;
	arm__set_open(s);
}

static void enter_by(struct session *s, enum residency_event event)
{
	enter(s, &(struct residency_view){.event = event});
}

int arm__attach(struct session *s)
{
	bool chosen[GROUP_CNT];

	for (int g = 0; g < GROUP_CNT; g++)
		chosen[g] = !is_of_operators(g);
	s->attaching.begin_ns = clock__monotonic_ns();
	return arm__attach_groups(s, chosen);
}

int arm__attach_operators(struct session *s)
{
	bool chosen[GROUP_CNT];
	int err;

	for (int g = 0; g < GROUP_CNT; g++)
		chosen[g] = is_of_operators(g);
	err = arm__attach_groups(s, chosen);
	if (!err)
		enter_by(s, RESIDENCY_MEASURE);
	return err;
}

void arm__detach_operators(struct session *s)
{
	arm__hurry(true);
	for (int g = 0; g < GROUP_CNT; g++)
		if (is_of_operators(g))
			probe_kind__of(g)->detach(s, g);
	arm__hurry(false);
	enter_by(s, RESIDENCY_LEARN);
}

int arm__take_out(struct session *s)
{
	const int err = optimizer_step__set(s, false);

	arm__hurry(true);
	for (int g = GROUP_PHASE + 1; g < GROUP_CNT; g++)
		if (!probe_kind__makes_steps(s, g))
			probe_kind__of(g)->detach(s, g);
	arm__hurry(false);
	return err;
}

void session__release_memory(struct session *s)
{
	target__drop_elfs(s->target);
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static int disarm(struct session *s, const struct residency_view *view)
{
	int err;

	enter(s, view);
	/* A window may have opened since its distance was read. From here on no window opens. */
	if (s->probes.ctl->window_open) {
		enter_by(s, RESIDENCY_OPENED);
		return 0;
	}
	err = arm__take_out(s);
	steps_only__begin(s);
	sched_source__stop(s->sched);
	s->sched = NULL;
	if (!err)
		err = capture_ring__waits(s);
	session__release_memory(s);
	return err;
}

static int rearm(struct session *s, const struct residency_view *view)
{
	bool chosen[GROUP_CNT] = {false};
	int err = s->residency == RESIDENCY_NONE ? probeless__end(s) : 0;

	/* Probes that are still attached stay: a new attach would miss a step. */
	for (int g = GROUP_STEP + 1; g <= GROUP_PHASE && !err; g++)
		if (!s->probes.attached[g])
			err = arm__reattach(s, g);
	if (err)
		return err;
	steps_only__end(s);
	err = capture_ring__armed(s);
	if (err)
		return err;
	for (int g = GROUP_PHASE + 1; g < GROUP_CNT; g++)
		chosen[g] = true;
	err = arm__attach_groups(s, chosen);
	if (err)
		return err;
	enter(s, view);
	return optimizer_step__set(s, true);
}

static int leave_updates(struct session *s, const struct residency_view *view)
{
	arm__detach(s, GROUP_UPDATE);
	enter(s, view);
	return 0;
}

static int leave_all(struct session *s, const struct residency_view *view)
{
	bool begun;
	const int err = probeless__begin(s, &begun);

	if (!err && begun)
		enter(s, view);
	return err;
}

static int come_back(struct session *s, const struct residency_view *view)
{
	enter(s, view);
	return probeless__end(s);
}

/* Takes the edge of residency.c that is due, if there is one. */
static int follow(struct session *s, const struct residency_view *view)
{
	const enum residency to = residency__next(s->residency, view);

	if (to == s->residency)
		return 0;
	switch (to) {
	case RESIDENCY_FULL:
		return rearm(s, view);
	case RESIDENCY_BACKWARD_ONLY:
		return leave_updates(s, view);
	case RESIDENCY_NONE:
		return leave_all(s, view);
	default:
		return s->residency == RESIDENCY_NONE ? come_back(s, view) : disarm(s, view);
	}
}

int arm__poll_time(struct session *s, uint64_t left_ns)
{
	steps_only__go_on(s);
	return follow(s, &(struct residency_view){.left = left_ns,
						  .lead = arm__lead_ns(s),
						  .passes_suffice = steps_only__passes_suffice(s)});
}

static int follow_windows(struct session *s)
{
	struct residency_view view;

	probeless__poll_verdict(s);
	if (s->probes.ctl->state == PT_STATE_DONE || s->window.writer)
		return 0;
	steps_only__go_on(s);
	if (s->residency == RESIDENCY_NONE)
		probeless__poll_counters(s);
	view = (struct residency_view){
		.left = arm__steps_left(s->probes.ctl),
		.lead = arm__lead_ns(s) / arm__step_ns(s),
		.passes_suffice = steps_only__passes_suffice(s),
		.counters_suffice = probeless__may_begin(s),
		.pause_is_over = probeless__pause_is_over(s),
	};
	return follow(s, &view);
}

static int poll_residency(struct session *s, uint64_t *next_ns)
{
	const int err = follow_windows(s);

	turn_by(next_ns, clock__monotonic_ns() + arm__quiet_ns(s));
	return err;
}

const struct component component_residency = {
	.name = "probe residency",
	.poll_windows = poll_residency,
};

// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/arm.h"
#include "bpf/events.h"
#include "bpf/skeleton.h"
#include "capture/capture_ring.h"
#include "capture/device/device_time.h"
#include "capture/arming/probeless.h"
#include "capture/processes/follow.h"
#include "capture/steps/optimizer_step.h"
#include "capture/arming/steps_only.h"
#include "capture/session.h"
#include "common/err.h"
#include "common/util.h"
#include <sys/resource.h>

#define MS 1000000ull

/* Probes are attached this long before their window, and detached only if it is twice as far. */
#define LEAST_LEAD_NS (1500 * MS)

uint64_t arm__lead_after(uint64_t attach_ns)
{
	const uint64_t lead = 2 * attach_ns;

	return lead > LEAST_LEAD_NS ? lead : LEAST_LEAD_NS;
}

uint64_t arm__lead_ns(const struct session *s)
{
	return arm__lead_after(s->attaching.longest_ns);
}

/* The kernel changes the target's text under its mmap lock: on a busy machine, being preempted
 * while we hold it would make the target wait. Fails without privilege, and then it is as before.
 */
void arm__hurry(bool on)
{
	static int usual;

	if (on)
		usual = getpriority(PRIO_PROCESS, 0);
	setpriority(PRIO_PROCESS, 0, on ? -20 : usual);
}

void arm__set_open(struct session *s)
{
	const bool starting = device_time__is_starting(s);

	const bool is_full = s->residency == RESIDENCY_FULL;

	if (!is_full || starting)
		s->cupti.awaited = is_full;
	/* The library ends with a window and begins with the next: the programs open none before
	 * that, however late it is noticed that one has ended. */
	s->probes.ctl->armed_once = s->device != NULL;
	s->probes.ctl->armed = is_full && !starting ? s->windows.closes_seen + 1 : 0;
}

/* Ranges may be the steps. */
static bool makes_steps(const struct session *s, int group)
{
	if (group != GROUP_WATCH)
		return false;
	for (size_t i = 0; i < s->plan.cnt; i++)
		if (s->plan.probes[i].group == GROUP_WATCH && s->plan.probes[i].row == s->rule.row)
			return true;
	return s->opts->step_range != NULL;
}

/* Hit by each operator, allocation or call of the device. */
static bool is_of_operators(enum probe_group group)
{
	return group >= GROUP_OPERATOR && group <= GROUP_NODE_TYPE;
}

static int attach_group(struct session *s, enum probe_group group)
{
	int err;

	if (group == GROUP_WATCH && s->opts->timer_only && !makes_steps(s, group))
		return 0;
	optimizer_step__forget(s, group);
	err = probes__attach(&s->probes, group, s->target->pid);
	if (group == GROUP_WATCH)
		optimizer_step__read_count(s);
	return err ? err : follow__attach(s, group);
}

/* What ended meanwhile did so unseen. */
static void forget_calls(struct session *s)
{
	s->probes.ctl->changed_ns = clock__monotonic_ns();
	decoder__forget_calls(s->records.decoder, s->probes.ctl->changed_ns);
}

static int attach_groups(struct session *s, const bool chosen[GROUP_CNT])
{
	uint64_t begin = clock__monotonic_ns(), took;
	int err = 0;

	arm__hurry(true);
	for (int g = 0; g < GROUP_CNT && !err; g++)
		if (chosen[g])
			err = attach_group(s, g);
	arm__hurry(false);
	forget_calls(s);
	took = clock__monotonic_ns() - begin;
	if (took > s->attaching.longest_ns)
		s->attaching.longest_ns = took;
	log__debug("attached in %.1f ms", (double)took / 1e6);
	if (!err && !s->sched && !s->opts->timer_only)
		err = sched_source__start(s->probes.skel, &s->sched);
	return err;
}

static void enter(struct session *s, enum residency to)
{
	if (to != s->residency)
		log__debug("probes: %s", residency__name(to));
	s->residency = to;
	arm__set_open(s);
}

void arm__may_open(struct session *s)
{
	enter(s, RESIDENCY_FULL);
}

static int enter_full(struct session *s, int err)
{
	enter(s, err ? RESIDENCY_STEPS_ONLY : RESIDENCY_FULL);
	return err;
}

int arm__attach(struct session *s)
{
	bool chosen[GROUP_CNT];

	for (int g = 0; g < GROUP_CNT; g++)
		chosen[g] = !is_of_operators(g);
	s->attaching.begin_ns = clock__monotonic_ns();
	return attach_groups(s, chosen);
}

int arm__attach_operators(struct session *s)
{
	bool chosen[GROUP_CNT];

	for (int g = 0; g < GROUP_CNT; g++)
		chosen[g] = is_of_operators(g);
	return enter_full(s, attach_groups(s, chosen));
}

void arm__detach_operators(struct session *s)
{
	arm__hurry(true);
	for (int g = 0; g < GROUP_CNT; g++)
		if (is_of_operators(g))
			probes__detach(&s->probes, g);
	arm__hurry(false);
	enter(s, RESIDENCY_STEPS_ONLY);
}

int arm__attach_alone(struct session *s, enum probe_group group)
{
	int err;

	arm__hurry(true);
	err = probes__attach(&s->probes, group, s->target->pid);
	arm__hurry(false);
	forget_calls(s);
	return err;
}

int arm__reattach(struct session *s, enum probe_group group)
{
	int err;

	arm__hurry(true);
	err = attach_group(s, group);
	arm__hurry(false);
	forget_calls(s);
	return err;
}

void arm__detach(struct session *s, enum probe_group group)
{
	arm__hurry(true);
	probes__detach(&s->probes, group);
	arm__hurry(false);
}

int arm__reattach_steps(struct session *s)
{
	struct pt_ctl *ctl = s->probes.ctl;
	int err;

	/* What was seen of the step in which they were taken out is of that step. */
	ctl->need_seen = ctl->epoch_ended = 0;
	err = arm__reattach(s, GROUP_STEP);
	steps_only__forget_ranges(s);
	return err;
}

int arm__take_out(struct session *s)
{
	const int err = optimizer_step__set(s, false);

	arm__hurry(true);
	for (int g = GROUP_PHASE + 1; g < GROUP_CNT; g++)
		if (!makes_steps(s, g))
			probes__detach(&s->probes, g);
	arm__hurry(false);
	return err;
}

static int disarm(struct session *s)
{
	int err;

	enter(s, RESIDENCY_STEPS_ONLY);
	/* It may have opened since its distance was read: proftrace can be kept waiting for long.
	 */
	if (s->probes.ctl->window_open) {
		enter(s, RESIDENCY_FULL);
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

int arm__rearm(struct session *s)
{
	bool chosen[GROUP_CNT] = {false};
	int err = s->residency == RESIDENCY_NONE ? probeless__end(s) : 0;

	/* What is still there stays: a step would be missed. */
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
	err = enter_full(s, attach_groups(s, chosen));
	return err ? err : optimizer_step__set(s, true);
}

uint64_t arm__steps_left(const struct pt_ctl *ctl)
{
	const struct pt_schedule *p = &ctl->schedule;
	uint64_t cycle = p->closed + p->ready + p->record, skip = p->skip_first + ctl->shifted;
	uint64_t step = ctl->started ? probeless__step(ctl) : 0, pos;

	if (ctl->hold)
		return ctl->hold == PT_HOLD_RECORD ? 0 : UINT64_MAX;
	if (step < skip)
		return skip + p->closed - step;
	if (!cycle || (p->repeat && (step - skip) / cycle >= p->repeat))
		return UINT64_MAX;
	pos = (step - skip) % cycle;
	return pos < p->closed ? p->closed - pos : 0;
}

static uint64_t latest_step_ns(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t ns = ctl->step_seq > 2 ? ctl->step_took_ns : s->step_length.ns;

	return ns ? ns : 1;
}

uint64_t arm__until_window_ns(const struct session *s)
{
	const uint64_t left = arm__steps_left(s->probes.ctl);
	uint64_t ns;

	return __builtin_mul_overflow(left, probeless__pace(s, latest_step_ns(s)), &ns) ? UINT64_MAX
											: ns;
}

static int leave_updates(struct session *s)
{
	arm__detach(s, GROUP_UPDATE);
	enter(s, RESIDENCY_BACKWARD_ONLY);
	return 0;
}

static int leave_all(struct session *s)
{
	bool begun;
	const int err = probeless__begin(s, &begun);

	if (!err && begun)
		enter(s, RESIDENCY_NONE);
	return err;
}

static int come_back(struct session *s)
{
	enter(s, RESIDENCY_STEPS_ONLY);
	return probeless__end(s);
}

/* An edge of residency.c. */
static int go(struct session *s, enum residency to)
{
	switch (to) {
	case RESIDENCY_FULL:
		return arm__rearm(s);
	case RESIDENCY_BACKWARD_ONLY:
		return leave_updates(s);
	case RESIDENCY_NONE:
		return leave_all(s);
	default:
		return s->residency == RESIDENCY_NONE ? come_back(s) : disarm(s);
	}
}

static int follow(struct session *s, const struct residency_view *view)
{
	const enum residency to = residency__next(s->residency, view);

	return to == s->residency ? 0 : go(s, to);
}

int arm__poll_time(struct session *s, uint64_t left_ns)
{
	steps_only__go_on(s);
	return follow(s, &(struct residency_view){.left = left_ns,
						  .lead = arm__lead_ns(s),
						  .passes_tell = steps_only__passes_tell(s)});
}

static int poll_residency(struct session *s)
{
	struct residency_view view;

	probeless__check(s);
	if (s->probes.ctl->state == PT_STATE_DONE || s->window.writer)
		return 0;
	steps_only__go_on(s);
	if (s->residency == RESIDENCY_NONE)
		probeless__look(s);
	view = (struct residency_view){
		.left = arm__steps_left(s->probes.ctl),
		.lead = arm__lead_ns(s) / probeless__pace(s, latest_step_ns(s)),
		.passes_tell = steps_only__passes_tell(s),
		.counters_tell = probeless__may_begin(s),
		.pause_is_over = probeless__pause_is_over(s),
	};
	return follow(s, &view);
}

const struct component component_residency = {
	.name = "probe residency",
	.poll_windows = poll_residency,
};

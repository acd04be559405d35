// SPDX-License-Identifier: BSD-2-Clause
/* Estimates from the hits what our probes added to the target in a window: the summary's "cost". */
#include "attach/shield.h"
#include "bpf/skeleton.h"
#include "capture/arming/probe_kind.h"
#include "capture/device/pointer_hooks.h"
#include "capture/session.h"
#include "common/util.h"

/* The price of a pointer hook is measured warm. In MindSpore's MLP the estimate was 48 us, and 72
 * us were added. HOOK_MOST is a guess. */
#define HOOK_LIKELY 1.5
#define HOOK_MOST   3
/* If a virtual machine's host intercepts data breakpoints, some jobs pay several times as much. */
#define WATCH_MOST 3

struct window_hits {
	uint64_t by_group[GROUP_CNT], total;
	uint64_t plain;	  /* without data breakpoints */
	uint64_t stepped; /* of these, hits that the kernel single-steps */
};

static uint64_t own_cpu_ns(void)
{
	return clock__ns(CLOCK_PROCESS_CPUTIME_ID) + shield__cpu_ns();
}

/* Finds which probes the kernel single-steps, before the window's records come. */
static void window_open(struct session *s)
{
	s->before.cpu_ns = own_cpu_ns();
	for (size_t i = 0; i < s->plan.cnt; i++) {
		struct planned_probe *probe = &s->plan.probes[i];

		if (probe->lib && probe->program && probe->group != GROUP_WATCH)
			probe->stepped = planned_probe__site(s->target, probe) == SITE_STEPPED;
	}
}

static struct window_hits count_hits(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	struct window_hits h = {.stepped = decoder__stepped_hits(s->records.decoder)};

	decoder__hits(s->records.decoder, h.by_group);
	/* A hit of --step-probe is a step and makes no event. Other threads' hits are not
	 * counted. */
	if (s->opts->step_probe)
		h.by_group[GROUP_STEP] += s->window.end_step - s->window.first_step;
	/* a return probe also traps at the entry */
	h.by_group[GROUP_OPERATOR] += 2 * (ctl->callee_ends - s->before.callee_ends);
	for (int g = 0; g < GROUP_CNT; g++) {
		h.by_group[g] = probe_kind__of(g)->hits(s, h.by_group[g]);
		h.total += h.by_group[g];
	}
	h.plain = h.total - h.by_group[GROUP_WATCH];
	return h;
}

/* Lost events had hits, too. Returns all events divided by those that arrived. */
static double lost_share(const struct session *s)
{
	const double lost = (double)(session__losses(s).ring - s->before.lost.ring);
	const double kept = (double)recording_writer__events(s->window.writer);

	return kept > 0 ? (kept + lost) / kept : 1;
}

/* Uses the thread's CPU time: the time in which the thread waits for a processor is not its own. */
static struct hit_price price(const struct session *s, const struct window_hits *h)
{
	const uint64_t length_ns =
		s->step_cost.run_ns ? s->step_cost.run_ns : s->window.close_ns - s->window.open_ns;

	return span_cost__hit(&s->facts.cost, h->plain ? length_ns / h->plain : 0);
}

/* hit_ns, watch_ns: the prices of a probe and of a data breakpoint. */
static double hits_ns(const struct session *s, const struct window_hits *h, double hit_ns,
		      double watch_ns)
{
	const struct attach_cost *bare = &s->facts.cost.bare;
	const double step_ns =
		bare->stepped_ns > bare->entry_ns ? (double)(bare->stepped_ns - bare->entry_ns) : 0;

	return lost_share(s) * ((double)h->plain * hit_ns + (double)h->stepped * step_ns +
				(double)h->by_group[GROUP_WATCH] * watch_ns);
}

static void put(json_t *cost, const char *key, double ns)
{
	json_object_set_new(cost, key, json_integer((json_int_t)ns));
}

/* timed_ns: the cost that was measured, not estimated from hits. */
static void put_estimate(const struct session *s, const struct window_hits *h,
			 const struct device_hooked *hooked, double timed_ns, json_t *cost)
{
	const uint64_t steps = s->window.end_step - s->window.first_step;
	const struct hit_price p = price(s, h);
	const double watch_ns = (double)s->facts.cost.watch_ns, hook_ns = (double)hooked->ns;
	const double ns = hits_ns(s, h, p.likely_ns, watch_ns) + HOOK_LIKELY * hook_ns + timed_ns;

	put(cost, "probe_ns", ns);
	put(cost, "probe_low_ns", hits_ns(s, h, p.least_ns, watch_ns) + hook_ns + timed_ns);
	put(cost, "probe_high_ns",
	    hits_ns(s, h, p.most_ns, WATCH_MOST * watch_ns) + HOOK_MOST * hook_ns + timed_ns);
	put(cost, "stays_ns",
	    (double)(h->by_group[GROUP_STEP] + h->by_group[GROUP_UPDATE] +
		     h->by_group[GROUP_PHASE]) *
			    p.likely_ns +
		    (s->opts->timer_only ? 0 : timed_ns));
	if (steps)
		put(cost, "added_ns_per_step", ns / (double)steps);
}

static json_t *groups_json(const struct window_hits *h)
{
	json_t *json = json_object();

	for (int g = 0; g < GROUP_CNT; g++)
		json_object_set_new(json, probe_group__name(g),
				    json_integer((json_int_t)h->by_group[g]));
	return json;
}

static void describe(struct session *s, json_t *summary)
{
	const uint64_t loader_cpu_ns = own_cpu_ns() - s->before.cpu_ns;
	const uint64_t sched_ns = sched_source__own_ns(s->probes.skel) - s->before.sched_ns;
	const uint64_t stacks_ns = s->probes.ctl->stack_ns - s->before.stacks.ns;
	const struct window_hits h = count_hits(s);
	const struct device_hooked hooked =
		s->device ? device_source__hooked(s->device) : (struct device_hooked){0};
	json_t *cost = json_pack("{s:I, s:o, s:I}", "hits", (json_int_t)h.total, "hits_by_group",
				 groups_json(&h), "loader_cpu_ns", (json_int_t)loader_cpu_ns);

	put_estimate(s, &h, &hooked, (double)(sched_ns + stacks_ns), cost);
	if (h.stepped)
		put(cost, "stepped_hits", (double)h.stepped);
	if (!s->opts->timer_only)
		put(cost, "tracepoint_ns", (double)sched_ns);
	json_object_set_new(cost, "learning", bursts__json(&s->bursts));
	if (hooked.cnt)
		put(cost, "noted_calls", (double)hooked.cnt);
	if (!s->device && !pointer_hooks__why_not(s))
		json_object_set_new(cost, "inject_helps", json_true());
	json_object_set_new(summary, "cost", cost);
}

const struct component component_probe_cost = {
	.name = "probe cost",
	.window_open = window_open,
	.describe = describe,
};

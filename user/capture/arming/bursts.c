// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/bursts.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm.h"
#include "capture/arming/arm_groups.h"
#include "common/err.h"
#include "common/util.h"

enum {
	CALLS_MIN = 2000, /* fewest calls in a burst, even if the budget has less left */
	HITS_OF_A_CALL = 2,
};

/* a descendant works if it uses this part of a processor during the burst, and more CPU time than
 * the target */
#define BELOW_RUNS 0.05

/* The probes that find a period of operators. */
static const enum probe_group burst_groups[] = {GROUP_OPERATOR, GROUP_INNER};

static double call_ns(const struct session *s)
{
	return HITS_OF_A_CALL * (double)s->facts.cost.cold_hit_ns;
}

/* A process that has ended counts as 0 ns. */
static uint64_t since(uint64_t now_ns, uint64_t before_ns)
{
	return now_ns > before_ns ? now_ns - before_ns : 0;
}

/* The smaller of CPU time and elapsed time counts: of several busy threads, one may have all the
 * hits. */
static double left_ns(const struct session *s)
{
	const double ran = (double)since(process__cpu_ns(s->opts->pid), s->learning.cpu_ns);
	const double passed = (double)since(clock__monotonic_ns(), s->learning.begin_ns);

	return s->opts->max_overhead * (ran < passed ? ran : passed) - s->bursts.added_ns -
	       s->bursts.weighed_ns;
}

bool bursts__may_within(const struct session *s, uint64_t ns)
{
	return s->opts->max_overhead > 0 &&
	       left_ns(s) + s->opts->max_overhead * (double)ns >= s->bursts.need_ns;
}

bool bursts__may(const struct session *s)
{
	return bursts__may_within(s, 0);
}

static uint64_t most_calls(const struct session *s)
{
	const double left = left_ns(s) / call_ns(s);

	return left < CALLS_MIN ? CALLS_MIN : left > CALL_LOG_MAX ? CALL_LOG_MAX : (uint64_t)left;
}

static uint64_t beside_ran_ns(const struct session *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->children.cnt; i++)
		ns += process__cpu_ns(s->children.pids[i]);
	return ns;
}

/* The probes miss calls while they attach and detach. We assume that the calls came at the same
 * rate then. */
static void note(struct session *s, uint64_t seen_ns, uint64_t in_ns)
{
	struct bursts *b = &s->bursts;
	const double most_ns = CALL_LOG_MAX * call_ns(s);
	const double added_ns =
		(double)s->records.log.cnt * call_ns(s) * (double)in_ns / (double)seen_ns;

	b->cnt++;
	b->ns += in_ns;
	b->calls += s->records.log.cnt;
	b->added_ns += added_ns;
	b->need_ns = 2 * added_ns < most_ns ? 2 * added_ns : most_ns;
	b->idle = s->records.log.cnt ? 0 : b->idle + 1;
	log__debug("burst %llu: %zu calls in %.0f of %.0f ms, %.1f ms added",
		   (unsigned long long)b->cnt, s->records.log.cnt, (double)seen_ns / 1e6,
		   (double)in_ns / 1e6, added_ns / 1e6);
}

static void take_out(struct session *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(burst_groups); i++)
		arm__detach(s, burst_groups[i]);
	probes__forget_spans(&s->probes);
}

int bursts__begin(struct session *s, struct burst *burst)
{
	int err = 0;

	*burst = (struct burst){
		.most_calls = most_calls(s),
		.begin_ns = clock__monotonic_ns(),
		.own_ns = process__cpu_ns(s->opts->pid),
		.beside_ns = beside_ran_ns(s),
	};
	for (size_t i = 0; i < ARRAY_SIZE(burst_groups) && !err; i++)
		err = arm__attach_alone(s, burst_groups[i]);
	if (!err && (s->probes.attached[GROUP_OPERATOR] || s->probes.attached[GROUP_INNER]))
		burst->seen_ns = clock__monotonic_ns();
	return err;
}

void bursts__end(struct session *s, const struct burst *burst)
{
	const uint64_t now_ns = clock__monotonic_ns();
	uint64_t seen_ns, ran_ns;

	take_out(s);
	if (!burst->seen_ns)
		return;
	seen_ns = now_ns - burst->seen_ns;
	note(s, seen_ns, clock__monotonic_ns() - burst->begin_ns);
	ran_ns = since(beside_ran_ns(s), burst->beside_ns);
	s->bursts.descendants_ran = (double)ran_ns >= BELOW_RUNS * (double)seen_ns &&
				    ran_ns > since(process__cpu_ns(s->opts->pid), burst->own_ns);
}

int bursts__weigh(struct session *s)
{
	s->bursts.weigh_seq = s->probes.ctl->step_seq;
	s->bursts.weigh_ns = clock__monotonic_ns();
	return arm__attach_operators(s);
}

/* Steps that were none cost as much per time as the bursts, if there were any. */
static void weighed_astray(struct bursts *b)
{
	const uint64_t ns = since(clock__monotonic_ns(), b->weigh_ns);

	b->astray_ns += ns;
	if (b->ns)
		b->weighed_ns += b->added_ns / (double)b->ns * (double)ns;
}

/* The hits since measuring began. */
static double weighed_hits(const struct session *s)
{
	double hits = 0;

	for (uint32_t row = 1; row <= s->plan.row_cnt; row++) {
		struct pt_probe_stat stat;

		probes__stat(&s->probes, row, &stat);
		hits += (double)(stat.hits + stat.spans);
	}
	return hits;
}

static double weighed_hits_ns(const struct session *s)
{
	return weighed_hits(s) * (double)s->facts.cost.cold_hit_ns;
}

void bursts__weighed(struct session *s, uint64_t steps)
{
	struct bursts *b = &s->bursts;
	const uint64_t begun = s->probes.ctl->step_seq - b->weigh_seq;

	if (!steps) {
		weighed_astray(b);
		return;
	}
	b->weighed += begun;
	b->weighed_ns += weighed_hits_ns(s) / (double)steps * (double)begun;
}

bool bursts__may_weigh_on(const struct session *s)
{
	const double ns = weighed_hits_ns(s);

	return ns < CALLS_MIN * call_ns(s) || ns < left_ns(s);
}

double bursts__weighed_time(struct session *s, uint64_t measured_ns, uint64_t ran_ns)
{
	const double hits = weighed_hits(s);
	const double in_ns = (double)since(clock__monotonic_ns(), s->bursts.weigh_ns);
	const uint64_t apart_ns = hits > 0 ? (uint64_t)((double)ran_ns / hits) : 0;
	const double ns = hits * span_cost__hit(&s->facts.cost, apart_ns).likely_ns;

	s->bursts.timed_ns += (uint64_t)in_ns;
	s->bursts.weighed_ns += ns / (double)measured_ns * in_ns;
	return ns;
}

json_t *bursts__json(const struct bursts *b)
{
	if (!b->cnt && !b->weighed && !b->astray_ns && !b->timed_ns)
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "bursts", (json_int_t)b->cnt,
			 "bursts_ns", (json_int_t)b->ns, "calls", (json_int_t)b->calls,
			 "weighed_steps", (json_int_t)b->weighed, "astray_ns",
			 (json_int_t)b->astray_ns, "timed_ns", (json_int_t)b->timed_ns, "added_ns",
			 (json_int_t)(b->added_ns + b->weighed_ns));
}

// SPDX-License-Identifier: BSD-2-Clause
#include "capture/arming/span_cost.h"
#include "attach/calibrate.h"
#include "attach/watchpoint.h"
#include "bpf/skeleton.h"
#include "capture/session.h"
#include "common/err.h"
#include "common/median.h"
#include "common/util.h"
#include <bpf/libbpf.h>
#include <math.h>

/* How the bench calls: it reads `evicted` bytes of other memory between two calls. Rounds are
 * short, so that some rounds are undisturbed on a busy machine. */
static const struct manner {
	uint64_t evicted;
	unsigned int rounds, calls;
} warm = {32 << 10, 20, 50},	 /* as after an operator's own work: the first-level cache */
	cold = {2 << 20, 5, 50}; /* the second-level cache is cold, too */

/*
 * In a job a hit costs twice what this bench measures between cold calls: the job must also load
 * again what the kernel has evicted. Measured by bench/overhead and bench/device, where this bench
 * alone said 1.5 us. A hit cost 3.1 us if hits are 78 us apart (a CNN), and 3.0 us if 37 us apart
 * (a transformer). It cost 0.6 us, as in a tight loop, if hits are 4 us apart (calls of CUDA).
 */
#define IN_A_JOB 2
#define MORE_LIKELY                                                                                \
	(1 / 0.75)    /* factor over the likely cost: bench/told accepts an estimate within that */
#define FILL_NS 10000 /* so much of a job's own work fills 63 % of the caches */

/* How most spans of a detail level end: by a return probe, or by a probe inside the function. */
static const struct span_probes {
	enum calibration_function begin, end;
	bool is_return;
} returning = {CALIBRATE_PAIR, CALIBRATE_PAIR, true},
  inside = {CALIBRATE_SITE, CALIBRATE_SITE_END, false};

/* A row of the probe table that no planned probe has. */
static uint32_t spare_row(const struct session *s)
{
	return s->plan.row_cnt + 1;
}

static int attach_span(struct session *s, const struct span_probes *probes, struct attach_set *set,
		       pid_t pid)
{
	struct bpf_program *end = probes->is_return ? s->probes.skel->progs.call_return
						    : s->probes.skel->progs.call_site;
	struct attach_point point;
	int err;

	calibration__point(probes->begin, &point);
	point.cookie = spare_row(s);
	err = attach_set__add(set, s->probes.skel->progs.call_entry, &point);
	if (err)
		return err;
	calibration__point(probes->end, &point);
	point.cookie = spare_row(s);
	point.is_return = probes->is_return;
	err = attach_set__add(set, end, &point);
	return err ? err : attach_set__attach(set, pid);
}

/* The time that a span's probes add to a call. */
static int added_ns(struct calibration *c, const struct span_probes *probes, const struct manner *m,
		    uint64_t *added)
{
	double bare_ns, span_ns;
	int err = calibration__run(c, CALIBRATE_BARE, m->evicted, m->rounds, m->calls, &bare_ns);

	if (!err)
		err = calibration__run(c, probes->begin, m->evicted, m->rounds, m->calls, &span_ns);
	if (!err)
		*added = span_ns > bare_ns ? (uint64_t)(span_ns - bare_ns) : 0;
	return err;
}

static int median_length(const struct step_call *calls, size_t cnt, uint64_t *length_ns)
{
	auto_free uint64_t *lengths = calloc(cnt + 1, sizeof(*lengths));

	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		lengths[i] = calls[i].end_ns - calls[i].ts_ns;
	*length_ns = median__of(lengths, cnt);
	return 0;
}

static int measure(struct session *s, struct calibration *c, const struct span_probes *probes,
		   struct probe_cost *cost)
{
	uint64_t cold_ns = 0;
	int err = added_ns(c, probes, &warm, &cost->span_total_ns);

	if (!err)
		err = session__drain(s);
	if (!err)
		err = median_length(s->records.log.calls, s->records.log.cnt,
				    &cost->span_inside_ns);
	if (cost->span_inside_ns > cost->span_total_ns)
		cost->span_inside_ns = cost->span_total_ns;
	if (!err)
		err = added_ns(c, probes, &cold, &cold_ns);
	cost->cold_hit_ns = cold_ns / 2 * IN_A_JOB;
	return err ? err : session__drain(s);
}

/* Records spans as for the step thread: window open, spans sent in batches. */
static int measure_recording(struct session *s, struct calibration *c,
			     const struct span_probes *probes, struct probe_cost *cost)
{
	struct pt_ctl *ctl = s->probes.ctl;
	uint32_t pid = (uint32_t)calibration__pid(c);
	int err;

	s->records.log.pid = pid;
	ctl->step_tid = pid;
	ctl->window_open_ns = clock__monotonic_ns();
	ctl->window_open = 1;
	err = measure(s, c, probes, cost);
	ctl->window_open = 0;
	ctl->window_open_ns = 0;
	ctl->step_tid = 0;
	call_log__free(&s->records.log);
	bpf_map__delete_elem(s->probes.skel->maps.threads, &pid, sizeof(pid), 0);
	return err;
}

struct hit_price span_cost__hit(const struct probe_cost *cost, uint64_t apart_ns)
{
	const double least = (double)cost->span_total_ns / 2;
	const double most = fmax((double)cost->cold_hit_ns, least);
	const double filled = 1 - exp(-(double)apart_ns / FILL_NS);
	const double likely = least + (most - least) * filled;

	return (struct hit_price){least, likely, fmax(most, likely * MORE_LIKELY)};
}

/* Any program of a data breakpoint does nothing here. */
static void measure_watch(const struct session *s, struct probe_cost *cost)
{
	struct watchpoint_cost watch = {0};
	size_t i = 0;

	while (i < s->plan.cnt && s->plan.probes[i].group != GROUP_WATCH)
		i++;
	if (i < s->plan.cnt)
		watch = watchpoint__cost(bpf_object__find_program_by_name(
			s->probes.skel->obj, s->plan.probes[i].program));
	cost->watch_ns = watch.hit_ns;
	cost->watch_slows = watch.slows;
}

int span_cost__measure(struct session *s, struct probe_cost *cost)
{
	struct attach_set *set =
		attach_set__new("span cost", attach_method__resolve(s->opts->method), NULL);
	const struct span_probes *probes = s->opts->detail == DETAIL_INNER ? &inside : &returning;
	struct calibration *c = NULL;
	int err = set ? calibration__start(&c) : -ENOMEM;

	if (!err)
		err = attach_span(s, probes, set, calibration__pid(c));
	if (!err)
		err = measure_recording(s, c, probes, cost);
	calibration__stop(c);
	attach_set__free(set);
	measure_watch(s, cost);
	return err;
}

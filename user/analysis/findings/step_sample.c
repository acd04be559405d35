// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/step_sample.h"
#include <stdlib.h>
#include "common/util.h"

static int sum_names(struct stat_map *m, const struct span *roots)
{
	for (const struct span *s = roots; s; s = span__next(s, NULL)) {
		const struct stat_key key = {.id = s->ev.name};
		struct stat *stat;

		if (!s->ev.name || span_kind__is_phase(s->kind) || s->kind == KIND_STEP)
			continue;
		stat = stat_map__at(m, &key);
		if (!stat)
			return -ENOMEM;
		stat->cpu.total += s->self_ns;
	}
	return 0;
}

static int take(struct sampled_step *to, const struct batch *b, uint64_t off_ns)
{
	struct stat_map m = {};
	int err = 0;

	for (size_t i = 0; i < b->track_cnt && !err; i++)
		if (b->tracks[i].track->id == b->step->track)
			err = sum_names(&m, b->tracks[i].roots);
	*to = (struct sampled_step){.cpu_ns = b->step->cpu_ns, .cnt = m.cnt};
	to->names = err ? NULL : calloc(m.cnt + 1, sizeof(*to->names));
	for (size_t i = 0; to->names && i < m.cnt; i++)
		to->names[i] = (struct sampled_name){
			m.rows[i].key.id,
			m.rows[i].stat.cpu.total > off_ns ? m.rows[i].stat.cpu.total - off_ns : 0};
	stat_map__free(&m);
	return to->names ? 0 : -ENOMEM;
}

static int add_even(struct step_sample *s, const struct batch *b, uint64_t off_ns)
{
	size_t kept = 0;

	if (s->even_cnt == SAMPLE_EVEN) {
		for (size_t i = 0; i < SAMPLE_EVEN; i++) {
			if (i % 2)
				free(s->even[i].names);
			else
				s->even[kept++] = s->even[i];
		}
		s->even_cnt = kept;
		s->stride *= 2;
	}
	if (s->seen % s->stride)
		return 0;
	return take(&s->even[s->even_cnt++], b, off_ns);
}

static int add_slow(struct step_sample *s, const struct batch *b, uint64_t off_ns)
{
	struct sampled_step *to = &s->slow[0];

	if (s->slow_cnt < SAMPLE_SLOW)
		return take(&s->slow[s->slow_cnt++], b, off_ns);
	for (size_t i = 1; i < SAMPLE_SLOW; i++)
		if (s->slow[i].cpu_ns < to->cpu_ns)
			to = &s->slow[i];
	if (b->step->cpu_ns <= to->cpu_ns)
		return 0;
	free(to->names);
	return take(to, b, off_ns);
}

int step_sample__add(struct step_sample *s, const struct batch *b, uint64_t off_ns)
{
	int err;

	s->stride = s->stride ? s->stride : 1;
	err = add_even(s, b, off_ns);
	if (!err)
		err = add_slow(s, b, off_ns);
	s->seen++;
	return err;
}

/* ---- what differs ---- */

/* The slow or the other steps of one list, and the times by name. cpu: of the slow steps; gpu: of
 * the others. */
struct sides {
	struct stat_map names;
	double slow_ns, other_ns;
	uint64_t slow_cnt, other_cnt;
};

static int add_side(struct sides *x, const struct sampled_step *step, bool slow)
{
	*(slow ? &x->slow_ns : &x->other_ns) += (double)step->cpu_ns;
	*(slow ? &x->slow_cnt : &x->other_cnt) += 1;
	for (size_t i = 0; i < step->cnt; i++) {
		const struct stat_key key = {.id = step->names[i].name};
		struct stat *stat = stat_map__at(&x->names, &key);

		if (!stat)
			return -ENOMEM;
		*(slow ? &stat->cpu.total : &stat->gpu.total) += step->names[i].self_ns;
	}
	return 0;
}

/* What the slow steps have more than the same number of other steps would. */
static double surplus(const struct sides *x, double slow_ns, double other_ns)
{
	return slow_ns - other_ns * (double)x->slow_cnt / (double)x->other_cnt;
}

static void find_largest(const struct sides *x, uint32_t *name, double *share)
{
	const double whole = surplus(x, x->slow_ns, x->other_ns);

	for (size_t i = 0; i < x->names.cnt && whole > 0; i++) {
		const struct stat *stat = &x->names.rows[i].stat;
		const double part = surplus(x, (double)stat->cpu.total, (double)stat->gpu.total);

		if (part / whole <= *share)
			continue;
		*share = part / whole;
		*name = x->names.rows[i].key.id;
	}
}

int step_sample__differs(const struct step_sample *s, uint64_t limit_ns, uint32_t *name,
			 double *share)
{
	struct sides x = {};
	int err = 0;

	*name = 0;
	*share = 0;
	for (size_t i = 0; i < s->slow_cnt && !err; i++)
		if (s->slow[i].cpu_ns > limit_ns)
			err = add_side(&x, &s->slow[i], true);
	for (size_t i = 0; i < s->even_cnt && !err; i++)
		if (s->even[i].cpu_ns <= limit_ns)
			err = add_side(&x, &s->even[i], false);
	if (!err && x.slow_cnt && x.other_cnt)
		find_largest(&x, name, share);
	stat_map__free(&x.names);
	return err;
}

void step_sample__free(struct step_sample *s)
{
	for (size_t i = 0; i < s->even_cnt; i++)
		free(s->even[i].names);
	for (size_t i = 0; i < s->slow_cnt; i++)
		free(s->slow[i].names);
}

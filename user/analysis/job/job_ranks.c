// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/job_ranks.h"
#include "analysis/analysis.h"
#include "analysis/step_parts.h"
#include "common/util.h"

#define WORTH_A_NOTE 0.02 /* share of the collectives in steps that is worth a note */

struct cell member__cell(const struct member *m)
{
	return m->times.rank >= 0 ? cell__count((uint64_t)m->times.rank)
				  : cell__none("the process was started without a rank");
}

struct cell member__process(const struct member *m)
{
	return m->times.pid ? cell__count(m->times.pid) : cell__none("not recorded");
}

struct counted member__name(const struct member *m)
{
	struct counted name;

	if (m->times.rank >= 0)
		snprintf(name.s, sizeof(name.s), "rank %d", m->times.rank);
	else
		snprintf(name.s, sizeof(name.s), "process %u", m->times.pid);
	return name;
}

static struct cell cpu_cell(const struct recording *r)
{
	const json_t *cpu = json_object_get(recording__summary(r), "cpu");
	json_int_t process = json_integer_value(json_object_get(cpu, "process_ns"));
	json_int_t wall = json_integer_value(json_object_get(cpu, "wall_ns"));

	return wall > 0 && process >= 0 ? cell__share((uint64_t)process, (uint64_t)wall)
					: cell__none("CPU time was not recorded");
}

static const char timer_only[] = "--timer-only does not record it";

static bool is_known(const struct rank_times *t, size_t part)
{
	return !t->timer_only || step_part__is_timed(part);
}

uint64_t member__collective_ns(const struct member *m)
{
	return m->waits.steps ? m->waits.ns / m->waits.steps : 0;
}

uint64_t member__part_ns(const struct job *j, const struct member *m, enum span_kind part)
{
	const struct rank_times *t = &m->times;
	const bool in_steps = j->waits_by == WAITS_IN_STEPS;

	if (part == KIND_KERNEL)
		return rank_times__per_step(t, in_steps ? t->compute_ns : t->launched.compute_ns);
	return rank_times__per_step(t, in_steps ? t->phase_ns[part] : t->host_ns[part]);
}

static int add_rank(const struct job *j, const struct member *m, struct table *t)
{
	const struct rank_times *times = &m->times;
	const char *none = times->steps ? NULL : "no step was recorded";
	struct cell cells[13] = {
		member__cell(m),
		member__process(m),
		cell__count(times->steps),
		none ? cell__none(none) : cell__time(rank_times__per_step(times, times->step_ns)),
	};
	size_t n = 4;

	for (size_t p = 0; p < STEP_PARTS; p++)
		cells[n++] = none ? cell__none(none)
			     : is_known(times, p)
				     ? cell__time(member__part_ns(j, m, step_parts[p].kind))
				     : cell__none(timer_only);
	if (j->waits_by != WAITS_IN_STEPS)
		cells[n++] = cell__time(rank_times__per_step(times, times->blocked_ns));
	if (!none && times->timer_only)
		none = timer_only;
	if (!none && times->coverage.has_gap)
		none = times->coverage.why;
	cells[n++] = none ? cell__none(none) : cell__time(member__collective_ns(m));
	cells[n++] = none		 ? cell__none(none)
		     : times->has_device ? cell__time(member__part_ns(j, m, KIND_KERNEL))
					 : cell__none("no kernels were recorded");
	cells[n++] = cpu_cell(m->recording);
	return table__add_row(t, 0, cells);
}

static bool same_rank_twice(const struct job *j)
{
	for (size_t i = 1; i < j->cnt; i++) /* sorted by rank */
		if (j->members[i].times.rank >= 0 &&
		    j->members[i].times.rank == j->members[i - 1].times.rank)
			return true;
	return false;
}

static bool some_without_rank(const struct job *j)
{
	return j->cnt > 1 && j->members[0].times.rank < 0;
}

bool job__has_gap(const struct job *j)
{
	for (size_t i = 0; i < j->cnt; i++)
		if (j->members[i].times.coverage.has_gap)
			return true;
	return false;
}

bool job__windows_meet(const struct job *j)
{
	uint64_t begin = 0, end = UINT64_MAX;

	for (size_t i = 0; i < j->cnt; i++) {
		const struct rank_times *t = &j->members[i].times;
		const uint64_t offset = j->members[i].wall_offset_ns;

		if (!t->steps)
			continue;
		begin = t->begin_ns + offset > begin ? t->begin_ns + offset : begin;
		end = t->end_ns + offset < end ? t->end_ns + offset : end;
	}
	return begin < end;
}

/* Adds a note if collectives ran on after the last step. So it is if a device is behind its host,
 * or if the window ends by time. */
static int note_behind(const struct job *j, struct table *t)
{
	const struct member *most = &j->members[0];

	for (size_t i = 1; i < j->cnt; i++)
		if (j->members[i].times.behind_ns > most->times.behind_ns)
			most = &j->members[i];
	if (most->times.behind_ns < WORTH_A_NOTE * (double)most->times.collective_ns ||
	    !most->times.behind_ns)
		return 0;
	return table__add_notef(
		t,
		"Collectives of process %u ran on for %s behind its last step. They are in no step "
		"here; the rank's own tables count what its steps launched, whenever it ran.",
		most->times.pid, time_text__of(&j->opts->style, most->times.behind_ns).s);
}

static int add_columns(const struct job *j, struct table *t)
{
	static const struct column first[] = {
		{"rank", "Rank", 0, NULL, CELL_COUNT},
		{"pid", "Process", 0, NULL, CELL_COUNT},
		{"steps", "Steps", 0, NULL, CELL_COUNT},
		{"step", "Step", 0, NULL, CELL_TIME},
		{"dataloader", "Loader", 0, NULL, CELL_TIME},
		{"forward", "Forward", 0, NULL, CELL_TIME},
		{"backward", "Backward", 0, NULL, CELL_TIME},
		{"optimization", "Optim.", 0, NULL, CELL_TIME},
		{"others", "Others", 0, NULL, CELL_TIME},
	};
	static const struct column blocked = {"blocked", "Blocked", 0, NULL, CELL_TIME};
	static const struct column last[] = {
		{"collectives", "Collect.", 0, NULL, CELL_TIME},
		{"compute", "GPU", 0, NULL, CELL_TIME},
		{"cpu", "CPU(%)", 0, NULL, CELL_PERCENT},
	};
	int err = table__add_columns(t, first, ARRAY_SIZE(first));

	if (!err && j->waits_by != WAITS_IN_STEPS)
		err = table__add_column(t, &blocked);
	return err ? err : table__add_columns(t, last, ARRAY_SIZE(last));
}

/* A member whose waits are measured in fewer steps than it has. NULL: none. */
static const struct member *of_fewer_steps(const struct job *j)
{
	for (size_t i = 0; i < j->cnt; i++)
		if (j->members[i].waits.steps < j->members[i].times.steps)
			return &j->members[i];
	return NULL;
}

static int note_fewer_steps(const struct job *j, struct table *t)
{
	const struct member *m = of_fewer_steps(j);

	if (!m)
		return 0;
	return table__add_notef(
		t,
		"Collect., and what the straggler is found by, are of the steps whose collectives "
		"ended in the windows of all ranks: of process %u %llu of %llu.",
		m->times.pid, (unsigned long long)m->waits.steps,
		(unsigned long long)m->times.steps);
}

static int note_times(const struct job *j, struct table *t)
{
	int err;

	if (j->waits_by == WAITS_IN_STEPS)
		return table__add_note(
			t, "Mean times of a step. Collect.: collectives under way; the "
			   "phases are without them. GPU: kernels that belong to none.");
	err = table__add_note(t, "Mean times of a step. The devices are behind their hosts. "
				 "Collect., GPU: collectives and other kernels that a step "
				 "launched, whenever they ran. Blocked: calls that waited for the "
				 "device; the phases are without them.");
	if (err || j->waits_by == WAITS_SAME_ENDS)
		return err ? err : note_fewer_steps(j, t);
	return table__add_note(t,
			       "The ranks' devices are not at the same steps in their windows: no "
			       "collectives of these end together. The straggler is found by "
			       "their mean times; longer windows are surer.");
}

static int note_members(const struct job *j, struct table *t)
{
	int err = 0;

	if (same_rank_twice(j))
		err = table__add_note(t, "A rank appears twice: are these recordings of one job?");
	if (!err && some_without_rank(j))
		err = table__add_note(t, "A process was started without a rank: are these "
					 "recordings of one job?");
	return err;
}

int job_ranks__fill(const struct job *j, struct table *t)
{
	int err = add_columns(j, t);

	for (size_t i = 0; i < j->cnt && !err; i++)
		err = add_rank(j, &j->members[i], t);
	if (!err)
		err = note_times(j, t);
	if (!err && j->waits_by == WAITS_IN_STEPS)
		err = note_behind(j, t);
	if (!err && !job__windows_meet(j))
		err = table__add_note(t, "The windows of the ranks do not overlap: they show "
					 "different steps.");
	if (!err && job__has_gap(j))
		err = table__add_note(t, "Of a rank device times end within the window: its "
					 "collectives are known in part, and its phases are "
					 "without these alone.");
	return err ? err : note_members(j, t);
}

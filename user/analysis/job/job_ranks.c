// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/job/job_ranks.h"
#include "analysis/analysis.h"
#include "analysis/step_parts.h"
#include "common/util.h"

#define WORTH_A_NOTE 0.02 /* of the collectives in steps */

struct cell member__cell(const struct member *m)
{
	return m->times.rank >= 0 ? cell__count((uint64_t)m->times.rank)
				  : cell__none("the process was started without a rank");
}

struct cell member__process(const struct member *m)
{
	return m->times.pid ? cell__count(m->times.pid) : cell__none("not recorded");
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

static int add_rank(const struct member *m, struct table *t)
{
	const struct rank_times *times = &m->times;
	const char *none = times->steps ? NULL : "no step was recorded";
	struct cell cells[12] = {
		member__cell(m),
		member__process(m),
		cell__count(times->steps),
		none ? cell__none(none) : cell__time(rank_times__per_step(times, times->step_ns)),
	};
	size_t n = 4;

	for (size_t p = 0; p < STEP_PARTS; p++)
		cells[n++] = none ? cell__none(none)
			     : is_known(times, p)
				     ? cell__time(rank_times__per_step(
					       times, times->phase_ns[step_parts[p].kind]))
				     : cell__none(timer_only);
	if (!none && times->timer_only)
		none = timer_only;
	if (!none && times->coverage.has_gap)
		none = times->coverage.why;
	cells[n++] = none ? cell__none(none)
			  : cell__time(rank_times__per_step(times, times->collective_ns));
	cells[n++] = none ? cell__none(none)
		     : times->has_device
			     ? cell__time(rank_times__per_step(times, times->compute_ns))
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

/* From the recording's clock, which each host has for itself, to the wall clock. */
static uint64_t wall_offset_ns(const struct recording *r)
{
	const json_t *clock = json_object_get(recording__meta(r), "clock");

	return (uint64_t)(json_integer_value(json_object_get(clock, "realtime_ns")) -
			  json_integer_value(json_object_get(clock, "monotonic_ns")));
}

bool job__windows_meet(const struct job *j)
{
	uint64_t begin = 0, end = UINT64_MAX;

	for (size_t i = 0; i < j->cnt; i++) {
		const struct rank_times *t = &j->members[i].times;
		const uint64_t offset = wall_offset_ns(j->members[i].recording);

		if (!t->steps)
			continue;
		begin = t->begin_ns + offset > begin ? t->begin_ns + offset : begin;
		end = t->end_ns + offset < end ? t->end_ns + offset : end;
	}
	return begin < end;
}

/* Of a device that is behind its host, or of a window by time. */
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

int job_ranks__fill(const struct job *j, struct table *t)
{
	const struct column columns[] = {
		{"rank", "Rank", 0, NULL, CELL_COUNT},
		{"pid", "Process", 0, NULL, CELL_COUNT},
		{"steps", "Steps", 0, NULL, CELL_COUNT},
		{"step", "Step", 0, NULL, CELL_TIME},
		{"dataloader", "Loader", 0, NULL, CELL_TIME},
		{"forward", "Forward", 0, NULL, CELL_TIME},
		{"backward", "Backward", 0, NULL, CELL_TIME},
		{"optimization", "Optim.", 0, NULL, CELL_TIME},
		{"others", "Others", 0, NULL, CELL_TIME},
		{"collectives", "Collect.", 0, NULL, CELL_TIME},
		{"compute", "GPU", 0, NULL, CELL_TIME},
		{"cpu", "CPU(%)", 0, NULL, CELL_PERCENT},
	};
	int err = table__add_columns(t, columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < j->cnt && !err; i++)
		err = add_rank(&j->members[i], t);
	if (!err)
		err = table__add_note(t,
				      "Mean times of a step. Collect.: collectives under way; the "
				      "phases are without them. GPU: kernels that belong to none.");
	if (!err)
		err = note_behind(j, t);
	if (!err && !job__windows_meet(j))
		err = table__add_note(t, "The windows of the ranks do not overlap: they show "
					 "different steps.");
	if (!err && job__has_gap(j))
		err = table__add_note(t, "Of a rank device times end within the window: its "
					 "collectives are known in part, and its phases are "
					 "without these alone.");
	if (!err && same_rank_twice(j))
		err = table__add_note(t, "A rank appears twice: are these recordings of one job?");
	if (!err && some_without_rank(j))
		err = table__add_note(t, "A process was started without a rank: are these "
					 "recordings of one job?");
	return err;
}

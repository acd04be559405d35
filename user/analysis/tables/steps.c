// SPDX-License-Identifier: BSD-2-Clause
/* Steps: one row each, so that slow ones stand out. */
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "analysis/step_parts.h"
#include "common/counted.h"
#include "common/util.h"

struct steps {
	struct step *items;
	size_t cnt, cap;
};

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct steps *s = state;

	return b->step ? ARRAY_PUSH(s->items, s->cnt, s->cap, *b->step) : 0;
}

static int add_columns(struct table *t)
{
	const struct column head[] = {
		{"step", "Step", 6, NULL, CELL_COUNT},
		{"time", "Time", 10, NULL, CELL_TIME},
	};
	const struct column tail[] = {
		{"of_median", "% of Median", 0, NULL, CELL_PERCENT},
		{"slow", "Slow", 0, NULL, CELL_TEXT},
	};
	int err = table__add_columns(t, head, ARRAY_SIZE(head));

	for (size_t p = 0; p < STEP_PARTS && !err; p++)
		err = table__add_column(t, &(struct column){.key = step_parts[p].key,
							    .title = step_parts[p].title,
							    .min_width = 10,
							    .type = CELL_TIME,
							    .same_unit = true});
	return err ? err : table__add_columns(t, tail, ARRAY_SIZE(tail));
}

static struct cell part_cell(const struct analysis *a, const struct step *step, size_t part)
{
	if (a->timer_only && !step_part__is_timed(part))
		return cell__none("--timer-only does not record it");
	return cell__time(step->phase_ns[step_parts[part].kind]);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	const struct steps *s = state;
	uint64_t middle, slow_cnt = 0;
	int err = add_columns(t);

	if (!err)
		err = steps__median(s->items, s->cnt, STEP_WHOLE, &middle);
	for (size_t i = 0; i < s->cnt && !err; i++) {
		const struct step *step = &s->items[i];
		bool slow = (double)step->cpu_ns > STEP_SLOW * (double)middle;
		struct cell cells[4 + STEP_PARTS];
		size_t n = 0;

		cells[n++] = cell__count(step->index);
		cells[n++] = cell__time(step->cpu_ns);
		for (size_t p = 0; p < STEP_PARTS; p++)
			cells[n++] = part_cell(a, step, p);
		cells[n++] = cell__share(step->cpu_ns, middle);
		cells[n++] = cell__text(slow ? "slow" : "");
		slow_cnt += slow;
		err = table__add_row(t, 0, cells);
	}
	if (!err && slow_cnt)
		err = table__add_notef(t, "%llu of %s took more than %.1f times the median.",
				       (unsigned long long)slow_cnt,
				       counted(s->cnt, "step", "steps").s, STEP_SLOW);
	if (!err && s->cnt && a->timer_only)
		err = table__add_note(t, "- is not recorded: " TIMER_ONLY_HAS);
	if (!err && !s->cnt)
		err = table__add_note(t, "No step was recorded.");
	return err;
}

static void clean(void *state)
{
	free(((struct steps *)state)->items);
}

const struct table_impl table_steps = {
	.def = {"steps", "time and phases of each step; marks slow ones", false},
	.title = "Steps",
	.timer = true,
	.state_size = sizeof(struct steps),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};

// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include "analysis/tables/spans_by_name.h"
#include "analysis/order.h"
#include "common/util.h"

uint32_t by_name__group(const struct analysis *a, const struct track *t)
{
	if (a->opts->by_thread)
		return GROUP_TRACK + t->id;
	return analysis__is_main(a, t) ? GROUP_MAIN : GROUP_OTHERS;
}

int by_name__add_event(const struct analysis *a, struct by_name *n, const struct track *t,
		       const struct event *e, uint64_t cpu_ns, uint64_t gpu_ns)
{
	const struct stat_key key = {.group = by_name__group(a, t), .id = e->name};
	struct stat *stat = stat_map__at(&n->map, &key);

	if (!stat)
		return -ENOMEM;
	analysis__count(a, stat, e, cpu_ns, gpu_ns);
	return 0;
}

int by_name__add(const struct analysis *a, struct by_name *n, const struct track *t,
		 const struct span *s)
{
	return by_name__add_event(a, n, t, &s->ev, s->cpu_ns, s->device_ns);
}

static int by_group(const void *x, const void *y)
{
	const struct stat_row *p = *(struct stat_row *const *)x, *q = *(struct stat_row *const *)y;

	return p->key.group < q->key.group ? -1 : p->key.group > q->key.group;
}

int by_name__add_section(const struct analysis *a, struct table *t, uint32_t group,
			 const char *where)
{
	char thread[128] = "All threads merged", title[256];

	if (group >= GROUP_TRACK)
		analysis__thread(a, group - GROUP_TRACK, thread, sizeof(thread));
	snprintf(title, sizeof(title), "%s: %s%s",
		 group == GROUP_OTHERS ? "Other processes" : "Thread", thread, where ? where : "");
	return table__add_section(t, title);
}

static void leave_out_nested(const struct stat_map *nested, uint32_t group, uint64_t *cpu_ns,
			     uint64_t *gpu_ns)
{
	for (size_t i = 0; nested && i < nested->cnt; i++) {
		if (nested->rows[i].key.group != group)
			continue;
		*cpu_ns -= nested->rows[i].stat.cpu.total;
		*gpu_ns -= nested->rows[i].stat.gpu.total;
	}
}

static int fill_section(const struct analysis *a, struct stat_row **rows, size_t cnt,
			const struct by_name_whole *w, struct table *t)
{
	const struct ratio_base base = analysis__base(a);
	uint64_t cpu = base.cpu_ns, gpu = base.gpu_ns;
	int err = by_name__add_section(a, t, rows[0]->key.group, w->where);

	if (w->of_listed) {
		cpu = gpu = 0;
		for (size_t i = 0; i < cnt; i++) {
			cpu += rows[i]->stat.cpu.total;
			gpu += rows[i]->stat.gpu.total;
		}
		leave_out_nested(w->nested, rows[0]->key.group, &cpu, &gpu);
	}
	stat_rows__sort(a, order_both, rows, cnt);
	for (size_t i = 0; i < cnt && !err; i++) {
		struct cell cells[NAME_CELLS + NAME_MORE];

		for (int more = NAME_CELLS; more < NAME_CELLS + NAME_MORE; more++)
			cells[more] = cell__none("not known of a range");
		cells__name(a, cells, analysis__name(a, rows[i]->key.id), &rows[i]->stat, cpu, gpu);
		err = table__add_row(t, 0, cells);
		if (!err && w->details)
			err = w->details(a, w->state, t, rows[i]);
	}
	return err;
}

int by_name__fill(const struct analysis *a, struct by_name *n, const struct by_name_whole *w,
		  struct table *t)
{
	auto_free struct stat_row **rows = calloc(n->map.cnt + 1, sizeof(struct stat_row *));
	int err = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < n->map.cnt; i++)
		rows[i] = &n->map.rows[i];
	if (n->map.cnt)
		qsort(rows, n->map.cnt, sizeof(struct stat_row *), by_group);
	for (size_t i = 0, end; i < n->map.cnt && !err; i = end) {
		for (end = i; end < n->map.cnt; end++)
			if (rows[end]->key.group != rows[i]->key.group)
				break;
		err = fill_section(a, rows + i, end - i, w, t);
	}
	return err ? err : table__note_cut(t, &n->map);
}

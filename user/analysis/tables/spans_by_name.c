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

char *by_name__label(const struct analysis *a, uint32_t name)
{
	const struct name *n = recording__name(a->r, name);
	char *label;

	return asprintf(&label, "%s%s", n && n->category == CAT_EXECUTION ? "engine: " : "",
			analysis__name(a, name)) < 0
		       ? NULL
		       : label;
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

/* The rows of a section: recorded ones, then estimated ones that belong to it. */
static size_t entries_of(const struct analysis *a, struct stat_row **rows, size_t cnt,
			 const struct left_out_rows *estimates, struct stat_entry *out)
{
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++)
		out[n++] = (struct stat_entry){analysis__name(a, rows[i]->key.id), &rows[i]->stat,
					       rows[i]};
	for (size_t i = 0; estimates && i < estimates->cnt; i++)
		if (estimates->items[i].stat.calls)
			out[n++] = (struct stat_entry){estimates->items[i].name,
						       &estimates->items[i].stat, NULL};
	return n;
}

void cells__estimate(const struct analysis *a, struct cell *cells, const char *name,
		     const struct stat *s, struct cell ratio)
{
	enum { CPU_MAX = 4, CPU_MIN = 5, CPU_RATIO = 6, GPU_FIRST = 7 };

	cells__name(a, cells, name, s, 0, 0);
	cells[CPU_MAX] = cells[CPU_MIN] = cell__none("only its average was measured");
	cells[CPU_RATIO] = ratio;
	for (int i = GPU_FIRST; i < NAME_CELLS + NAME_MORE; i++)
		cells[i] = cell__none("not measured in the window");
}

struct section {
	const struct by_name_whole *w;
	uint64_t cpu_ns, gpu_ns; /* the bases of the ratios */
};

static int add_entry(const struct analysis *a, const struct section *s, struct table *t,
		     const struct stat_entry *e)
{
	struct cell cells[NAME_CELLS + NAME_MORE];
	int err;

	if (!e->row) {
		cells__estimate(a, cells, e->name, e->stat,
				cell__share(e->stat->cpu.total, s->cpu_ns));
		return table__add_estimate(t, 0, cells);
	}
	for (int more = NAME_CELLS; more < NAME_CELLS + NAME_MORE; more++)
		cells[more] = cell__none("not known of a range");
	cells__name(a, cells, e->name, e->stat, s->cpu_ns, s->gpu_ns);
	if (s->w->more)
		s->w->more(a, s->w->state, e->row,
			   &cells[a->has_device ? NAME_CELLS : NAME_CELLS_CPU]);
	err = table__add_row(t, 0, cells);
	return err || !s->w->details ? err : s->w->details(a, s->w->state, t, e->row);
}

static struct section whole_of(const struct analysis *a, const struct stat_entry *entries,
			       size_t cnt, uint32_t group, const struct by_name_whole *w)
{
	const struct ratio_base base = analysis__base(a);
	struct section s = {w, base.cpu_ns, base.gpu_ns};
	bool estimated = false;

	if (!w->of_listed)
		return s;
	s.cpu_ns = s.gpu_ns = 0;
	for (size_t i = 0; i < cnt; i++) {
		s.cpu_ns += entries[i].stat->cpu.total;
		s.gpu_ns += entries[i].stat->gpu.total;
		estimated |= !entries[i].row;
	}
	leave_out_nested(w->nested, group, &s.cpu_ns, &s.gpu_ns);
	if (estimated)
		s.cpu_ns -= w->absorbed_ns < s.cpu_ns ? w->absorbed_ns : s.cpu_ns;
	return s;
}

static int fill_section(const struct analysis *a, struct stat_row **rows, size_t cnt,
			uint32_t group, const struct by_name_whole *w, struct table *t)
{
	const struct left_out_rows *estimates = group == GROUP_MAIN ? w->estimates : NULL;
	auto_free struct stat_entry *entries =
		calloc(cnt + (estimates ? estimates->cnt : 0) + 1, sizeof(*entries));
	const size_t n = entries ? entries_of(a, rows, cnt, estimates, entries) : 0;
	struct section s;
	int err = entries ? 0 : -ENOMEM;

	if (!n)
		return err;
	s = whole_of(a, entries, n, group, w);
	stat_entries__sort(a, order_both, entries, n);
	err = by_name__add_section(a, t, group, w->where);
	for (size_t i = 0; i < n && !err; i++)
		err = add_entry(a, &s, t, &entries[i]);
	return err;
}

/* With sections by thread: the thread of estimated calls is unknown, so they have a section of
 * their own. */
static int fill_threadless(const struct analysis *a, const struct left_out_rows *estimates,
			   struct table *t)
{
	auto_free struct stat_entry *entries = calloc(estimates->cnt + 1, sizeof(*entries));
	const size_t n = entries ? entries_of(a, NULL, 0, estimates, entries) : 0;
	int err = entries ? 0 : -ENOMEM;

	if (!n)
		return err;
	stat_entries__sort(a, order_both, entries, n);
	err = table__add_section(t, "Of threads that are not known");
	for (size_t i = 0; i < n && !err; i++) {
		struct cell cells[NAME_CELLS + NAME_MORE];

		cells__estimate(a, cells, entries[i].name, entries[i].stat,
				cell__none("its thread is not known"));
		err = table__add_estimate(t, 0, cells);
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
	if (w->estimates && !a->opts->by_thread &&
	    (!n->map.cnt || rows[0]->key.group != GROUP_MAIN))
		err = fill_section(a, NULL, 0, GROUP_MAIN, w, t);
	for (size_t i = 0, end; i < n->map.cnt && !err; i = end) {
		for (end = i; end < n->map.cnt; end++)
			if (rows[end]->key.group != rows[i]->key.group)
				break;
		err = fill_section(a, rows + i, end - i, rows[i]->key.group, w, t);
	}
	if (!err && w->estimates && a->opts->by_thread)
		err = fill_threadless(a, w->estimates, t);
	return err ? err : table__note_cut(t, &n->map);
}

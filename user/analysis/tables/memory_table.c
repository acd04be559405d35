// SPDX-License-Identifier: BSD-2-Clause
/*
 * Memory Summary: allocations by the innermost event that made them, one section per place. The
 * ranges of struct stat hold bytes here: cpu allocated, gpu freed.
 */
#include <stdlib.h>
#include <string.h>
#include "analysis/analysis.h"
#include "common/counted.h"
#include "common/util.h"

enum source { FRAMEWORK, DRIVER, POOL, SOURCES };
#define MAX_PLACES (SOURCES * 65) /* the host and 64 devices, each for every source of memory */

struct memory {
	struct stat_map rows; /* row keys: group is the place; child 0: allocations, 1: frees */
	struct place {
		bool used;
		bool reported, unreported; /* allocations that came with, and without, the
					      allocator's own totals */
		int64_t held, peak;	   /* in the window, relative to its begin */
		uint64_t peak_allocated, peak_reserved, unknown_frees;
	} places[MAX_PLACES];
};

static enum source source_of(const struct event *e)
{
	if (e->flags & EVENT_POOLED)
		return POOL;
	return e->name ? DRIVER : FRAMEWORK;
}

static uint32_t place_of(const struct event *e, const struct event_memory *m)
{
	bool device = m->device_type && m->device_index >= 0 &&
		      m->device_index < MAX_PLACES / SOURCES - 1;

	return (device ? (uint32_t)m->device_index + 1 : 0) * SOURCES + source_of(e);
}

static void track_peak(struct place *p, const struct event *e, const struct event_memory *m)
{
	p->used = true;
	p->held += e->value;
	if (p->held > p->peak)
		p->peak = p->held;
	p->unknown_frees += !e->value;
	p->unreported |= m->total_allocated == UINT64_MAX;
	if (m->total_allocated != UINT64_MAX) {
		p->reported = true;
		if (m->total_allocated > p->peak_allocated)
			p->peak_allocated = m->total_allocated;
	}
	if (m->total_reserved != UINT64_MAX && m->total_reserved > p->peak_reserved)
		p->peak_reserved = m->total_reserved;
}

/* The event that called cudaMalloc, not cudaMalloc itself. */
static const struct span *caller_of(const struct span *s)
{
	while (s && s->kind == KIND_RUNTIME)
		s = s->parent;
	return s;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct memory *m = state;

	for (size_t i = 0; i < b->memory_cnt; i++) {
		const struct event *e = &b->memory[i];
		const struct event_memory *args = e->args;
		const struct span *s = caller_of(b->memory_spans[i]);
		struct stat_key key = {.group = place_of(e, args), .id = s ? s->ev.name : 0};
		struct stat *stat;

		key.device = s && !s->ev.name ? s->kind + 1 : 0;
		key.child = e->value <= 0;
		track_peak(&m->places[key.group], e, args);
		stat = stat_map__at(&m->rows, &key);
		if (!stat)
			return -ENOMEM;
		stat__add(stat, (uint64_t)llabs(e->value), 0);
	}
	return 0;
}

struct line {
	struct stat_key key;
	uint64_t alloc_cnt, free_cnt, alloc_bytes, free_bytes;
};

static int by_key(const void *x, const void *y)
{
	return memcmp(x, y, sizeof(struct stat_key));
}

static int by_increase(const void *x, const void *y)
{
	const struct line *p = x, *q = y;
	int64_t v = (int64_t)(p->alloc_bytes - p->free_bytes);
	int64_t w = (int64_t)(q->alloc_bytes - q->free_bytes);

	if (p->key.group != q->key.group)
		return p->key.group < q->key.group ? -1 : 1;
	if (v != w)
		return v > w ? -1 : 1;
	if (p->alloc_bytes != q->alloc_bytes)
		return p->alloc_bytes > q->alloc_bytes ? -1 : 1;
	return by_key(&p->key, &q->key);
}

/* Makes one line per name from its allocations and frees. */
static struct line *make_lines(struct memory *m, size_t *cnt)
{
	struct line *lines = calloc(m->rows.cnt + 1, sizeof(*lines));
	struct stat_map index = {};

	*cnt = 0;
	for (size_t i = 0; lines && i < m->rows.cnt; i++) {
		const struct stat_row *r = &m->rows.rows[i];
		struct stat_key key = r->key;
		struct stat *at;
		struct line *l;

		key.child = 0;
		at = stat_map__at(&index, &key);
		if (!at) {
			free(lines);
			lines = NULL;
			break;
		}
		if (!at->calls)
			at->calls = ++*cnt;
		l = &lines[at->calls - 1];
		l->key = key;
		*(r->key.child ? &l->free_cnt : &l->alloc_cnt) = r->stat.calls;
		*(r->key.child ? &l->free_bytes : &l->alloc_bytes) = r->stat.cpu.total;
	}
	stat_map__free(&index);
	if (lines && *cnt)
		qsort(lines, *cnt, sizeof(*lines), by_increase);
	return lines;
}

static const char *line_name(const struct analysis *a, const struct line *l)
{
	if (l->key.id)
		return analysis__name(a, l->key.id);
	return l->key.device ? span_kind__label(l->key.device - 1) : "(outside any event)";
}

static void place_name(uint32_t place, char *buf, size_t size)
{
	if (place / SOURCES)
		snprintf(buf, size, "GPU%u", place / SOURCES - 1);
	else
		snprintf(buf, size, "CPU");
}

static bool is_driver(uint32_t place)
{
	return place % SOURCES == DRIVER;
}

/* Paddle has two kinds: memory that the framework gave out, and memory that it took from the driver
 * for that. A device's memory pool is a third. */
static void section_title(uint32_t place, char *buf, size_t size)
{
	static const char *const titles[2][SOURCES] = {
		{[FRAMEWORK] = "", [DRIVER] = ", Pinned", [POOL] = ", Pool"},
		{[FRAMEWORK] = ", Allocated", [DRIVER] = ", Reserved", [POOL] = ", Pool"},
	};
	char name[16];

	place_name(place, name, sizeof(name));
	snprintf(buf, size, "Place: %s%s", name, titles[place >= SOURCES][place % SOURCES]);
}

struct bytes_text {
	char s[64];
};

/* "3.06 KiB (3136 bytes)" */
static struct bytes_text bytes_text(int64_t bytes)
{
	struct bytes_text text;
	char unit[32];

	table__format_bytes(bytes, unit, sizeof(unit));
	if (bytes > -1024 && bytes < 1024)
		snprintf(text.s, sizeof(text.s), "%lld bytes", (long long)bytes);
	else
		snprintf(text.s, sizeof(text.s), "%s (%lld bytes)", unit, (long long)bytes);
	return text;
}

static int add_peak(struct table *t, const struct memory *m, uint32_t i)
{
	const struct place *p = &m->places[i];
	const bool has_allocator =
		!is_driver(i) || (m->places[i - 1].reported && !m->places[i - 1].unreported);
	char name[16];

	if (i % SOURCES == POOL)
		return 0;
	place_name(i, name, sizeof(name));
	/* The host has several allocators. The allocator of shared memory reports only its own
	 * total. */
	if (p->reported && !p->unreported)
		return table__add_notef(t,
					"%s: Peak Allocated Memory: %s, Peak Reserved Memory: %s",
					name, bytes_text((int64_t)p->peak_allocated).s,
					bytes_text((int64_t)p->peak_reserved).s);
	if (is_driver(i) && has_allocator)
		return 0; /* the allocator reported the peak, counted from the process's begin */
	return table__add_notef(t,
				"%s: Peak %s Memory: %s above what was %s when the window opened",
				name, is_driver(i) ? "Reserved" : "Allocated",
				bytes_text(p->peak).s, is_driver(i) ? "reserved" : "allocated");
}

static int add_peaks(struct table *t, const struct memory *m)
{
	int err = 0;

	for (uint32_t i = 0; i < MAX_PLACES && !err; i++) {
		const struct place *p = &m->places[i];
		char name[16];

		if (!p->used)
			continue;
		place_name(i, name, sizeof(name));
		err = add_peak(t, m, i);
		if (!err && p->unknown_frees)
			err = table__add_notef(t,
					       "%s: the size of %s is not known: allocated before "
					       "the window",
					       name, counted(p->unknown_frees, "free", "frees").s);
	}
	return err;
}

static int add_columns(struct table *t)
{
	const struct column columns[] = {
		{"name", "Name", 50, NULL, CELL_TEXT, .max_width = 90},
		{"alloc_cnt", "Allocation Count", 15, NULL, CELL_COUNT, 2, .brief = "Allocs"},
		{"free_cnt", "Free Count", 15, NULL, CELL_COUNT, 3, .brief = "Frees"},
		{"alloc", "Allocation Size", 15, NULL, CELL_BYTES, .brief = "Allocated"},
		{"free", "Free Size", 15, NULL, CELL_BYTES, 1, .brief = "Freed"},
		{"increase", "Increased Size", 15, NULL, CELL_BYTES, .brief = "Increase"},
	};
	int err = table__add_columns(t, columns, ARRAY_SIZE(columns));

	return err;
}

static bool any_used(const struct memory *m, enum source source)
{
	for (uint32_t i = source; i < MAX_PLACES; i += SOURCES)
		if (m->places[i].used)
			return true;
	return false;
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	size_t cnt;
	auto_free struct line *lines = make_lines(state, &cnt);
	int err = lines ? add_columns(t) : -ENOMEM;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct line *l = &lines[i];
		int64_t increase = (int64_t)(l->alloc_bytes - l->free_bytes);
		struct cell cells[] = {
			cell__text(line_name(a, l)),
			cell__count(l->alloc_cnt),
			cell__count(l->free_cnt),
			cell__bytes((int64_t)l->alloc_bytes),
			cell__bytes((int64_t)l->free_bytes),
			cell__bytes(increase),
		};
		char title[48];

		section_title(l->key.group, title, sizeof(title));
		if (!i || lines[i - 1].key.group != l->key.group)
			err = table__add_section(t, title);
		if (!err)
			err = table__add_row(t, 0, cells);
	}
	if (!err && !cnt)
		err = table__add_note(t, "No allocations were recorded; --profile-memory records "
					 "them.");
	if (!err && any_used(state, DRIVER))
		err = table__add_note(t, "Reserved: taken from the driver (cudaMalloc); the "
					 "framework allocates out of it.");
	if (!err && any_used(state, POOL))
		err = table__add_note(t, "Pool: given by the device's memory pool "
					 "(cudaMallocAsync), which takes from the driver what it "
					 "lacks.");
	return err ? err : add_peaks(t, state);
}

static void clean(void *state)
{
	stat_map__free(&((struct memory *)state)->rows);
}

const struct table_impl table_memory = {
	.def = {"memory", "allocations and frees by the event that made them", true, NULL, USES_OP},
	.title = "Memory Summary",
	.state_size = sizeof(struct memory),
	.visit = visit,
	.fill = fill,
	.clean = clean,
};

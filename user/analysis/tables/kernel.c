// SPDX-License-Identifier: BSD-2-Clause
/* Kernel Summary: what ran on the devices, by name, and how well it used them. */
#include <stdlib.h>
#include <string.h>
#include "analysis/tables/by_stream.h"
#include "common/util.h"

struct fill {
	double weight_ns, occupancy_ns, blocks_ns; /* sums weighted by duration */
	uint32_t registers, shared_bytes;	   /* the largest */
	bool launched;				   /* its launch parameters are known */
	uint64_t delay_ns, delay_cnt; /* from the end of the launching call to the kernel's begin */
};

struct kernels {
	struct stat_map map; /* gpu: durations */
	struct fill *fills;  /* by row of the map */
	size_t fill_cnt, fill_cap;
};

static void add_fill(const struct analysis *a, struct fill *f, const struct track *t,
		     const struct span *s)
{
	const struct device_info *device = device_infos__at(&a->devices, t->device);
	const uint64_t launch_end = s->launch ? s->launch->ev.ts_ns + s->launch->ev.dur_ns : 0;
	struct event_kernel k;
	struct kernel_fill fill;

	if (s->launch) {
		f->delay_ns += s->ev.ts_ns > launch_end ? s->ev.ts_ns - launch_end : 0;
		f->delay_cnt++;
	}
	if (s->ev.args_len < sizeof(k))
		return;
	memcpy(&k, s->ev.args, sizeof(k));
	f->launched = true;
	if (k.registers > f->registers)
		f->registers = k.registers;
	if (k.static_shared_bytes + k.dynamic_shared_bytes > f->shared_bytes)
		f->shared_bytes = k.static_shared_bytes + k.dynamic_shared_bytes;
	if (!kernel_fill__of(device, &k, &fill))
		return;
	f->weight_ns += (double)s->ev.dur_ns;
	f->occupancy_ns += fill.occupancy * (double)s->ev.dur_ns;
	f->blocks_ns += fill.blocks_per_sm * (double)s->ev.dur_ns;
}

static int add_kernel(const struct analysis *a, struct kernels *k, const struct track *t,
		      const struct span *s)
{
	const struct stat_key key = {.group = by_stream__group(a, t), .id = s->ev.name};
	struct stat *stat = stat_map__at(&k->map, &key);
	const struct fill none = {};

	if (!stat)
		return -ENOMEM;
	stat__add(stat, 0, s->ev.dur_ns);
	while (k->fill_cnt < k->map.cnt)
		if (ARRAY_PUSH(k->fills, k->fill_cnt, k->fill_cap, none))
			return -ENOMEM;
	add_fill(a, &k->fills[stat_map__index(&k->map, stat)], t, s);
	return 0;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		const struct track_batch *t = &b->tracks[i];

		if (t->track->kind != TRACK_DEVICE)
			continue;
		for (const struct span *s = t->roots; s && !err; s = s->next_sibling)
			if (s->kind == KIND_KERNEL)
				err = add_kernel(a, state, t->track, s);
	}
	return err;
}

static int add_columns(struct table *t)
{
	const struct column more[] = {
		{.key = "occupancy",
		 .title = "Occup. (%)",
		 .brief = "Occ.%",
		 .rank = 4,
		 .type = CELL_PERCENT},
		{.key = "blocks_per_sm",
		 .title = "Blocks/SM",
		 .brief = "Blk/SM",
		 .rank = 5,
		 .type = CELL_DECIMAL},
		{.key = "registers",
		 .title = "Registers",
		 .brief = "Regs",
		 .rank = 7,
		 .type = CELL_COUNT},
		{.key = "shared",
		 .title = "Shared Memory",
		 .brief = "Shared",
		 .rank = 8,
		 .type = CELL_BYTES},
		{.key = "queue_delay_avg",
		 .title = "Queue Delay Avg",
		 .brief = "Queued",
		 .rank = 6,
		 .type = CELL_TIME},
	};
	int err = table__add_call_columns(t, 24);

	if (!err)
		err = table__add_time_columns(t, "GPU", "gpu");
	if (!err)
		err = table__add_columns(t, more, ARRAY_SIZE(more));
	return err;
}

static int add_row(const struct analysis *a, void *state, struct table *t,
		   const struct stat_row *row, uint64_t whole)
{
	const struct kernels *k = state;
	const struct fill *f = &k->fills[row - k->map.rows];
	const char *no_device = "the device's properties were not recorded";
	const char *no_launch = "how it was launched was not recorded";
	struct cell cells[12] = {cell__text(analysis__name(a, row->key.id)),
				 cell__count(row->stat.calls)};

	cells__time(cells + 2, &row->stat.gpu, row->stat.calls, whole);
	cells[7] = cells[8] = cell__none(f->launched ? no_device : no_launch);
	cells[9] = cells[10] = cell__none(no_launch);
	cells[11] = cell__none("its launch was not recorded");
	if (f->weight_ns > 0) {
		cells[7] = cell__percent(100 * f->occupancy_ns / f->weight_ns);
		cells[8] = cell__decimal(f->blocks_ns / f->weight_ns);
	}
	if (f->launched) {
		cells[9] = cell__count(f->registers);
		cells[10] = cell__bytes(f->shared_bytes);
	}
	if (f->delay_cnt)
		cells[11] = cell__time(f->delay_ns / f->delay_cnt);
	return table__add_row(t, 0, cells);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	struct kernels *k = state;
	int err = add_columns(t);

	if (!err)
		err = by_stream__fill(a, &k->map, order_gpu, t, add_row, k);
	if (!err && k->map.cnt)
		err = stat_rows__describe_order(a, order_gpu, t);
	if (!err && k->map.cnt)
		err = table__as_legend(
			t, table__add_notef(t,
					    "Occupancy and blocks per multiprocessor are estimated "
					    "from how the "
					    "kernels were launched. Queue delay: from the "
					    "launching call's end to the "
					    "kernel's begin. GPU columns: the whole time of each "
					    "kernel, whenever it "
					    "ran. Ratios: of all kernels%s.",
					    a->opts->by_device ? " of the section" : ""));
	return err;
}

static void clean(void *state)
{
	struct kernels *k = state;

	stat_map__free(&k->map);
	free(k->fills);
}

static const char *why_empty(const struct analysis *a)
{
	return a->has_device ? "No kernel was seen on a device." : "No device time was recorded.";
}

const struct table_impl table_kernel = {
	.def = {"kernel", "kernels by name, and how they fill the device", true, order_gpu,
		USES_BY_DEVICE | USES_OP},
	.title = "Kernel Summary",
	.rests_on_device = true,
	.counts_stepless = true,
	.state_size = sizeof(struct kernels),
	.visit = visit,
	.fill = fill,
	.why_empty = why_empty,
	.clean = clean,
};

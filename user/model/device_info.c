// SPDX-License-Identifier: BSD-2-Clause
#include "model/device_info.h"
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "common/json_number.h"
#include "common/util.h"

#define DEVICES_MAX 256

static const struct field {
	const char *key;
	size_t offset;
} fields[] = {
#define FIELD(name) {#name, offsetof(struct device_info, name)}
	FIELD(major),
	FIELD(minor),
	FIELD(multiprocessors),
	FIELD(threads_per_multiprocessor),
	FIELD(registers_per_multiprocessor),
	FIELD(shared_per_multiprocessor),
	FIELD(blocks_per_multiprocessor),
	FIELD(threads_per_block),
	FIELD(registers_per_block),
	FIELD(shared_per_block),
	FIELD(shared_per_block_optin),
	FIELD(shared_reserved_per_block),
	FIELD(warp_size),
	FIELD(link_mts),
	FIELD(link_width),
#undef FIELD
};

static void read_device(const json_t *json, struct device_info *to)
{
	const char *name = json_string_value(json_object_get(json, "name"));

	snprintf(to->name, sizeof(to->name), "%s", name && *name ? name : "GPU");
	to->memory_bytes = json__positive(json, "memory_bytes");
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		uint64_t v = json__positive(json, fields[i].key);
		uint32_t value = v > UINT32_MAX ? 0 : (uint32_t)v;

		memcpy((char *)to + fields[i].offset, &value, sizeof(value));
	}
}

int device_infos__load(const struct recording *r, struct device_infos *out)
{
	const json_t *device = json_object_get(recording__summary(r), "device");
	const json_t *list = json_object_get(device, "devices");

	*out = (struct device_infos){.items = calloc(DEVICES_MAX, sizeof(*out->items))};
	if (!out->items)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);
		uint64_t id = json__positive(item, "id");

		if (id >= DEVICES_MAX)
			continue;
		read_device(item, &out->items[id]);
		if (id >= out->cnt)
			out->cnt = id + 1;
	}
	return 0;
}

void device_infos__free(struct device_infos *infos)
{
	free(infos->items);
	*infos = (struct device_infos){};
}

const struct device_info *device_infos__at(const struct device_infos *infos, int64_t device)
{
	if (device < 0 || (uint64_t)device >= infos->cnt || !*infos->items[device].name)
		return NULL;
	return &infos->items[device];
}

/* PCI Express Base Specification: the first two generations use 8b/10b, later ones 128b/130b. The
 * sixth uses flits of 256 bytes, 242 of them data. */
double device_info__link_rate(const struct device_info *device)
{
	const double encoding = device->link_mts <= 5000    ? 8.0 / 10
				: device->link_mts <= 32000 ? 128.0 / 130
							    : 242.0 / 256;

	return (double)device->link_mts * 1e6 * device->link_width / 8 * encoding;
}

/* ---- occupancy ---- */

#define REGISTER_UNIT 256 /* a warp gets registers in these units, from compute capability 3 on */
#define PARTITIONS    4	  /* parts of a multiprocessor, each with registers of its own */

static uint64_t round_up(uint64_t n, uint64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t blocks_by_registers(const struct device_info *d, const struct event_kernel *k,
				    uint64_t warps)
{
	uint64_t per_warp = round_up((uint64_t)k->registers * d->warp_size, REGISTER_UNIT);

	if (!per_warp || !d->registers_per_multiprocessor)
		return UINT64_MAX;
	return d->registers_per_multiprocessor / PARTITIONS / per_warp * PARTITIONS / warps;
}

static uint64_t blocks_by_shared(const struct device_info *d, const struct event_kernel *k)
{
	uint64_t unit = d->major >= 8 ? 128 : 256;
	uint64_t bytes = (uint64_t)k->static_shared_bytes + k->dynamic_shared_bytes +
			 d->shared_reserved_per_block;

	if (!bytes || !d->shared_per_multiprocessor)
		return UINT64_MAX;
	return d->shared_per_multiprocessor / round_up(bytes, unit);
}

bool kernel_fill__of(const struct device_info *device, const struct event_kernel *k,
		     struct kernel_fill *out)
{
	double threads = (double)k->block[0] * k->block[1] * k->block[2];
	double blocks = (double)k->grid[0] * k->grid[1] * k->grid[2];
	uint64_t warps, fit;

	if (!device || !device->multiprocessors || !device->warp_size ||
	    !device->threads_per_multiprocessor || threads < 1 || threads > 4096 || blocks < 1)
		return false;
	warps = round_up((uint64_t)threads, device->warp_size) / device->warp_size;
	fit = device->threads_per_multiprocessor / device->warp_size / warps;
	fit = least(fit, blocks_by_registers(device, k, warps));
	fit = least(fit, blocks_by_shared(device, k));
	if (device->blocks_per_multiprocessor)
		fit = least(fit, device->blocks_per_multiprocessor);
	out->blocks_per_sm = blocks / device->multiprocessors;
	out->warps_per_sm = out->blocks_per_sm * threads / device->warp_size;
	out->occupancy = (out->blocks_per_sm < (double)fit ? out->blocks_per_sm : (double)fit) *
			 threads / device->threads_per_multiprocessor;
	return true;
}

/* ---- collectives ---- */

bool kernel_name__is_collective(const char *name)
{
	static const char *const libraries[] = {"nccl", "xccl", "rccl", "msccl"};
	size_t len = strcspn(name, "(<");

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		const char *at = strstr(name, libraries[i]);

		if (at && at < name + len && strstr(at, "Kernel") &&
		    (at == name || at[-1] == ' ' || at[-1] == ':'))
			return true;
	}
	return false;
}

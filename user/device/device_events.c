// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_events.h"
#include "common/util.h"
#include "device/pci_link.h"
#include <string.h>

#define DEVICES_MAX 256
#define NO_DEVICE   UINT32_MAX
#define NO_STREAM   UINT32_MAX

struct context {
	uint32_t context, device;
};

struct device_events {
	uint32_t pid;
	struct device_names *names;
	struct recording_writer *w;
	struct device_clock clock;
	struct context *contexts; /* by context: its device */
	size_t context_cnt, context_cap;
	struct shim_device devices[DEVICES_MAX];
	size_t device_cnt;
	uint64_t overhead_ns;
};

/* ---- clock ---- */

uint64_t device_clock__monotonic(const struct device_clock *k, uint64_t cupti_ns)
{
	double slope = 1, since = (double)(int64_t)(cupti_ns - k->begin.cupti_ns);

	if (k->identity)
		return cupti_ns;
	if (k->end.cupti_ns > k->begin.cupti_ns)
		slope = (double)(int64_t)(k->end.mono_ns - k->begin.mono_ns) /
			(double)(k->end.cupti_ns - k->begin.cupti_ns);
	return k->begin.mono_ns + (uint64_t)(int64_t)(since * slope);
}

/* ---- life ---- */

struct device_events *device_events__new(uint32_t pid, struct device_names *names)
{
	struct device_events *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->pid = pid;
	d->names = names;
	d->clock.identity = true;
	return d;
}

void device_events__free(struct device_events *d)
{
	if (!d)
		return;
	free(d->contexts);
	free(d);
}

void device_events__set_writer(struct device_events *d, struct recording_writer *w)
{
	d->w = w;
	d->overhead_ns = 0;
	device_names__forget_ids(d->names);
}

void device_events__set_clock(struct device_events *d, const struct device_clock *clock)
{
	d->clock = *clock;
}

uint64_t device_events__monotonic(const struct device_events *d, uint64_t cupti_ns)
{
	return device_clock__monotonic(&d->clock, cupti_ns);
}

/* ---- names ---- */

/* CUPTI's numbers of memory kinds. */
enum { MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2 };

static const char *memory_name(uint8_t kind)
{
	static const char *const names[] = {"Unknown",	     "Pageable",      "Pinned",
					    "Device",	     "Array",	      "Managed",
					    "Device Static", "Managed Static"};

	return names[kind < ARRAY_SIZE(names) ? kind : 0];
}

static uint32_t copy_name(struct device_events *d, const struct shim_copy *r)
{
	static const char *const kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
	char text[96];

	snprintf(text, sizeof(text), "Memcpy %s (%s -> %s)",
		 kinds[r->kind < ARRAY_SIZE(kinds) ? r->kind : 0], memory_name(r->source),
		 memory_name(r->destination));
	return recording_writer__name(d->w, CAT_MEMCPY, text, NULL);
}

static uint32_t set_name(struct device_events *d, const struct shim_set *r)
{
	char text[64];

	snprintf(text, sizeof(text), "Memset (%s)",
		 memory_name(r->memory > 255 ? 0 : (uint8_t)r->memory));
	return recording_writer__name(d->w, CAT_MEMSET, text, NULL);
}

static uint32_t sync_name(struct device_events *d, const struct shim_sync *r)
{
	static const char *const names[] = {"Sync", "Event Sync", "Stream Wait Event",
					    "Stream Sync", "Context Sync"};

	return recording_writer__name(d->w, CAT_SYNC,
				      names[r->type < ARRAY_SIZE(names) ? r->type : 0], NULL);
}

/* ---- tracks ---- */

int device_events__learn(struct device_events *d, const struct shim_activity *a)
{
	const struct context c = {a->context, a->device};

	if (a->device == NO_DEVICE)
		return 0;
	for (size_t i = 0; i < d->context_cnt; i++)
		if (d->contexts[i].context == a->context)
			return 0;
	return d->context_cnt < DEVICES_MAX
		       ? ARRAY_PUSH(d->contexts, d->context_cnt, d->context_cap, c)
		       : 0;
}

static uint32_t context_device(const struct device_events *d, uint32_t context)
{
	for (size_t i = 0; i < d->context_cnt; i++)
		if (d->contexts[i].context == context)
			return d->contexts[i].device;
	return NO_DEVICE;
}

static uint32_t stream_track(struct device_events *d, uint32_t device, uint32_t stream)
{
	struct track t = {.kind = TRACK_DEVICE,
			  .pid = d->pid,
			  .device = (int32_t)(device & INT32_MAX),
			  .stream = STREAM_ALL};

	if (stream != NO_STREAM)
		t.stream = stream ? stream : 1;
	return recording_writer__track(d->w, &t);
}

/* ---- events ---- */

static int put(struct device_events *d, const struct shim_activity *a, uint32_t device,
	       struct event *e)
{
	uint64_t end_ns = device_clock__monotonic(&d->clock, a->end_ns);

	e->type = EVENT_DEVICE;
	e->ts_ns = device_clock__monotonic(&d->clock, a->start_ns);
	e->dur_ns = end_ns > e->ts_ns ? end_ns - e->ts_ns : 0;
	e->id = a->correlation;
	e->end = END_OBJECT;
	e->track = stream_track(d, device, a->stream);
	return e->name && e->track ? recording_writer__event(d->w, e) : -ENOMEM;
}

static int write_kernel(struct device_events *d, const struct shim_kernel *r, uint16_t flags)
{
	const struct event_kernel args = {.grid = {r->grid[0], r->grid[1], r->grid[2]},
					  .block = {r->block[0], r->block[1], r->block[2]},
					  .registers = r->registers,
					  .static_shared_bytes = r->static_shared,
					  .dynamic_shared_bytes = r->dynamic_shared,
					  .local_bytes = r->local_bytes,
					  .context = r->a.context,
					  .graph = r->a.graph};
	struct event e = {.args = &args, .args_len = sizeof(args), .flags = flags};

	e.name = device_names__id(d->names, d->w, r->name);
	if (!e.name)
		e.name = recording_writer__name(d->w, CAT_KERNEL, "unknown kernel", NULL);
	return put(d, &r->a, r->a.device, &e);
}

static int write_copy(struct device_events *d, const struct shim_copy *r, uint16_t flags)
{
	struct event e = {.name = copy_name(d, r), .value = (int64_t)r->bytes, .flags = flags};

	return put(d, &r->a, r->a.device, &e);
}

static int write_set(struct device_events *d, const struct shim_set *r, uint16_t flags)
{
	struct event e = {.name = set_name(d, r), .value = (int64_t)r->bytes, .flags = flags};

	return put(d, &r->a, r->a.device, &e);
}

int device_events__sync(struct device_events *d, const struct shim_sync *r,
			const struct event_record *record)
{
	const struct event_sync args = {.record = record ? record->correlation : EVENT_NO_ID,
					.stream = record ? (int64_t)record->stream : -1,
					.event = r->type <= SYNC_STREAM_WAIT ? r->event : 0,
					.context = r->a.context};
	uint32_t device = context_device(d, r->a.context);
	struct event e = {.args = &args, .args_len = sizeof(args)};

	if (device == NO_DEVICE)
		return 0;
	e.name = sync_name(d, r);
	return put(d, &r->a, device, &e);
}

#define AS(type) ((const struct type *)a)

int device_events__activity(struct device_events *d, const struct shim_activity *a, bool is_before)
{
	const uint16_t flags = is_before ? EVENT_CUT_BEGIN : 0;

	switch (a->h.kind) {
	case SHIM_REC_KERNEL:
		return write_kernel(d, AS(shim_kernel), flags);
	case SHIM_REC_COPY:
		return write_copy(d, AS(shim_copy), flags);
	case SHIM_REC_SET:
		return write_set(d, AS(shim_set), flags);
	case SHIM_REC_OVERHEAD:
		d->overhead_ns += a->end_ns > a->start_ns ? a->end_ns - a->start_ns : 0;
		return 0;
	default:
		return 0;
	}
}

int device_events__call(struct device_events *d, uint32_t track, const struct shim_call *call,
			uint64_t open_ns, uint64_t close_ns)
{
	uint64_t begin = call->begin_ns < open_ns ? open_ns : call->begin_ns;
	uint64_t end = call->end_ns > close_ns ? close_ns : call->end_ns;
	struct event e = {.type = EVENT_SPAN,
			  .ts_ns = begin,
			  .dur_ns = end - begin,
			  .id = call->correlation,
			  .track = track,
			  .end = END_RETURN,
			  .flags = EVENT_UNPROBED};

	e.flags |= (begin != call->begin_ns ? EVENT_CUT_BEGIN : 0) |
		   (end != call->end_ns ? EVENT_CUT_END : 0);
	e.name = device_names__id(d->names, d->w, SHIM_API_KEY(call->domain, call->api));
	if (!e.name)
		e.name = recording_writer__name(
			d->w, call->domain == SHIM_RUNTIME ? CAT_RUNTIME : CAT_DRIVER,
			"unknown call", NULL);
	return e.name ? recording_writer__event(d->w, &e) : -ENOMEM;
}

int device_events__memory(struct device_events *d, uint32_t track, const struct shim_memory *r)
{
	const bool on_host = r->memory == MEMORY_PAGEABLE || r->memory == MEMORY_PINNED;
	const struct event_memory args = {.total_allocated = UINT64_MAX,
					  .total_reserved = UINT64_MAX,
					  .device_type = !on_host,
					  .device_index =
						  (int32_t)(on_host ? 0 : r->a.device & INT32_MAX)};
	const int64_t bytes = (int64_t)(r->bytes & INT64_MAX);
	struct event e = {.type = EVENT_MEMORY,
			  .ts_ns = device_clock__monotonic(&d->clock, r->a.start_ns),
			  .id = r->address,
			  .value = r->release ? -bytes : bytes,
			  .track = track,
			  .flags = r->pooled ? EVENT_POOLED : 0,
			  .args = &args,
			  .args_len = sizeof(args)};

	e.name = recording_writer__name(
		d->w, CAT_ALLOCATION, memory_name(r->memory > 255 ? 0 : (uint8_t)r->memory), NULL);
	return e.name ? recording_writer__event(d->w, &e) : -ENOMEM;
}

int device_events__range(struct device_events *d, uint32_t track, const struct device_range *range,
			 uint64_t open_ns, uint64_t close_ns)
{
	uint64_t begin = device_clock__monotonic(&d->clock, range->begin_ns), end = close_ns;
	struct event e = {.id = EVENT_NO_ID, .track = track, .end = END_OBJECT};

	if (range->end_ns)
		end = device_clock__monotonic(&d->clock, range->end_ns);
	if (begin >= close_ns || end < open_ns || end < begin)
		return 0;
	e.type = range->begin_ns == range->end_ns ? EVENT_INSTANT
		 : range->nests			  ? EVENT_SPAN
						  : EVENT_ASYNC;
	e.flags = EVENT_UNPROBED | (begin < open_ns ? EVENT_CUT_BEGIN : 0) |
		  (!range->end_ns || end > close_ns ? EVENT_CUT_END : 0);
	e.ts_ns = begin < open_ns ? open_ns : begin;
	e.dur_ns = (end > close_ns ? close_ns : end) - e.ts_ns;
	e.name = device_names__id(d->names, d->w, range->name);
	if (!e.name)
		e.name = recording_writer__name(d->w, CAT_USER, "unnamed range", NULL);
	return e.name ? recording_writer__event(d->w, &e) : -ENOMEM;
}

/* ---- summary ---- */

int device_events__device(struct device_events *d, const struct shim_device *device)
{
	struct shim_device *to = &d->devices[device->device % DEVICES_MAX];

	if (device->device >= DEVICES_MAX)
		return 0;
	*to = *device;
	to->name[sizeof(to->name) - 1] = '\0';
	for (char *p = to->name; *p; p++)
		*p = *p >= ' ' && *p <= '~' ? *p : '?';
	if (d->device_cnt <= device->device)
		d->device_cnt = device->device + 1;
	return 0;
}

static void add_link(const struct shim_device *v, json_t *into)
{
	char address[PCI_ADDRESS_MAX];
	struct pci_link link;

	if (!v->has_pci)
		return;
	pci_address(v->pci_domain, v->pci_bus, v->pci_device, address);
	json_object_set_new(into, "pci", json_string(address));
	if (pci_link__read("/sys", address, &link))
		return;
	json_object_set_new(into, "link_mts", json_integer(link.mts));
	json_object_set_new(into, "link_width", json_integer(link.width));
	json_object_set_new(into, "link_max_mts", json_integer(link.max_mts));
	json_object_set_new(into, "link_max_width", json_integer(link.max_width));
}

static json_t *device_json(const struct shim_device *v)
{
	json_t *json = json_pack(
		"{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I,"
		" s:I}",
		"id", (json_int_t)v->device, "name", v->name, "memory_bytes",
		(json_int_t)v->memory_bytes, "major", (json_int_t)v->major, "minor",
		(json_int_t)v->minor, "multiprocessors", (json_int_t)v->multiprocessors,
		"threads_per_multiprocessor", (json_int_t)v->threads_per_multiprocessor,
		"registers_per_multiprocessor", (json_int_t)v->registers_per_multiprocessor,
		"shared_per_multiprocessor", (json_int_t)v->shared_per_multiprocessor,
		"threads_per_block", (json_int_t)v->threads_per_block, "warp_size",
		(json_int_t)v->warp_size, "registers_per_block", (json_int_t)v->registers_per_block,
		"shared_per_block", (json_int_t)v->shared_per_block, "shared_per_block_optin",
		(json_int_t)v->shared_per_block_optin, "blocks_per_multiprocessor",
		(json_int_t)v->blocks_per_multiprocessor, "shared_reserved_per_block",
		(json_int_t)v->shared_reserved_per_block);

	if (json)
		add_link(v, json);
	return json;
}

int device_events__summary(const struct device_events *d, json_t *into)
{
	json_t *devices = json_array();

	for (size_t i = 0; i < d->device_cnt; i++)
		if (d->devices[i].h.kind)
			json_array_append_new(devices, device_json(&d->devices[i]));
	if (json_object_set_new(into, "devices", devices))
		return -ENOMEM;
	return json_object_set_new(into, "cupti_overhead_ns",
				   json_integer((json_int_t)d->overhead_ns))
		       ? -ENOMEM
		       : 0;
}

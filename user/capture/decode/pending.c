// SPDX-License-Identifier: BSD-2-Clause
#include "capture/decode/pending.h"
#include "common/util.h"
#include "recording/event.h"
#include <string.h>
#include <uthash.h>

#define MAX_ARGS   65536
#define MAX_ASYNC  65536
#define MAX_ALLOCS 4000000 /* live blocks; about 300 MB at worst */

struct key {
	uint64_t a, b;
};

struct entry {
	struct key key;
	UT_hash_handle hh;
};

struct args_entry {
	struct entry e;
	uint32_t len;
	char bytes[];
};

struct full_name_entry {
	struct entry e;
	struct pt_rec_full_name r;
};

struct async_entry {
	struct entry e;
	struct pending_async begin;
};

struct alloc_entry {
	struct entry e;
	uint64_t bytes;
};

struct pending {
	struct entry *args, *full_names, *asyncs, *allocs;
	struct args_entry *taken; /* handed out; the next call frees it */
	struct full_name_entry *taken_full_name;
};

struct pending *pending__new(void)
{
	return calloc(1, sizeof(struct pending));
}

static void table_clear(struct entry **table)
{
	struct entry *item, *next;

	HASH_ITER(hh, *table, item, next)
	{
		HASH_DEL(*table, item);
		free(item);
	}
}

void pending__free(struct pending *p)
{
	if (!p)
		return;
	table_clear(&p->args);
	table_clear(&p->full_names);
	table_clear(&p->asyncs);
	table_clear(&p->allocs);
	free(p->taken);
	free(p->taken_full_name);
	free(p);
}

static struct entry *table_take(struct entry **table, struct key key)
{
	struct entry *item;

	HASH_FIND(hh, *table, &key, sizeof(key), item);
	if (item)
		HASH_DEL(*table, item);
	return item;
}

static void table_drop_oldest(struct entry **table)
{
	struct entry *oldest = *table;

	HASH_DEL(*table, oldest); // NOLINT(clang-analyzer-core.NullDereference): not empty
	free(oldest);
}

/* Replaces an entry with the same key. uthash iterates in order of insertion, so the head is the
 * oldest entry. */
static void table_put(struct entry **table, struct entry *item, struct key key, unsigned int max)
{
	free(table_take(table, key));
	if (HASH_COUNT(*table) >= max)
		table_drop_oldest(table);
	item->key = key;
	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all bytes are set
	HASH_ADD(hh, *table, key, sizeof(item->key), item);
}

/* ---- arguments ---- */

static char *tensor_encode(char *out, const struct pt_tensor *t)
{
	struct event_tensor row = {.arg = t->arg, .dtype = t->dtype, .device_type = t->device_type};
	uint32_t dims = 0;

	row.ndim = EVENT_TENSOR_UNDEFINED;
	if (t->ndim != EVENT_TENSOR_UNDEFINED) {
		dims = t->ndim < PT_MAX_DIMS ? t->ndim : PT_MAX_DIMS;
		row.ndim = (uint8_t)dims;
	}
	memcpy(out, &row, sizeof(row));
	memcpy(out + sizeof(row), t->dims, dims * sizeof(t->dims[0]));
	return out + sizeof(row) + dims * sizeof(t->dims[0]);
}

static char *value_encode(char *out, const struct pt_tensor *t)
{
	const struct event_value row = {
		.arg = t->arg,
		.kind = (uint8_t)t->value,
		.cnt = t->ndim < PT_MAX_DIMS ? t->ndim : PT_MAX_DIMS,
	};

	memcpy(out, &row, sizeof(row));
	memcpy(out + sizeof(row), t->dims, row.cnt * sizeof(t->dims[0]));
	return out + sizeof(row) + row.cnt * sizeof(t->dims[0]);
}

static char *values_encode(char *out, const struct pt_rec_args *r)
{
	const struct event_tensor mark = {.ndim = EVENT_TENSOR_VALUES};
	unsigned int cnt = 0;

	for (uint32_t i = 0; i < r->tensor_cnt; i++) {
		if (!r->tensors[i].value || cnt >= EVENT_VALUES_MAX)
			continue;
		if (!cnt++) {
			memcpy(out, &mark, sizeof(mark));
			out += sizeof(mark);
		}
		out = value_encode(out, &r->tensors[i]);
	}
	return out;
}

int pending__put_args(struct pending *p, const struct pt_rec_args *r)
{
	size_t max =
		(r->tensor_cnt + 1) * (sizeof(struct event_tensor) + sizeof(r->tensors[0].dims));
	struct args_entry *item = malloc(sizeof(*item) + max);
	char *end;

	if (!item)
		return -ENOMEM;
	end = item->bytes;
	for (uint32_t i = 0; i < r->tensor_cnt; i++)
		if (!r->tensors[i].value)
			end = tensor_encode(end, &r->tensors[i]);
	end = values_encode(end, r);
	item->len = (uint32_t)(end - item->bytes);
	table_put(&p->args, &item->e, (struct key){r->h.tid, r->ts_ns}, MAX_ARGS);
	return 0;
}

const void *pending__take_args(struct pending *p, uint32_t tid, uint64_t ts_ns, uint32_t *len)
{
	*len = 0;
	if (!p->args)
		return NULL;
	free(p->taken);
	p->taken = (struct args_entry *)table_take(&p->args, (struct key){tid, ts_ns});
	if (!p->taken)
		return NULL;
	*len = p->taken->len;
	return p->taken->bytes;
}

/* ---- full names ---- */

int pending__put_full_name(struct pending *p, const struct pt_rec_full_name *r)
{
	struct full_name_entry *item = malloc(sizeof(*item));

	if (!item)
		return -ENOMEM;
	item->r = *r;
	table_put(&p->full_names, &item->e, (struct key){r->h.tid, r->ts_ns}, MAX_ARGS);
	return 0;
}

const struct pt_rec_full_name *pending__take_full_name(struct pending *p, uint32_t tid,
						       uint64_t ts_ns)
{
	if (!p->full_names)
		return NULL;
	free(p->taken_full_name);
	p->taken_full_name =
		(struct full_name_entry *)table_take(&p->full_names, (struct key){tid, ts_ns});
	return p->taken_full_name ? &p->taken_full_name->r : NULL;
}

/* ---- asynchronous work ---- */

int pending__async_begin(struct pending *p, uint32_t pid, uint64_t object,
			 const struct pending_async *begin)
{
	struct async_entry *item = malloc(sizeof(*item));

	if (!item)
		return -ENOMEM;
	item->begin = *begin;
	table_put(&p->asyncs, &item->e, (struct key){pid, object}, MAX_ASYNC);
	return 0;
}

bool pending__async_end(struct pending *p, uint32_t pid, uint64_t object,
			struct pending_async *begin)
{
	struct async_entry *item =
		(struct async_entry *)table_take(&p->asyncs, (struct key){pid, object});

	if (!item)
		return false;
	*begin = item->begin;
	free(item);
	return true;
}

/* ---- allocations ---- */

void pending__allocated(struct pending *p, uint64_t owner, uint64_t addr, uint64_t bytes)
{
	struct alloc_entry *item = malloc(sizeof(*item));

	if (!item)
		return; /* its free will have an unknown size */
	item->bytes = bytes;
	table_put(&p->allocs, &item->e, (struct key){owner, addr}, MAX_ALLOCS);
}

uint64_t pending__freed(struct pending *p, uint64_t owner, uint64_t addr)
{
	struct alloc_entry *item =
		(struct alloc_entry *)table_take(&p->allocs, (struct key){owner, addr});
	uint64_t bytes = item ? item->bytes : 0;

	free(item);
	return bytes;
}

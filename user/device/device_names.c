// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_names.h"
#include "common/util.h"
#include "device/cuda_calls.h"
#include "device/kernels/demangle.h"

/* Limits the memory for a target that sends names without end. */
#define NAMES_MAX  (1u << 20)
#define TEXT_BYTES (64u << 20)

struct entry {
	uint64_t key; /* 0: free */
	char *text;
	uint32_t id;
	bool is_launch;
	uint8_t wait; /* enum wait_kind */
};

struct device_names {
	struct entry *slots; /* open addressing */
	size_t slot_cnt, cnt, text_bytes;
};

struct device_names *device_names__new(void)
{
	struct device_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->slot_cnt = 1024;
	n->slots = calloc(n->slot_cnt, sizeof(*n->slots));
	if (n->slots)
		return n;
	free(n);
	return NULL;
}

void device_names__free(struct device_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->slot_cnt; i++)
		free(n->slots[i].text);
	free(n->slots);
	free(n);
}

void device_names__forget_ids(struct device_names *n)
{
	for (size_t i = 0; i < n->slot_cnt; i++)
		n->slots[i].id = 0;
}

/* The key's slot, or the free slot where it belongs. */
static struct entry *find(const struct device_names *n, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ull >> 32) & (n->slot_cnt - 1);

	while (n->slots[i].key && n->slots[i].key != key)
		i = (i + 1) & (n->slot_cnt - 1);
	return &n->slots[i];
}

static int grow(struct device_names *n)
{
	struct device_names grown = {
		.slot_cnt = n->slot_cnt * 2, .cnt = n->cnt, .text_bytes = n->text_bytes};

	grown.slots = calloc(grown.slot_cnt, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < n->slot_cnt; i++)
		if (n->slots[i].key)
			*find(&grown, n->slots[i].key) = n->slots[i];
	free(n->slots);
	*n = grown;
	return 0;
}

static bool is_function(uint64_t key)
{
	return !(key & SHIM_KEY_TEXT);
}

static bool is_launch(const char *function)
{
	const struct cuda_call *call = cuda_call__find(function);

	return call && call->cfg.call_class == PT_CALL_LAUNCH;
}

static enum wait_kind wait_of(const char *function)
{
	static const struct {
		const char *function;
		enum wait_kind wait;
	} waits[] = {
		{"cudaDeviceSynchronize", WAIT_CONTEXT},
		{"cuCtxSynchronize", WAIT_CONTEXT},
		{"cudaMemcpy", WAIT_OWN_COPY},
		{"cuMemcpyDtoH", WAIT_OWN_COPY},
	};

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		if (!strcmp(function, waits[i].function))
			return waits[i].wait;
	return WAIT_NONE;
}

static char *readable(const struct shim_name *name)
{
	char plain[128];

	if (name->key & SHIM_KEY_RANGE)
		return strdup(name->text);
	if (!is_function(name->key))
		return kernel_name__readable(name->text);
	api_name__plain(name->text, plain, sizeof(plain));
	return strdup(plain);
}

int device_names__learn(struct device_names *n, const struct shim_name *name)
{
	struct entry *e = find(n, name->key);

	if (!name->key || e->key || n->cnt == NAMES_MAX || n->text_bytes >= TEXT_BYTES)
		return 0;
	if (n->cnt * 2 >= n->slot_cnt) {
		int err = grow(n);

		if (err)
			return err;
		e = find(n, name->key);
	}
	e->text = readable(name);
	if (!e->text)
		return -ENOMEM;
	n->text_bytes += strlen(e->text) + 1;
	e->key = name->key;
	e->is_launch = is_function(name->key) && is_launch(e->text);
	e->wait = is_function(name->key) ? wait_of(e->text) : WAIT_NONE;
	n->cnt++;
	return 0;
}

bool device_names__is_launch(const struct device_names *n, uint64_t key)
{
	return find(n, key)->is_launch;
}

enum wait_kind device_names__wait(const struct device_names *n, uint64_t key)
{
	return find(n, key)->wait;
}

static enum span_category category(uint64_t key)
{
	if (!is_function(key))
		return key & SHIM_KEY_RANGE ? CAT_USER : CAT_KERNEL;
	return key >> 16 == SHIM_RUNTIME ? CAT_RUNTIME : CAT_DRIVER;
}

uint32_t device_names__id(struct device_names *n, struct recording_writer *w, uint64_t key)
{
	struct entry *e = find(n, key);

	if (!e->key)
		return 0;
	if (!e->id)
		e->id = recording_writer__name(w, category(key), e->text, NULL);
	return e->id;
}

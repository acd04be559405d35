// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/event_text.h"
#include <string.h>
#include "common/util.h"
#include "exporters/parts/text_file.h"

const char *category__key(uint8_t category)
{
	static const char *const keys[CAT_CNT] = {
		[CAT_NONE] = "none",
		[CAT_OPERATOR] = "operator",
		[CAT_BACKWARD_NODE] = "backward_node",
		[CAT_PYTHON_OP] = "python_op",
		[CAT_USER] = "user",
		[CAT_DATALOADER] = "dataloader",
		[CAT_FORWARD] = "forward",
		[CAT_BACKWARD] = "backward",
		[CAT_OPTIMIZER] = "optimizer",
		[CAT_OPTIMIZER_OP] = "optimizer_op",
		[CAT_ZERO_GRAD] = "zero_grad",
		[CAT_PROFILER_STEP] = "profiler_step",
		[CAT_COMMUNICATION] = "communication",
		[CAT_RUNTIME] = "runtime",
		[CAT_DRIVER] = "driver",
		[CAT_KERNEL] = "kernel",
		[CAT_MEMCPY] = "memcpy",
		[CAT_MEMSET] = "memset",
		[CAT_SYNC] = "sync",
		[CAT_SCRIPT] = "script",
		[CAT_FUNCTION] = "function",
		[CAT_REGION] = "region",
		[CAT_EVALUATION] = "evaluation",
		[CAT_OPTIMIZER_BEGIN] = "optimizer_begin",
		[CAT_EXECUTION] = "execution",
		[CAT_STORAGE] = "storage",
		[CAT_PIPELINE] = "pipeline",
		[CAT_QUEUE_EMPTY] = "queue_empty",
		[CAT_QUEUE_FULL] = "queue_full",
		[CAT_ALLOCATION] = "allocation",
	};

	return category < CAT_CNT && keys[category] ? keys[category] : "none";
}

const char *copy_kind__key(uint32_t kind)
{
	static const char *const keys[] = {[COPY_HTOH] = "HtoH",
					   [COPY_HTOD] = "HtoD",
					   [COPY_DTOH] = "DtoH",
					   [COPY_DTOD] = "DtoD"};

	return kind < ARRAY_SIZE(keys) ? keys[kind] : NULL;
}

const char *event_cut__key(uint16_t flags)
{
	static const char *const keys[] = {[EVENT_CUT_BEGIN] = "begin",
					   [EVENT_CUT_END] = "end",
					   [EVENT_CUT_BEGIN | EVENT_CUT_END] = "both"};

	return keys[flags & (EVENT_CUT_BEGIN | EVENT_CUT_END)];
}

void track__label(const struct track *t, char *text, size_t size)
{
	if (t->kind == TRACK_DEVICE && t->stream == STREAM_ALL)
		snprintf(text, size, "GPU %d all streams", t->device);
	else if (t->kind == TRACK_DEVICE)
		snprintf(text, size, "GPU %d stream %lld", t->device, (long long)t->stream);
	else
		snprintf(text, size, "thread %u%s%s%s", t->tid, t->name ? " (" : "",
			 t->name ? t->name : "", t->name ? ")" : "");
}

int dtypes__load(const struct recording *r, struct dtypes *out)
{
	const json_t *list = json_object_get(recording__meta(r), "dtypes");
	const size_t cnt = json_array_size(list);

	*out = (struct dtypes){.names = calloc(cnt + 1, sizeof(*out->names)), .cnt = cnt};
	if (!out->names)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		const char *name = json_string_value(json_array_get(list, i));

		out->names[i] = name ? name : "";
	}
	return 0;
}

void dtypes__free(struct dtypes *d)
{
	free(d->names);
	*d = (struct dtypes){0};
}

#define DIM_MAX 22 /* digits, sign, comma, bracket */

/* "float[2,3]"; 0 if it does not fit. */
static size_t tensor__text(const struct dtypes *d, const struct event_tensor *t,
			   const unsigned char *dims, char *text, size_t size)
{
	const char *dtype = t->dtype < d->cnt ? d->names[t->dtype] : "?";
	const size_t len = strlen(dtype);
	char *p = text;

	if (len + (t->ndim + 1u) * DIM_MAX > size)
		return 0;
	p = text__str(p, dtype, len);
	*p++ = '[';
	for (unsigned int i = 0; i < t->ndim; i++) {
		int64_t dim;

		memcpy(&dim, dims + i * sizeof(dim), sizeof(dim));
		if (i)
			*p++ = ',';
		p = text__i64(p, dim);
	}
	*p++ = ']';
	*p = '\0';
	return (size_t)(p - text);
}

void dim3__text(const uint32_t dim[3], char text[DIM3_TEXT_MAX])
{
	*text++ = '[';
	for (int i = 0; i < 3; i++) {
		text = text__u64(text, dim[i]);
		*text++ = i < 2 ? ',' : ']';
	}
	*text = '\0';
}

size_t tensors__text(const struct dtypes *d, const void *args, size_t len, char *text, size_t size)
{
	const unsigned char *p = args, *end = p + len;
	size_t at = 0;

	text[0] = '\0';
	while ((size_t)(end - p) >= sizeof(struct event_tensor)) {
		const size_t sep = at ? 2 : 0;
		struct event_tensor t;
		size_t dims_bytes, written;

		memcpy(&t, p, sizeof(t));
		p += sizeof(t);
		if (t.ndim == EVENT_TENSOR_UNDEFINED)
			continue;
		dims_bytes = t.ndim * sizeof(int64_t);
		if (dims_bytes > (size_t)(end - p))
			break;
		/* 6 bytes stay free for the mark that there are more */
		written = size - at > sep + 6
				  ? tensor__text(d, &t, p, text + at + sep, size - at - sep - 6)
				  : 0;
		if (!written) {
			memcpy(text + at, "; ...", 6);
			return at + 5;
		}
		memcpy(text + at, "; ", sep);
		at += sep + written;
		p += dims_bytes;
	}
	return at;
}

bool event__call(const struct event *e, uint8_t category, struct event_call *out)
{
	if ((category != CAT_RUNTIME && category != CAT_DRIVER) || e->type != EVENT_SPAN ||
	    e->args_len != sizeof(*out))
		return false;
	memcpy(out, e->args, sizeof(*out));
	return true;
}

bool event__kernel(const struct event *e, uint8_t category, struct event_kernel *out)
{
	if (category != CAT_KERNEL || e->type != EVENT_DEVICE || e->args_len < sizeof(*out))
		return false;
	memcpy(out, e->args, sizeof(*out));
	return true;
}

bool event__memory(const struct event *e, struct event_memory *out)
{
	*out = (struct event_memory){UINT64_MAX, UINT64_MAX, 0, -1};
	if (e->type != EVENT_MEMORY || e->args_len < sizeof(*out))
		return false;
	memcpy(out, e->args, sizeof(*out));
	return true;
}

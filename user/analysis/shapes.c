// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/shapes.h"
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

#define ARGS_MAX 64

static void put_dims(FILE *out, const unsigned char *dims, unsigned int ndim)
{
	fputc('[', out);
	for (unsigned int i = 0; i < ndim; i++) {
		int64_t dim;

		memcpy(&dim, dims + i * sizeof(dim), sizeof(dim));
		fprintf(out, "%s%lld", i ? ", " : "", (long long)dim);
	}
	fputc(']', out);
}

/* Arguments that are no tensors, and lists of tensors, have empty shapes, as in PyTorch's table.
 * Arguments after the last tensor are not recorded. */
static void put_shapes(FILE *out, const unsigned char *p, size_t len)
{
	const unsigned char *end = p + len;
	unsigned int next = 0;

	fputc('[', out);
	while ((size_t)(end - p) >= sizeof(struct event_tensor)) {
		struct event_tensor t;
		unsigned int ndim, arg;

		memcpy(&t, p, sizeof(t));
		p += sizeof(t);
		ndim = t.ndim == EVENT_TENSOR_UNDEFINED ? 0 : t.ndim;
		if (ndim * sizeof(int64_t) > (size_t)(end - p))
			break;
		arg = t.arg & ~EVENT_TENSOR_LISTED;
		for (; next < arg && next < ARGS_MAX; next++)
			fputs(next ? ", []" : "[]", out);
		if (next <= arg || !(t.arg & EVENT_TENSOR_LISTED)) {
			fputs(next ? ", " : "", out);
			put_dims(out, p, t.arg & EVENT_TENSOR_LISTED ? 0 : ndim);
		}
		next = arg + 1u > next ? arg + 1u : next;
		p += ndim * sizeof(int64_t);
	}
	fputc(']', out);
}

static int add_text(struct shapes *s, const char *text, uint32_t *id)
{
	const char *key;

	if (!s->ids)
		s->ids = json_object();
	*id = (uint32_t)s->cnt + 1;
	if (!s->ids || json_object_set_new(s->ids, text, json_integer(*id)))
		return -ENOMEM;
	key = json_object_iter_key(json_object_iter_at(s->ids, text));
	return ARRAY_PUSH(s->texts, s->cnt, s->cap, key);
}

int shapes__id(struct shapes *s, const struct span *span, uint32_t *id)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out;

	*id = 0;
	if (!span->ev.args_len)
		return 0;
	out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	put_shapes(out, span->ev.args, span->ev.args_len);
	if (fclose(out) || !text)
		return -ENOMEM;
	*id = (uint32_t)json_integer_value(json_object_get(s->ids, text));
	return *id ? 0 : add_text(s, text, id);
}

const char *shapes__text(const struct shapes *s, uint32_t id)
{
	return id && id <= s->cnt ? s->texts[id - 1] : NULL;
}

void shapes__free(struct shapes *s)
{
	json_decref(s->ids);
	free(s->texts);
}

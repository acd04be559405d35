// SPDX-License-Identifier: BSD-2-Clause
#include "recording/event_args.h"
#include <string.h>

struct event_args_reader event_args__read(const struct event *e)
{
	const unsigned char *p = e->args;

	return (struct event_args_reader){p, p ? p + e->args_len : p, false};
}

static bool take(struct event_args_reader *r, void *out, size_t size)
{
	if ((size_t)(r->end - r->p) < size)
		return false;
	memcpy(out, r->p, size);
	r->p += size;
	return true;
}

static bool take_words(struct event_args_reader *r, struct event_arg *out)
{
	const size_t bytes = out->cnt * sizeof(int64_t);

	if (bytes > (size_t)(r->end - r->p))
		return false;
	out->words = r->p;
	r->p += bytes;
	return true;
}

static bool next_value(struct event_args_reader *r, struct event_arg *out)
{
	struct event_value v;

	if (!take(r, &v, sizeof(v)) || v.kind == EVENT_ARG_TENSOR)
		return false;
	*out = (struct event_arg){.arg = v.arg, .kind = v.kind, .cnt = v.cnt};
	return take_words(r, out);
}

bool event_args__next(struct event_args_reader *r, struct event_arg *out)
{
	struct event_tensor t;

	if (r->values)
		return next_value(r, out);
	if (!take(r, &t, sizeof(t)))
		return false;
	if (t.ndim == EVENT_TENSOR_VALUES) {
		r->values = true;
		return next_value(r, out);
	}
	*out = (struct event_arg){
		.arg = t.arg & (uint8_t)~EVENT_TENSOR_LISTED,
		.cnt = t.ndim == EVENT_TENSOR_UNDEFINED ? 0 : t.ndim,
		.tensor = t,
	};
	return take_words(r, out);
}

int64_t event_arg__word(const struct event_arg *a, unsigned int i)
{
	int64_t word;

	memcpy(&word, a->words + i * sizeof(word), sizeof(word));
	return word;
}

// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <string.h>
#include "common/util.h"
#include "frameworks/torch/torch_schemas.h"

enum { MAX_SCHEMA = 8192 }; /* the longest of torch 2.15 has 1.3 KiB */

struct candidate {
	uint64_t hash; /* of "name_overload", without namespace */
	struct torch_schema schema;
};

struct torch_schemas {
	struct candidate *items; /* sorted by hash */
	size_t cnt, cap;
};

static const char aten[] = "aten::";
enum { ATEN_LEN = sizeof(aten) - 1 };

static struct text_span bare_name(const struct torch_schema *s)
{
	struct text_span name = s->name;

	if (s->prefixed && name.len > ATEN_LEN && !memcmp(name.p, aten, ATEN_LEN)) {
		name.p += ATEN_LEN;
		name.len -= ATEN_LEN;
	}
	return name;
}

/* FNV-1a, 64 bit. */
static uint64_t hash_more(uint64_t hash, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)p[i]) * 0x100000001b3ull;
	return hash;
}
static const uint64_t hash_start = 0xcbf29ce484222325ull;

static uint64_t hash_schema(const struct torch_schema *s)
{
	struct text_span name = bare_name(s);
	uint64_t hash = hash_more(hash_start, name.p, name.len);

	if (s->overload.len) {
		hash = hash_more(hash, "_", 1);
		hash = hash_more(hash, s->overload.p, s->overload.len);
	}
	return hash;
}

/* Is `name` the schema's name, or name_overload? */
static bool is_named(const struct torch_schema *s, const char *name, size_t len)
{
	struct text_span bare = bare_name(s), over = s->overload;

	if (len != bare.len + (over.len ? over.len + 1 : 0) || memcmp(name, bare.p, bare.len))
		return false;
	return !over.len ||
	       (name[bare.len] == '_' && !memcmp(name + bare.len + 1, over.p, over.len));
}

static bool is_text(uint8_t c)
{
	return c >= ' ' && c < 0x7f;
}

/* Adds a string with ") -> " in it, unless its namespace is of no use. */
static int add_string(struct torch_schemas *s, const char *p, size_t len)
{
	struct candidate c;

	if (len > MAX_SCHEMA || torch_schema__parse(p, len, &c.schema))
		return 0;
	if (c.schema.prefixed && bare_name(&c.schema).p == c.schema.name.p)
		return 0;
	c.hash = hash_schema(&c.schema);
	return ARRAY_PUSH(s->items, s->cnt, s->cap, c);
}

static int by_hash(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	/* schemas that the library registers come before those of its other tables */
	return (int)x->schema.prefixed - (int)y->schema.prefixed;
}

int torch_schemas__scan(const uint8_t *rodata, size_t len, struct torch_schemas **out)
{
	static const char arrow[] = ") -> ";
	const uint8_t *end = rodata + len, *p = rodata, *hit;
	struct torch_schemas *s = calloc(1, sizeof(*s));
	int err = s ? 0 : -ENOMEM;

	while (!err && (hit = memmem(p, (size_t)(end - p), arrow, sizeof(arrow) - 1))) {
		const uint8_t *from = hit, *to = hit;

		while (from > p && is_text(from[-1]))
			from--;
		while (to < end && is_text(*to))
			to++;
		err = add_string(s, (const char *)from, (size_t)(to - from));
		p = to;
	}
	if (err) {
		torch_schemas__free(s);
		return err;
	}
	if (s->cnt)
		qsort(s->items, s->cnt, sizeof(s->items[0]), by_hash);
	*out = s;
	return 0;
}

void torch_schemas__free(struct torch_schemas *s)
{
	if (!s)
		return;
	free(s->items);
	free(s);
}

size_t torch_schemas__cnt(const struct torch_schemas *s)
{
	return s->cnt;
}

static size_t lower_bound(const struct torch_schemas *s, uint64_t hash)
{
	return COUNT_FIRST(s->cnt, i, s->items[i].hash < hash);
}

/* Does the begin of a longer schema, "xname.overload", end with `name`? Then the rest of the text
 * is a schema of its own. */
static bool tail_named(const struct torch_schema *s, const char *name, size_t len,
		       struct torch_schema *out)
{
	const char *head_end = s->args.p - 1, *from;

	if (!s->args.p || (size_t)(head_end - s->name.p) < len)
		return false;
	from = head_end - len;
	if (torch_schema__parse(from, (size_t)(s->returns.p + s->returns.len - from), out))
		return false;
	return is_named(out, name, len);
}

int torch_schemas__find(const struct torch_schemas *s, const char *name, size_t len,
			const char *params, struct torch_schema *out)
{
	uint64_t hash = hash_more(hash_start, name, len);

	for (size_t i = lower_bound(s, hash); i < s->cnt && s->items[i].hash == hash; i++) {
		*out = s->items[i].schema;
		if (is_named(out, name, len) && torch_schema__fits(out, params))
			return 0;
	}
	for (size_t i = 0; i < s->cnt; i++)
		if (tail_named(&s->items[i].schema, name, len, out) &&
		    torch_schema__fits(out, params))
			return 0;
	return -ENOENT;
}

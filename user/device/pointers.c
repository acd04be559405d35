// SPDX-License-Identifier: BSD-2-Clause
#include "device/pointers.h"
#include "common/util.h"
#include "inject/maps.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VECTOR_MAX  (1u << 20)	 /* bytes; longer vectors are no tables of functions */
#define VECTORS_MAX (64u << 20)	 /* bytes of all vectors, because anything may look like one */
#define RANGE_MAX   (256u << 20) /* bytes of a library's data, because other memory may follow it */

enum { TABLE_WORDS = 4, TABLE_FUNCTION = 1 };

struct known {
	uint64_t address;
	uint32_t index;
};

struct search {
	const struct target *t;
	const struct maps *maps;
	struct known *known; /* by address */
	size_t known_cnt;
	struct shim_pointer *found;
	size_t found_cnt, found_cap;
	uint64_t vector_bytes; /* bytes of vectors that were read so far */
};

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_places(const void *a, const void *b)
{
	const struct shim_pointer *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static const struct known *find(const struct search *s, uint64_t word)
{
	const struct known key = {.address = word};

	if (word < s->known[0].address || word > s->known[s->known_cnt - 1].address)
		return NULL;
	return bsearch(&key, s->known, s->known_cnt, sizeof(key), compare_known);
}

static int look_at_words(struct search *s, uint64_t start, const uint64_t *words, size_t cnt,
			 bool read_only)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct known *k = find(s, words[i]);

		if (k)
			err = ARRAY_PUSH(s->found, s->found_cnt, s->found_cap,
					 ((struct shim_pointer){start + i * sizeof(*words),
								k->index, read_only}));
	}
	return err;
}

/* Reads the words of a range of the target. NULL with *err; *err is 0 if they cannot be read. */
static uint64_t *read_words(const struct search *s, uint64_t start, uint64_t end, int *err)
{
	uint64_t *words = malloc(end - start);

	*err = words ? 0 : -ENOMEM;
	if (words && target__read(s->t, start, words, end - start)) {
		free(words);
		return NULL;
	}
	return words;
}

static bool is_vector(const struct search *s, const uint64_t *words)
{
	const uint64_t begin = words[0], end = words[1], reserved = words[2];
	const struct map_range *r;

	if (begin >= end || end > reserved || (begin | end | reserved) % sizeof(*words) ||
	    reserved - begin > VECTOR_MAX)
		return false;
	r = maps__at(s->maps, begin);
	return r && end <= r->end && r->writable && !r->shared &&
	       (!*r->path || !strcmp(r->path, "[heap]"));
}

/* Does a vector look like CPython's method definitions: name, function, flags and text? Memory that
 * only looks like one may be freed and unmapped at any time. */
static bool is_table(const struct search *s, const uint64_t *words, size_t cnt)
{
	const struct map_range *name, *function;

	if (!cnt || cnt % TABLE_WORDS)
		return false;
	name = maps__at(s->maps, words[0]);
	function = maps__at(s->maps, words[TABLE_FUNCTION]);
	return name && *name->path && function && function->executable;
}

static int look_at_vectors(struct search *s, const uint64_t *words, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i + 2 < cnt && !err && s->vector_bytes < VECTORS_MAX; i++) {
		auto_free uint64_t *items = NULL;

		if (!is_vector(s, words + i))
			continue;
		s->vector_bytes += words[i + 1] - words[i];
		items = read_words(s, words[i], words[i + 1], &err);
		if (items && is_table(s, items, (words[i + 1] - words[i]) / sizeof(*items)))
			err = look_at_words(s, words[i], items,
					    (words[i + 1] - words[i]) / sizeof(*items), false);
	}
	return err;
}

static int look_at_range(struct search *s, const struct map_range *r)
{
	const uint64_t bytes = r->end - r->start < RANGE_MAX ? r->end - r->start : RANGE_MAX;
	const size_t cnt = bytes / sizeof(uint64_t);
	auto_free uint64_t *words = NULL;
	int err;

	words = read_words(s, r->start, r->start + bytes, &err);
	if (!words)
		return err;
	err = look_at_words(s, r->start, words, cnt, !r->writable);
	return err || !r->writable ? err : look_at_vectors(s, words, cnt);
}

static bool is_of_libs(const struct map_range *r, const struct target_lib *const *libs,
		       size_t lib_cnt)
{
	for (size_t i = 0; i < lib_cnt; i++)
		if (!strcmp(r->path, libs[i]->path))
			return true;
	return false;
}

/* Is the mapping data of a library? Data that is not in the file follows the file's mapping,
 * without a name. */
static bool is_data(const struct maps *m, size_t i, const struct target_lib *const *libs,
		    size_t lib_cnt)
{
	const struct map_range *r = &m->ranges[i];

	if (r->executable || r->shared)
		return false;
	if (*r->path)
		return is_of_libs(r, libs, lib_cnt);
	return i && r->writable && m->ranges[i - 1].end == r->start && m->ranges[i - 1].writable &&
	       is_of_libs(&m->ranges[i - 1], libs, lib_cnt);
}

/* Removes vectors that were found more than once. */
static void drop_twins(struct search *s)
{
	size_t kept = 0;

	if (s->found_cnt)
		qsort(s->found, s->found_cnt, sizeof(*s->found), compare_places);
	for (size_t i = 0; i < s->found_cnt; i++)
		if (!kept || s->found[kept - 1].at != s->found[i].at)
			s->found[kept++] = s->found[i];
	s->found_cnt = kept;
}

int pointers__find(const struct target *t, const struct target_lib *const *libs, size_t lib_cnt,
		   const struct shim_function *functions, size_t cnt, struct shim_pointer **out,
		   size_t *out_cnt)
{
	auto_free struct known *known = calloc(cnt + 1, sizeof(*known));
	struct maps maps;
	struct search s = {.t = t, .maps = &maps, .known = known, .known_cnt = cnt};
	int err = known ? maps__read(t->pid, &maps) : -ENOMEM;

	*out = NULL;
	*out_cnt = 0;
	if (err)
		return err;
	for (size_t i = 0; i < cnt; i++)
		known[i] = (struct known){functions[i].address, (uint32_t)i};
	qsort(known, cnt, sizeof(*known), compare_known);
	for (size_t i = 0; i < maps.cnt && cnt && !err; i++)
		if (is_data(&maps, i, libs, lib_cnt))
			err = look_at_range(&s, &maps.ranges[i]);
	maps__free(&maps);
	drop_twins(&s);
	if (err) {
		free(s.found);
		return err;
	}
	*out = s.found;
	*out_cnt = s.found_cnt;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_code.h"
#include "common/err.h"
#include "common/utf8.h"
#include "common/util.h"
#include "target/python/python_lines.h"
#include <string.h>
#include <uthash.h>

/* The same in all these versions. */
#define OBJECT_TYPE 8
#define BYTES_SIZE  16
#define BYTES_TEXT  32
#define STR_LENGTH  16
#define STR_STATE   32
#define STR_KIND(s) ((s) >> 2 & 7)
#define STR_COMPACT (1u << 5)
#define STR_ASCII   (1u << 6)

#define CODE_MAX       256	  /* bytes at the begin of a code object */
#define NAME_MAX_CHARS 4096	  /* characters of a path or a function; the rest is cut */
#define LINES_MAX      (1u << 20) /* bytes; a longer table is invalid */

struct known {
	struct place_key {
		uint64_t code, pid;
	} key;
	struct function *function;
	UT_hash_handle hh;
};

struct function {
	struct python_function pub; /* first, so pointers to both convert */
	uint8_t head[CODE_MAX];	    /* as it was read; another function has other bytes */
	uint8_t *lines;
	size_t lines_len;
	struct function *next; /* list of all functions ever seen */
};

struct python_code {
	struct target *t;
	struct python_layout layout;
	uint64_t code_type, str_type, bytes_type; /* addresses */
	struct known *known;			  /* sorted by process and address */
	struct function *functions;
};

/* ---- open ---- */

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* Finds the addresses of the types. */
static bool find_types(struct python_code *p)
{
	p->code_type = target__python_symbol(p->t, "PyCode_Type");
	p->str_type = target__python_symbol(p->t, "PyUnicode_Type");
	p->bytes_type = target__python_symbol(p->t, "PyBytes_Type");
	return p->code_type && p->str_type && p->bytes_type;
}

int python_code__open(struct target *t, const struct python_layout *layout,
		      struct python_code **out)
{
	struct python_code *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->t = t;
	p->layout = *layout;
	if (!find_types(p)) {
		python_code__free(p);
		return -ENOENT;
	}
	*out = p;
	return 0;
}

static void function_free(struct function *f)
{
	free((char *)f->pub.file);
	free((char *)f->pub.function);
	free(f->lines);
	free(f);
}

void python_code__free(struct python_code *p)
{
	struct known *item, *next;
	struct function *f;

	if (!p)
		return;
	HASH_ITER(hh, p->known, item, next)
	{
		HASH_DEL(p->known, item);
		free(item);
	}
	while ((f = p->functions)) {
		p->functions = f->next;
		function_free(f);
	}
	free(p);
}

/* ---- objects ---- */

/* Freed memory begins with a pointer or 0. A living object has its reference count there: at most
 * UINT32_MAX, which an immortal object has. */
static bool is_alive(const struct python_code *p, const uint8_t *object, uint64_t type)
{
	const uint64_t references = word_at(object, 0) & p->layout.references;

	return references && references <= UINT32_MAX && word_at(object, OBJECT_TYPE) == type;
}

/* The text of a str object; the caller frees. NULL: it is no str, or out of memory. */
static char *read_str(const struct python_code *p, pid_t pid, uint64_t at)
{
	uint8_t head[STR_STATE + sizeof(uint32_t)];
	auto_free uint8_t *text = NULL;
	uint32_t state;
	unsigned int kind;
	size_t cnt;

	if (!at || target__read_of(pid, at, head, sizeof(head)) || !is_alive(p, head, p->str_type))
		return NULL;
	memcpy(&state, head + STR_STATE, sizeof(state));
	kind = STR_KIND(state);
	if (!(state & STR_COMPACT) || (kind != 1 && kind != 2 && kind != 4))
		return NULL;
	cnt = word_at(head, STR_LENGTH);
	if (cnt > NAME_MAX_CHARS)
		cnt = NAME_MAX_CHARS;
	at += state & STR_ASCII ? p->layout.ascii_bytes : p->layout.compact_bytes;
	text = malloc(cnt * kind + 1);
	if (!text || (cnt && target__read_of(pid, at, text, cnt * kind)))
		return NULL;
	return utf8__of_wide(text, cnt, kind);
}

/* The contents of a bytes object. NULL: it is none, or too long. */
static uint8_t *read_bytes(const struct python_code *p, pid_t pid, uint64_t at, size_t *len)
{
	uint8_t head[BYTES_SIZE + sizeof(uint64_t)], *bytes;
	uint64_t size;

	*len = 0;
	if (!at || target__read_of(pid, at, head, sizeof(head)) ||
	    !is_alive(p, head, p->bytes_type))
		return NULL;
	size = word_at(head, BYTES_SIZE);
	if (size > LINES_MAX)
		return NULL;
	bytes = malloc(size + 1);
	if (bytes && size && target__read_of(pid, at + BYTES_TEXT, bytes, size)) {
		free(bytes);
		return NULL;
	}
	*len = bytes ? size : 0;
	return bytes;
}

/* ---- functions ---- */

static bool read_head(const struct python_code *p, pid_t pid, uint64_t code, uint8_t *head)
{
	return !target__read_of(pid, code, head, p->layout.code_bytes) &&
	       is_alive(p, head, p->code_type);
}

/* Compares the fields that tell a function from a later one at the same address. Other fields are
 * caches. */
static bool same_function(const struct python_layout *l, const uint8_t *a, const uint8_t *b)
{
	return word_at(a, l->file) == word_at(b, l->file) &&
	       word_at(a, l->function) == word_at(b, l->function) &&
	       word_at(a, l->lines) == word_at(b, l->lines) &&
	       !memcmp(a + l->first_line, b + l->first_line, sizeof(uint32_t));
}

/* Is the object still the same, so that its parts were read while it existed? */
static bool is_unchanged(const struct python_code *p, pid_t pid, uint64_t code, const uint8_t *head)
{
	uint8_t now[CODE_MAX];

	return read_head(p, pid, code, now) && same_function(&p->layout, head, now);
}

static struct function *function_new(struct python_code *p, pid_t pid, uint64_t code,
				     const uint8_t *head)
{
	const struct python_layout *l = &p->layout;
	struct function *f = calloc(1, sizeof(*f));
	int32_t first_line;

	if (!f)
		return NULL;
	memcpy(f->head, head, l->code_bytes);
	memcpy(&first_line, head + l->first_line, sizeof(first_line));
	f->pub.first_line = first_line > 0 ? (uint32_t)first_line : 0;
	f->pub.file = read_str(p, pid, word_at(head, l->file));
	f->pub.function = read_str(p, pid, word_at(head, l->function));
	f->lines = read_bytes(p, pid, word_at(head, l->lines), &f->lines_len);
	if (!f->pub.file || !f->pub.function || !f->lines || !is_unchanged(p, pid, code, head)) {
		function_free(f);
		return NULL;
	}
	f->next = p->functions;
	p->functions = f;
	return f;
}

static struct known *known_find(const struct python_code *p, struct place_key key)
{
	struct known *item;

	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all bytes are set
	HASH_FIND(hh, p->known, &key, sizeof(key), item);
	return item;
}

static struct known *known_add(struct python_code *p, struct place_key key)
{
	struct known *item = calloc(1, sizeof(*item));

	if (!item)
		return NULL;
	item->key = key;
	// NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all bytes are set
	HASH_ADD(hh, p->known, key, sizeof(item->key), item);
	return item;
}

static struct function *function_at(struct python_code *p, pid_t pid, uint64_t code)
{
	const struct place_key key = {code, (uint64_t)pid};
	uint8_t head[CODE_MAX];
	struct known *item;

	if (!code || !read_head(p, pid, code, head))
		return NULL;
	item = known_find(p, key);
	if (!item)
		item = known_add(p, key);
	if (!item)
		return NULL;
	if (!item->function || !same_function(&p->layout, item->function->head, head))
		item->function = function_new(p, pid, code, head);
	return item->function;
}

static uint32_t line_of(const struct python_code *p, const struct function *f,
			const struct pt_code_place *place)
{
	const uint32_t first = f->pub.first_line;
	uint64_t begin = place->code + p->layout.instructions;

	if (!p->layout.instructions) /* 3.10 counts instructions */
		return python_lines__at_310(f->lines, f->lines_len, first, place->instr);
	if (place->instr < begin) /* the function has not begun */
		return first;
	return python_lines__at(f->lines, f->lines_len, first, (place->instr - begin) / 2);
}

const struct python_function *python_code__at(struct python_code *p, pid_t pid,
					      const struct pt_code_place *place, uint32_t *line)
{
	const struct function *f = function_at(p, pid, place->code);

	*line = f ? line_of(p, f, place) : 0;
	return f ? &f->pub : NULL;
}

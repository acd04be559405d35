// SPDX-License-Identifier: BSD-2-Clause
#include "target/python_code.h"
#include "common/err.h"
#include "common/util.h"
#include "target/python_lines.h"
#include <string.h>
#include <uthash.h>

#define NO_OWNER 256 /* no frame is of it */

/* Offsets within CPython's structures. */
struct layout {
	unsigned int minor;	   /* of version 3.x */
	uint32_t main_interpreter; /* _PyRuntimeState: PyInterpreterState * */
	uint32_t first_thread;	   /* PyInterpreterState: PyThreadState * */
	uint32_t file, function, first_line, lines, instructions; /* PyCodeObject */
	uint32_t code_bytes;		     /* of it, up to the instructions */
	uint32_t ascii_bytes, compact_bytes; /* heads of str objects */
	struct pt_python_thread thread;
	struct pt_python_stacks frames;
};

/* By offsetof() on the headers of 3.10.13, 3.11.7, 3.12.1 and 3.13.0. */
static const struct layout layouts[] = {
	{
		.minor = 10,
		.main_interpreter = 40,
		.first_thread = 8,
		.file = 104,
		.function = 112,
		.first_line = 40,
		.lines = 120,
		.code_bytes = 176,
		.ascii_bytes = 48,
		.compact_bytes = 72,
		.thread = {.next = 8, .id = 176, .handled = 144, .exception = 8},
		.frames = {.thread_frame = 24,
			   .frame_bytes = 104,
			   .code_word = 4,
			   .previous_word = 3,
			   .instr_word = 12,
			   .other_owner = NO_OWNER,
			   .instr_mask = UINT32_MAX},
	},
	{
		.minor = 11,
		.main_interpreter = 48,
		.first_thread = 16,
		.file = 112,
		.function = 128,
		.first_line = 72,
		.lines = 136,
		.instructions = 184,
		.code_bytes = 184,
		.ascii_bytes = 48,
		.compact_bytes = 72,
		.thread = {.next = 8, .id = 152, .handled = 120},
		.frames = {.thread_frame = 56,
			   .cframe = 1,
			   .cframe_frame = 8,
			   .frame_bytes = 72,
			   .code_word = 4,
			   .previous_word = 6,
			   .instr_word = 7,
			   .other_owner = NO_OWNER,
			   .instr_mask = UINT64_MAX},
	},
	{
		.minor = 12,
		.main_interpreter = 48,
		.first_thread = 72,
		.file = 112,
		.function = 128,
		.first_line = 68,
		.lines = 136,
		.instructions = 192,
		.code_bytes = 192,
		.ascii_bytes = 40,
		.compact_bytes = 56,
		.thread = {.next = 8, .id = 136, .handled = 104},
		.frames = {.thread_frame = 56,
			   .cframe = 1,
			   .frame_bytes = 72,
			   .code_word = 0,
			   .previous_word = 1,
			   .instr_word = 7,
			   .owner_word = 8,
			   .owner_shift = 48,
			   .other_owner = 3, /* FRAME_OWNED_BY_CSTACK */
			   .instr_mask = UINT64_MAX},
	},
	{
		.minor = 13,
		.main_interpreter = 640,
		.first_thread = 7344,
		.file = 112,
		.function = 128,
		.first_line = 68,
		.lines = 136,
		.instructions = 200,
		.code_bytes = 200,
		.ascii_bytes = 40,
		.compact_bytes = 56,
		.thread = {.next = 8, .id = 152, .handled = 120},
		.frames = {.thread_frame = 72,
			   .frame_bytes = 72,
			   .code_word = 0,
			   .previous_word = 1,
			   .instr_word = 7,
			   .owner_word = 8,
			   .owner_shift = 48,
			   .other_owner = 3,
			   .instr_mask = UINT64_MAX},
	},
};

/* The same in all these versions. */
#define OBJECT_TYPE 8
#define BYTES_SIZE  16
#define BYTES_TEXT  32
#define STR_LENGTH  16
#define STR_STATE   32
#define STR_KIND(s) ((s) >> 2 & 7)
#define STR_COMPACT (1u << 5)
#define STR_ASCII   (1u << 6)

#define CODE_MAX       256	  /* bytes of a code object's head */
#define NAME_MAX_CHARS 4096	  /* of a path or a function; the rest is left out */
#define LINES_MAX      (1u << 20) /* bytes; a longer table is none */

struct known {
	struct place_key {
		uint64_t code, pid;
	} key;
	struct function *function;
	UT_hash_handle hh;
};

struct function {
	struct python_function pub; /* first: the two pointers convert */
	uint8_t head[CODE_MAX];	    /* as it was read: another function has another one */
	uint8_t *lines;
	size_t lines_len;
	struct function *next; /* of all that were ever seen */
};

struct python_code {
	struct target *t;
	struct layout layout;
	uint64_t code_type, str_type, bytes_type; /* addresses */
	struct known *known;			  /* by process and address */
	struct function *functions;
};

/* ---- open ---- */

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint64_t address_of(struct target *t, const struct target_lib *lib, const char *symbol)
{
	struct elf_file *elf = target__elf(t, lib);
	struct elf_symbol s;

	return elf && !elf_file__symbol(elf, symbol, &s) ? lib->base + s.vaddr : 0;
}

static int find_layout(struct python_code *p)
{
	unsigned int minor;

	if (!p->t->python || sscanf(p->t->python, "3.%u", &minor) != 1)
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (layouts[i].minor == minor)
			p->layout = layouts[i];
	return p->layout.minor ? 0 : -ENOTSUP;
}

/* Since 3.13 the interpreter says itself where things lie (pycore_runtime.h, _Py_DebugOffsets,
 * which is what it begins with): patch releases may differ. The rest is measured. */
#define OFFSETS_COOKIE "xdebugpy"

struct own_offsets {
	char cookie[8];
	uint64_t version, free_threaded;
	uint64_t runtime_size, finalizing, interpreters; /* the main one's pointer is behind it */
	uint64_t interpreter[13];
	uint64_t thread[9];
	uint64_t frame[6];
	uint64_t code[10];
};
enum { INTERPRETER_THREADS = 3, THREAD_NEXT = 2, THREAD_FRAME = 4, THREAD_ID = 5 };

static int ask_interpreter(struct python_code *p, uint64_t runtime)
{
	struct own_offsets o;

	if (p->layout.minor < 13)
		return 0;
	if (target__read(p->t, runtime, &o, sizeof(o)) ||
	    memcmp(o.cookie, OFFSETS_COOKIE, sizeof(o.cookie)) != 0 || o.free_threaded)
		return -ENOTSUP;
	p->layout.main_interpreter = (uint32_t)o.interpreters + 8;
	p->layout.first_thread = (uint32_t)o.interpreter[INTERPRETER_THREADS];
	p->layout.thread.next = (uint32_t)o.thread[THREAD_NEXT];
	p->layout.frames.thread_frame = (uint32_t)o.thread[THREAD_FRAME];
	p->layout.thread.id = (uint32_t)o.thread[THREAD_ID];
	return 0;
}

/* 0: not known. */
static uint64_t stop_iteration(struct target *t, const struct target_lib *lib)
{
	uint64_t at = address_of(t, lib, "PyExc_StopIteration"), type = 0;

	return at && !target__read(t, at, &type, sizeof(type)) ? type : 0;
}

static int find_threads(struct python_code *p, struct pt_python_thread *thread)
{
	const struct target_lib *lib = target__python_lib(p->t);
	uint64_t runtime = lib ? address_of(p->t, lib, "_PyRuntime") : 0, interpreter = 0;

	p->code_type = lib ? address_of(p->t, lib, "PyCode_Type") : 0;
	p->str_type = lib ? address_of(p->t, lib, "PyUnicode_Type") : 0;
	p->bytes_type = lib ? address_of(p->t, lib, "PyBytes_Type") : 0;
	if (!runtime || !p->code_type || !p->str_type || !p->bytes_type)
		return -ENOENT;
	if (ask_interpreter(p, runtime))
		return -ENOTSUP;
	if (target__read(p->t, runtime + p->layout.main_interpreter, &interpreter,
			 sizeof(interpreter)) ||
	    !interpreter)
		return -ENOENT;
	*thread = p->layout.thread;
	thread->threads_at = interpreter + p->layout.first_thread;
	thread->stop_iteration = stop_iteration(p->t, lib);
	return 0;
}

int python_code__open(struct target *t, struct python_code **out, struct pt_python_thread *thread,
		      struct pt_python_stacks *frames)
{
	struct python_code *p = calloc(1, sizeof(*p));
	int err = p ? 0 : -ENOMEM;

	if (err)
		return err;
	p->t = t;
	err = find_layout(p);
	if (!err)
		err = find_threads(p, thread);
	if (err) {
		python_code__free(p);
		return err;
	}
	*frames = p->layout.frames;
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

/* Memory that was given back begins with a pointer, or 0, where a living object counts references:
 * at most UINT32_MAX of them, which stands for an object that never goes. */
static bool is_alive(const uint8_t *object, uint64_t type)
{
	const uint64_t references = word_at(object, 0);

	return references && references <= UINT32_MAX && word_at(object, OBJECT_TYPE) == type;
}

static size_t put_utf8(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) /* of bytes that are no text, say */
		c = 0xfffd;
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Characters of `kind` bytes each; the caller frees. */
static char *as_utf8(const uint8_t *text, size_t cnt, unsigned int kind)
{
	char *out = malloc(cnt * 4 + 1), *p = out;

	for (size_t i = 0; out && i < cnt; i++) {
		uint32_t c = 0;

		memcpy(&c, text + i * kind, kind);
		p += put_utf8(p, c ? c : ' ');
	}
	if (out)
		*p = '\0';
	return out;
}

/* A str object's text; the caller frees. NULL: it is none, or no memory. */
static char *read_str(const struct python_code *p, pid_t pid, uint64_t at)
{
	uint8_t head[STR_STATE + sizeof(uint32_t)];
	auto_free uint8_t *text = NULL;
	uint32_t state;
	unsigned int kind;
	size_t cnt;

	if (!at || target__read_of(pid, at, head, sizeof(head)) || !is_alive(head, p->str_type))
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
	return as_utf8(text, cnt, kind);
}

/* A bytes object's; NULL: it is none, or too long. */
static uint8_t *read_bytes(const struct python_code *p, pid_t pid, uint64_t at, size_t *len)
{
	uint8_t head[BYTES_SIZE + sizeof(uint64_t)], *bytes;
	uint64_t size;

	*len = 0;
	if (!at || target__read_of(pid, at, head, sizeof(head)) || !is_alive(head, p->bytes_type))
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
	       is_alive(head, p->code_type);
}

/* What tells a function from another that has its place later; other fields are caches. */
static bool same_function(const struct layout *l, const uint8_t *a, const uint8_t *b)
{
	return word_at(a, l->file) == word_at(b, l->file) &&
	       word_at(a, l->function) == word_at(b, l->function) &&
	       word_at(a, l->lines) == word_at(b, l->lines) &&
	       !memcmp(a + l->first_line, b + l->first_line, sizeof(uint32_t));
}

/* What belongs to it was read while it was there. */
static bool is_unchanged(const struct python_code *p, pid_t pid, uint64_t code, const uint8_t *head)
{
	uint8_t now[CODE_MAX];

	return read_head(p, pid, code, now) && same_function(&p->layout, head, now);
}

static struct function *function_new(struct python_code *p, pid_t pid, uint64_t code,
				     const uint8_t *head)
{
	const struct layout *l = &p->layout;
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

	if (!p->layout.instructions) /* 3.10 counts them */
		return python_lines__at_310(f->lines, f->lines_len, first, place->instr);
	if (place->instr < begin) /* it has not begun */
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

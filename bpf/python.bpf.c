// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/*
 * Ranges whose begin and end are Python functions. The interpreter calls no C function for them.
 * But it reads their first instruction, and a data breakpoint sees that.
 *
 * CPython 3.10 to 3.13: differences are in pt_layout.python.
 */
#include "ranges.bpf.h"

#define OBJECT_VALUES 32  /* words before an object, see enum pt_python_attributes */
#define OBJECT_DICT   24  /* bytes before an object: PyDictObject * */
#define TYPE_SIZE     32  /* PyTypeObject: size of its objects */
#define TYPE_INLINE   4	  /* flag of a type: attributes of its objects follow the object ... */
#define TYPE_DICT     288 /* offset in its objects of the pointer to the dict */
#define INLINE_VALID  3	  /* ... u8: they are still valid there */
#define INLINE_HEAD   8	  /* ... after so many bytes */
#define DICT_KEYS     32
#define DICT_VALUES   40 /* NULL: the values are with the keys */
#define KEYS_LOG2     9	 /* PyDictKeysObject: u8; its index has 1 << so many bytes */
#define KEYS_KIND     10 /* u8 */
#define KEYS_INDEX    32
#define KEYS_GENERAL  0	  /* entries are hash, key, value; otherwise key, value */
#define KEYS_SIZE     8	  /* 3.10: u64; the index has one byte per entry ... */
#define KEYS_BYTES    255 /* ... up to this size */
#define KEYS_INDEX_10 40  /* the entries are then here: hash, key, value */
#define KEYS_SEEN     8	  /* attributes of an object that are searched */
#define STR_LENGTH    16
/* each takes up to 3 bytes of UTF-8; more, or wider ones, are a long name */
#define NAME_CHARS 42

/* The first argument of the function with this code, if the thread is running it. */
static __always_inline __u64 first_argument(__u64 code)
{
	__u64 frame = python_executing(code);

	return frame ? read_u64(frame + ctl.layout.python.frame_locals) : 0;
}

/* Address of the first entry's key, 0: unknown. *size: bytes of an entry. */
static __always_inline __u64 first_key(__u64 keys, __u64 *size)
{
	__u8 log2 = 0, kind = 0;
	__u64 index;

	if (ctl.layout.python.attributes == PT_ATTRIBUTES_DICT) {
		index = read_u64(keys + KEYS_SIZE);
		*size = 24;
		return index <= KEYS_BYTES ? keys + KEYS_INDEX_10 + index + 8 : 0;
	}
	bpf_probe_read_user(&log2, sizeof(log2), (void *)(keys + KEYS_LOG2));
	bpf_probe_read_user(&kind, sizeof(kind), (void *)(keys + KEYS_KIND));
	*size = kind == KEYS_GENERAL ? 24 : 16;
	return keys + KEYS_INDEX + (1ull << (log2 & 31)) + (kind == KEYS_GENERAL ? 8 : 0);
}

/* Index of the entry with the name; KEYS_SEEN: it is not among the first ones. *at: address of its
 * key. Its value follows, unless values are elsewhere. */
static __always_inline __u32 name_entry(__u64 keys, __u64 *at)
{
	__u64 size, entry = first_key(keys, &size);

	if (!entry)
		return KEYS_SEEN;
	for (__u32 i = 0; i < KEYS_SEEN; i++, entry += size)
		if (read_u64(entry) == ctl.layout.python.name_key) {
			*at = entry;
			return i;
		}
	return KEYS_SEEN;
}

/* Where an object has attribute values outside of a dict. 0: they are in *dict. */
static __always_inline __u64 own_values(__u64 self, __u64 *dict)
{
	__u64 type = read_u64(self + PT_PY_TYPE), values = 0, tagged;
	__u8 valid = 0;

	switch (ctl.layout.python.attributes) {
	case PT_ATTRIBUTES_BEFORE:
		values = read_u64(self - OBJECT_VALUES);
		break;
	case PT_ATTRIBUTES_TAGGED:
		tagged = read_u64(self - OBJECT_DICT);
		values = tagged & 1 ? tagged + 1 : 0;
		break;
	case PT_ATTRIBUTES_BEHIND:
		if (!(read_u64(type + PT_PY_TYPE_FLAGS) & TYPE_INLINE))
			break;
		values = self + read_u64(type + TYPE_SIZE);
		bpf_probe_read_user(&valid, sizeof(valid), (void *)(values + INLINE_VALID));
		values = valid ? values + INLINE_HEAD : 0;
		break;
	case PT_ATTRIBUTES_DICT:
		*dict = read_u64(self + read_u64(type + TYPE_DICT));
		return 0;
	}
	*dict = values ? 0 : read_u64(self - OBJECT_DICT);
	return values;
}

/* The values of a dict that shares its keys. 0: they are with the keys. */
static __always_inline __u64 dict_values(__u64 dict)
{
	__u64 values = dict ? read_u64(dict + DICT_VALUES) : 0;

	return values && ctl.layout.python.attributes == PT_ATTRIBUTES_BEHIND ? values + INLINE_HEAD
									      : values;
}

/* The str object with the object's name. 0: not found. */
static __always_inline __u64 name_object(__u64 self)
{
	__u64 dict, values = own_values(self, &dict), keys, at = 0;
	__u32 i;

	if (!values)
		values = dict_values(dict);
	keys = dict ? read_u64(dict + DICT_KEYS)
		    : read_u64(read_u64(self + PT_PY_TYPE) + ctl.layout.python.type_keys);
	i = name_entry(keys, &at);
	if (i >= KEYS_SEEN)
		return 0;
	return read_u64(values ? values + 8 * (__u64)i : at + 8);
}

/* Converts characters of `kind` bytes each to UTF-8 in one of the thread's names. Returns the
 * length. */
__weak __noinline int read_characters(struct pt_thread *t, __u32 slot, __u64 text, __u32 len,
				      __u32 kind)
{
	__u32 at = 0;
	char *dst;

	if (!t || slot > PT_MAX_NAMED)
		return 0;
	dst = t->names[slot].text;
	for (__u32 i = 0; i < NAME_CHARS && i < len; i++, text += kind) {
		__u64 wide = 0;
		__u32 c, bytes;

		bpf_probe_read_user(&wide, kind & 7, (void *)text);
		c = wide > 0xffff ? 0xfffd : wide; /* the replacement character */
		/* Without a branch, because the verifier would follow each way. */
		barrier_var(c);
		bytes = 1 + ((0x7f - c) >> 31) + ((0x7ff - c) >> 31);
		barrier_var(bytes);
		barrier_var(at);
		if (at > PT_NAME_MAX - 4)
			break;
		if (c < 0x80) {
			dst[at] = c;
		} else if (c < 0x800) {
			dst[at] = 0xc0 | c >> 6;
			dst[at + 1] = 0x80 | (c & 0x3f);
		} else {
			dst[at] = 0xe0 | c >> 12;
			dst[at + 1] = 0x80 | (c >> 6 & 0x3f);
			dst[at + 2] = 0x80 | (c & 0x3f);
		}
		at += bytes;
	}
	return at;
}

/* The same for a str object without UTF-8. A long one gets its key from the characters. */
static __always_inline __u32 read_wide(struct pt_thread *t, __u32 slot, __u64 text, __u64 len,
				       __u32 kind)
{
	const __u32 bytes = read_characters(t, slot, text, bounded(len), kind);

	barrier_var(slot);
	if (slot < PT_MAX_NAMED && (len > NAME_CHARS || kind == 4))
		long_name(&t->names[slot], 0, text, bounded(len) * kind, kind);
	return bytes;
}

/* Reads the name of a range object into one of the thread's names. Returns the length, 0: not read.
 * Global functions: each is verified once. */
__weak __noinline int read_range_name(struct pt_thread *t, __u32 slot, __u64 self)
{
	__u64 str = name_object(self), text;
	__u32 state = 0;
	long n;

	if (!t || slot > PT_MAX_NAMED || !str ||
	    bpf_probe_read_user(&state, sizeof(state), (void *)(str + PT_PY_STR_STATE)))
		return 0;
	barrier_var(slot);
	if (slot >= PT_MAX_NAMED)
		return 0;
	t->names[slot].key = PT_KEY_NONE;
	text = python_utf8(str, state);
	if (!text)
		return read_wide(t, slot, str + ctl.layout.python.str_text,
				 read_u64(str + STR_LENGTH), state >> 2 & 7);
	n = bpf_probe_read_user_str(t->names[slot].text, PT_NAME_MAX, (void *)text);
	if (n == PT_NAME_MAX)
		long_name(&t->names[slot], 0, text, 0, 0);
	return n > 1 ? n - 1 : 0;
}

/* The instruction was read twice, as it is under a tracer; or another range died without an end,
 * and this has its memory. */
static __always_inline void forget_same(struct pt_thread *t, __u64 self)
{
	const struct pt_open_span *f = open_span_at(t, t->open_cnt - 1);

	if (!f || f->kind != PT_KIND_NAMED || f->sp != PT_SP_OBJECT || f->object != self ||
	    span_has_ended(f))
		return;
	t->open_cnt--;
	if (t->named_cnt)
		t->named_cnt--;
}

SEC("perf_event")
int python_range_begin(struct pt_regs *ctx)
{
	static const char unknown[] = "(name not read)";
	__u64 now = bpf_ktime_get_ns(), self = first_argument(ctl.layout.python.begin_code);
	__u32 row = ctl.layout.python.row, len;
	const struct pt_probe_cfg *cfg = bpf_map_lookup_elem(&probe_cfg, &row);
	struct pt_thread *t = self && cfg ? thread_get() : NULL;
	struct pt_open_span *f;
	struct pt_name *name;

	if (!t)
		return 0;
	spans_close_dead_at(t, ctx->sp, now);
	stat_hit(row);
	forget_same(t, self);
	ranges_close(t, self, false);
	name = range_name_buffer(t);
	len = read_range_name(t, t->named_cnt, self);
	if (!len || len >= PT_NAME_MAX) {
		len = sizeof(unknown) - 1;
		__builtin_memcpy(name->text, unknown, sizeof(unknown));
		name->key = PT_KEY_NONE;
	}
	f = range_begin(t, row, cfg, name, len, now);
	if (f)
		f->object = self;
	return 0;
}

SEC("perf_event")
int python_range_end(struct pt_regs *ctx)
{
	__u64 self = first_argument(ctl.layout.python.end_code);
	struct pt_thread *t = self ? thread_lookup() : NULL;

	if (t && t->open_cnt)
		range_end(t, self, ctx->sp);
	return 0;
}

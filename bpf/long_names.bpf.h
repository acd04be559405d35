/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The whole texts of names too long for struct pt_name; see long_names.h. */
#ifndef PROFTRACE_LONG_NAMES_BPF_H
#define PROFTRACE_LONG_NAMES_BPF_H

#include "hash.bpf.h"
#include "long_names.h"
#include "thread.bpf.h"

/* The loader reduces its size where rows are allocated at load. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_LONG_NAMES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct pt_long_name);
} long_names __weak SEC(".maps");

/* All zeroes, for copying: it is too large for the BPF stack. Never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pt_long_name);
} empty_long_name __weak SEC(".maps");

#define SCAN_BYTES 128

/* A text that is being hashed. */
struct text_scan {
	__u64 hash;
	__u32 len;   /* bytes hashed so far */
	__u32 limit; /* length of the text, 0: up to its NUL */
};

/* Hashes one more part. 0: it was the last one; negative: the text cannot be read. Global
 * functions: the verifier follows each once. */
__weak __noinline int scan_part(struct text_scan *s, __u64 text)
{
	__u64 words[SCAN_BYTES / 8 + 1] = {};
	__u32 left;
	long n;

	if (!s)
		return -1;
	text += s->len;
	if (s->limit) {
		left = s->limit - s->len;
		barrier_var(left);
		if (left > SCAN_BYTES)
			left = SCAN_BYTES;
		n = bpf_probe_read_user(words, left, (void *)text) ? -1 : (long)left;
	} else {
		n = bpf_probe_read_user_str(words, SCAN_BYTES + 1, (void *)text) - 1;
	}
	if (n < 0)
		return -1;
	for (__u32 i = 0; i < SCAN_BYTES / 8; i++)
		s->hash = hash_mix(s->hash, words[i]);
	s->len += n;
	return n == SCAN_BYTES;
}

/* Hashes a text, or its first `max` bytes and a few more. Negative: it cannot be read. */
__weak __noinline int text_scan(struct text_scan *s, __u64 text, __u32 max)
{
	int more = 1;

	if (!s)
		return -1;
	s->len = 0;
	for (__u32 i = 0; i <= PT_LONG_TEXT / SCAN_BYTES && more > 0 && s->len <= max; i++)
		more = scan_part(s, text);
	s->hash = hash_mix(s->hash, s->len);
	return more < 0 ? -1 : 0;
}

/* Reads the wide characters of a name, as many bytes as the scan found. Bounds are compared with
 * constants, because the verifier before 6.8 learns from no others. */
static __always_inline bool wide_read(struct pt_long_name *v, __u32 len, __u64 name)
{
	barrier_var(len);
	return len <= PT_LONG_TEXT && !bpf_probe_read_user(v->text, len, (void *)name);
}

/* The same for UTF-8, after `at` bytes of a domain. */
static __always_inline bool text_read(struct pt_long_name *v, __u64 domain, __u32 at, __u64 name,
				      __u32 len)
{
	barrier_var(at);
	barrier_var(len);
	if (at > PT_WHOLE_DOMAIN || len > PT_WHOLE_NAME)
		return false;
	if (at && bpf_probe_read_user(v->text, at, (void *)domain))
		return false;
	return !bpf_probe_read_user(v->text + at, len, (void *)name);
}

__weak __noinline int long_name_read(struct pt_long_name *v, __u64 domain, __u64 name)
{
	if (!v || !(v->kind ? wide_read(v, v->len, name)
			    : text_read(v, domain, v->domain_len, name, v->len)))
		return -1;
	v->is_read = 1;
	return 0;
}

static __always_inline struct pt_long_name *long_name_at(__u64 key)
{
	struct pt_long_name *v = bpf_map_lookup_elem(&long_names, &key), *empty;
	__u32 zero = 0;

	if (v)
		return v;
	empty = bpf_map_lookup_elem(&empty_long_name, &zero);
	if (empty && !bpf_map_update_elem(&long_names, &key, empty, BPF_NOEXIST))
		__sync_fetch_and_add(&ctl.long_name_cnt, 1);
	return bpf_map_lookup_elem(&long_names, &key);
}

/* Makes the key of a name whose beginning is in dst. limit: its length, 0: up to its NUL. kind: as
 * in struct pt_long_name. domain: 0: it has none. */
__weak __noinline int long_name(struct pt_name *dst, __u64 domain, __u64 name, __u32 limit,
				__u32 kind)
{
	const __u32 max = kind ? PT_LONG_TEXT : PT_WHOLE_NAME;
	struct text_scan s = {.hash = kind};
	struct pt_long_name *v;
	__u32 domain_len = 0, is_cut = 0;
	__u64 key;

	if (!dst)
		return 0;
	dst->key = PT_KEY_UNREAD;
	if (domain && text_scan(&s, domain, PT_WHOLE_DOMAIN))
		return 0;
	domain_len = s.len;
	s.limit = limit;
	if (text_scan(&s, name, max))
		return 0;
	key = s.hash < PT_KEY_FIRST ? s.hash + PT_KEY_FIRST : s.hash;
	is_cut = domain_len > PT_WHOLE_DOMAIN || s.len > max;
	v = long_name_at(key);
	if (!v) {
		dst->key = PT_KEY_FULL;
		return 0;
	}
	if (!v->is_read) {
		v->domain_len = domain_len < PT_WHOLE_DOMAIN ? domain_len : PT_WHOLE_DOMAIN;
		v->len = s.len < max ? s.len : max;
		v->kind = kind;
		v->is_cut = is_cut;
		if (long_name_read(v, domain, name))
			return 0;
	}
	dst->key = key;
	return 0;
}

#endif

/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Strings of the target, of both C++ ABIs, C and Python, and where a probe finds the name for its
 * span. */
#ifndef PROFTRACE_NAMES_BPF_H
#define PROFTRACE_NAMES_BPF_H

#include "long_names.bpf.h"
#include "python_object.bpf.h"
#include "registers.bpf.h"

#define PT_PAGE	      4096
#define PT_TEXT_SHORT 64 /* bytes, NUL included */

static __always_inline bool has_nul(__u64 word)
{
	return (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;
}

/* Copies a text of known length with its NUL into dst, from `cnt` words. False: a NUL comes before
 * its end, or none at its end. */
static __always_inline bool take_text(char *dst, const __u64 *words, __u32 cnt, __u64 len)
{
	for (__u32 i = 0; i < cnt; i++) {
		__u64 word = words[i], left = len - 8 * i;

		((__u64 *)dst)[i] = word;
		if (left < 8)
			return !(word >> 8 * left & 0xff) && !has_nul(word | ~0ull << 8 * left);
		if (has_nul(word))
			return false;
	}
	return false;
}

/* Reads a short string of known length into dst. False: it is longer, or may reach into a missing
 * page. It always reads the same number of bytes, into the program's stack, which is cached while
 * dst seldom is. A global function: the verifier follows it once. */
__weak __noinline int read_short(struct pt_name *dst, __u64 data, __u64 len)
{
	__u64 words[PT_TEXT_SHORT / 8];

	if (!dst || len >= PT_TEXT_SHORT || data % PT_PAGE > PT_PAGE - PT_TEXT_SHORT ||
	    bpf_probe_read_user(words, sizeof(words), (void *)data))
		return false;
	return take_text(dst->text, words, PT_TEXT_SHORT / 8, len);
}

#define PT_COW_WORDS 3 /* _Rep: length, capacity, references lie before the text */

/* The same for a string with its length before it, with one read into `cnt` words. Returns the
 * length; 0: it is longer. */
static __always_inline int read_cow(char *dst, __u64 *words, __u32 cnt, __u64 data)
{
	const __u32 size = 8 * (cnt - PT_COW_WORDS);

	if (data % PT_PAGE > PT_PAGE - size ||
	    bpf_probe_read_user(words, 8 * cnt, (void *)(data - 8 * PT_COW_WORDS)))
		return 0;
	if (words[0] >= size || !take_text(dst, words + PT_COW_WORDS, cnt - PT_COW_WORDS, words[0]))
		return 0;
	return words[0];
}

__weak __noinline int read_short_cow(struct pt_name *dst, __u64 data)
{
	__u64 words[PT_COW_WORDS + PT_TEXT_SHORT / 8];

	return dst ? read_cow(dst->text, words, PT_COW_WORDS + PT_TEXT_SHORT / 8, data) : 0;
}

/* Limits a length for long_name(), which cuts longer texts anyway. */
static __always_inline __u32 bounded(__u64 len)
{
	return len < 2 * PT_LONG_TEXT ? (__u32)len : 2 * PT_LONG_TEXT;
}

/* Reads the string at addr into dst. Returns the length that was read; a long string is cut. */
static __always_inline __u32 read_string(__u64 addr, __u8 source, struct pt_name *dst)
{
	__u64 data = addr, len = 0, head[2] = {};
	long n;

	dst->key = PT_KEY_NONE;

	if (source == PT_NAME_CXX11) {
		bpf_probe_read_user(head, sizeof(head), (void *)addr);
		data = head[0];
		len = head[1];
		if (read_short(dst, data, len))
			return len;
	} else if (source == PT_NAME_COW) {
		data = read_u64(addr);
		n = read_short_cow(dst, data);
		if (n > 0)
			return n;
		len = read_u64(data - 8 * PT_COW_WORDS);
	} else if (source == PT_NAME_PYTHON) {
		data = python_text(addr);
	}
	n = bpf_probe_read_user_str(dst->text, PT_NAME_MAX, (void *)data);
	if (n <= 0)
		return 0;
	if (n == PT_NAME_MAX && (!len || len >= PT_NAME_MAX))
		long_name(dst, 0, data, bounded(len), 0);
	n--;
	return !len || (__u64)n < len ? (__u32)n : (__u32)len;
}

/* The address of the string of cfg.name_path. */
static __always_inline __u64 name_address(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	__u64 at = arg_word(ctx, cfg->name_reg);

	if (cfg->name_derefs > 0)
		at = read_u64(at + cfg->name_path[0]);
	if (cfg->name_derefs > 1)
		at = read_u64(at + cfg->name_path[1]);
	return at + cfg->name_path[cfg->name_derefs < 2 ? cfg->name_derefs : 2];
}

/* The object that a later call also has. 0: there is none. */
static __always_inline __u64 link_object(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	__u64 at = arg_word(ctx, cfg->link - 1) + cfg->link_at;

	for (__u32 i = 0; i < 3 && i < cfg->link_derefs; i++)
		at = read_u64(at);
	return at;
}

/* Puts the beginning of a domain and two colons into dst, which has PT_NAME_MAX bytes. Returns the
 * length. */
static __always_inline __u32 read_domain(__u64 addr, char *dst)
{
	long n = addr ? bpf_probe_read_user_str(dst, PT_DOMAIN_MAX, (void *)addr) : 0;
	__u32 len = n > 1 ? n - 1 : 0;

	if (!len || len > PT_DOMAIN_MAX)
		return 0;
	barrier_var(len);
	if (len > PT_DOMAIN_MAX)
		return 0;
	dst[len] = ':';
	dst[len + 1] = ':';
	return len + 2;
}

/* The object pointed to, if it is a domain; else 0. */
static __always_inline __u64 domain_of(__u64 pointer)
{
	__u64 domain = read_u64(pointer);

	return domain && read_u64(domain) == ctl.layout.domain_class ? domain : 0;
}

/* Reads a name with its domain, as the probe's row describes. Returns its length, at most that of
 * *dst. 0: not read. */
static __always_inline __u32 read_name(struct pt_regs *ctx, const struct pt_probe_cfg *cfg,
				       struct pt_name *dst)
{
	__u64 name = name_address(ctx, cfg), domain;
	__u32 at;
	long n;

	if (!cfg->domain)
		return read_string(name, cfg->name_source, dst);
	domain = arg_word(ctx, cfg->domain - 1);
	if (cfg->domain_at)
		domain = domain_of(domain + cfg->domain_at);
	if (domain)
		domain += cfg->domain_text;
	if (cfg->name_source == PT_NAME_COW) {
		domain = read_u64(domain);
		name = read_u64(name);
	}
	dst->key = PT_KEY_NONE;
	at = read_domain(domain, dst->text);
	barrier_var(at);
	if (at > PT_DOMAIN_MAX + 2)
		return 0;
	n = bpf_probe_read_user_str(dst->text + at, PT_NAME_MAX - PT_DOMAIN_MAX - 2, (void *)name);
	if (n == PT_NAME_MAX - PT_DOMAIN_MAX - 2 || at == PT_DOMAIN_MAX + 1)
		long_name(dst, at ? domain : 0, name, 0, 0);
	return n > 1 ? at + (__u32)n - 1 : 0;
}

/* Address of the name of the object in cfg.name_reg. 0: its class is unknown. */
static __always_inline __u64 class_name_address(struct pt_regs *ctx, const struct pt_probe_cfg *cfg)
{
	__u64 object = arg_word(ctx, cfg->name_reg), vtable = read_u64(object);

	for (int i = 0; i < PT_MAX_CLASSES; i++) {
		const struct pt_class_name *c = &ctl.layout.class_names[i];

		if (!c->vtable)
			break;
		if (c->vtable == vtable)
			return object + c->offset;
	}
	return 0;
}

#endif

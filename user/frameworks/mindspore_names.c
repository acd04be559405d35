// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/mindspore_names.h"
#include "attach/site.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

#define FULL_NAME "_ZN9mindspore5CNode19fullname_with_scopeEv" /* (result, node) */

#define CALL_LEN 5
#define MAX_HEAD 96   /* bytes of the function up to its test whether the name exists */
#define MAX_NEAR 1024 /* bytes from a launch to the call that asks for its name */

struct search {
	const struct table_scan *scan;
	const struct target_lib *lib;
	struct elf_section text;
	uint64_t stub; /* stub that calls FULL_NAME */
	struct pt_full_name *out;
	size_t cnt;
	bool too_many;
};

/* Looks for mov disp8(%rsi), %REG ... cmpq $0, -0x18(%REG): a std::string's length lies before its
 * text. */
int mindspore_names__offset(const uint8_t *code, size_t len)
{
	int offset = -ENOENT, reg = -1;
	size_t insn_len;

	for (size_t at = 0; at < MAX_HEAD && at + 8 <= len; at += insn_len) {
		const uint8_t *p = code + at;

		insn_len = site__insn_len(p, len - at);
		if (!insn_len)
			break;
		if (p[0] == 0x48 && p[1] == 0x8b && (p[2] & 0xc7) == 0x46 && p[3] < 0x80) {
			offset = p[3];
			reg = p[2] >> 3 & 7;
		}
		if (p[0] == 0x48 && p[1] == 0x83 && p[2] == (0x78 | reg) && p[3] == 0xe8 && !p[4])
			return offset;
	}
	return -ENOENT;
}

static bool is_known(const struct search *s, uint64_t return_address)
{
	for (size_t i = 0; i < s->cnt; i++)
		if (s->out->sites[i].return_address == return_address)
			return true;
	return false;
}

/* Adds the return site of a virtual call, at offset `from` of the code. A wrong guess does no harm,
 * because no call returns to a place that is no instruction. */
static void try_call(struct search *s, size_t from)
{
	uint64_t address = s->lib->base + s->text.vaddr + from;
	int64_t callee = (int64_t)(s->stub - s->text.vaddr);
	int reg = site__kept_argument(s->text.bytes, s->text.len, from, callee);

	if (reg < 0 || is_known(s, address))
		return;
	if (s->cnt == PT_MAX_FULL_NAME_SITES) {
		s->too_many = true;
		return;
	}
	s->out->sites[s->cnt++] = (struct pt_full_name_site){address, (uint32_t)reg};
}

/* Adds the virtual calls, call *disp8(%rax), before the call at `at`, which asks for a name. */
static void try_calls_before(struct search *s, size_t at)
{
	for (size_t from = at > MAX_NEAR ? at - MAX_NEAR : 3; from < at; from++)
		if (s->text.bytes[from - 3] == 0xff && s->text.bytes[from - 2] == 0x50)
			try_call(s, from);
}

static void find_sites(struct search *s)
{
	const uint8_t *p = s->text.bytes, *end = p + s->text.len;

	while ((p = memchr(p, 0xe8, (size_t)(end - p))) && end - p >= CALL_LEN) {
		size_t at = (size_t)(p - s->text.bytes);
		int32_t distance;

		memcpy(&distance, p + 1, sizeof(distance));
		if (s->text.vaddr + at + CALL_LEN + (uint64_t)(int64_t)distance == s->stub)
			try_calls_before(s, at);
		p++;
	}
}

static bool search_lib(const struct table_scan *scan, unsigned int lib, struct pt_full_name *out)
{
	struct search s = {.scan = scan, .lib = scan->libs[lib], .out = out};

	if (!scan->elfs[lib])
		return false;
	s.text = elf_file__whole_section(scan->elfs[lib], ".text");
	s.stub = elf_file__stub(scan->elfs[lib], FULL_NAME);
	if (!s.text.bytes || !s.stub)
		return false;
	find_sites(&s);
	log__debug("%s: %zu calls behind which a full name is asked for%s", s.lib->path, s.cnt,
		   s.too_many ? ", and more" : "");
	return s.cnt && !s.too_many;
}

int mindspore_names__plan(const struct table_scan *scan, unsigned int core,
			  const unsigned int *launchers, size_t launcher_cnt)
{
	struct pt_full_name found = {};
	struct elf_symbol symbol;
	const uint8_t *code = NULL;
	int offset = -ENOENT;
	size_t len;

	if (scan->elfs[core] && !elf_file__symbol(scan->elfs[core], FULL_NAME, &symbol))
		code = elf_file__bytes(scan->elfs[core], symbol.vaddr, &len);
	if (code)
		offset = mindspore_names__offset(code, len);
	for (size_t i = 0; offset >= 0 && i < launcher_cnt; i++) {
		memset(&found, 0, sizeof(found));
		if (!search_lib(scan, launchers[i], &found))
			continue;
		found.text_at = (uint32_t)offset;
		scan->plan->layout.full_name = found;
		return 0;
	}
	return probe_plan__missing(scan->plan, "the code that launches kernels is not as "
					       "measured; not shown: full names of operators, and "
					       "phases by them");
}

// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/paddle_events.h"
#include "attach/site.h"
#include "common/err.h"
#include "common/util.h"
#include <string.h>

#define MAX_BRANCH 48 /* bytes from the question whether a profiler runs to the branch */
#define MAX_BLOCK  96 /* bytes from the branch to the load of the event's name */
#define MAX_TEXT   120

#define CALL_LEN 5

enum callee { ASKS = 0, BEGINS, BEGINS_BY_STRING, ENDS, CALLEE_CNT };

#define TYPE_AND_ROLE "NS_15TracerEventTypeEjNS_9EventRoleE"

static const char *const callees[CALLEE_CNT] = {
	[ASKS] = "_ZN3phi11RecordEvent9IsEnabledEv",
	[BEGINS] = "_ZN3phi11RecordEventC1EPKc" TYPE_AND_ROLE,
	[BEGINS_BY_STRING] = "_ZN3phi11RecordEventC1ERKNSt7__cxx1112basic_string"
			     "IcSt11char_traitsIcESaIcEEE" TYPE_AND_ROLE,
	[ENDS] = "_ZN3phi11RecordEvent3EndEv",
};

struct call {
	uint64_t vaddr;
	enum callee callee;
	const char *name; /* text that rsi points to; NULL: unknown */
	uint64_t object;  /* encoding of the instruction that sets rdi; 0: unknown */
	uint32_t row;	  /* row of the span that begins here; 0: none */
};

struct named_row {
	const char *name; /* text in the library's file */
	uint32_t row;
};

struct events {
	struct table_scan *s;
	unsigned int lib;
	struct elf_file *elf;
	struct elf_section text, strings;
	uint64_t stub[CALLEE_CNT]; /* stub by which the library calls each function; 0: it does
				      not */
	struct call *calls;
	size_t call_cnt, call_cap;
	struct named_row *rows;
	size_t row_cnt, row_cap;
	size_t *kernels;
};

/* ---- the file ---- */

static int32_t read_i32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* A text of the library at an address. NULL: there is none, or it is too long for a name. */
static const char *text_at(const struct events *e, uint64_t vaddr)
{
	size_t at = vaddr - e->strings.vaddr;

	if (vaddr < e->strings.vaddr || at >= e->strings.len)
		return NULL;
	return memchr(e->strings.bytes + at, '\0',
		      e->strings.len - at < MAX_TEXT ? e->strings.len - at : MAX_TEXT)
		       ? (const char *)e->strings.bytes + at
		       : NULL;
}

/* The text of lea offset(%rip), %rsi. */
static const char *text_in_rsi(const struct events *e, const uint8_t *code, uint64_t vaddr)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x35};

	if (memcmp(code, lea, sizeof(lea)) != 0)
		return NULL;
	return text_at(e, vaddr + 7 + (uint64_t)(int64_t)read_i32(code + sizeof(lea)));
}

/* The encoding of an instruction that sets rdi: lea offset(%rbp), %rdi or mov REGISTER, %rdi. Else
 * 0. */
static uint64_t sets_rdi(const uint8_t *code, size_t insn_len)
{
	uint64_t insn = 0;

	if (insn_len > 7 || insn_len < 3)
		return 0;
	memcpy(&insn, code, insn_len);
	if ((insn & 0xc7fffb) == 0xc78948) /* mov */
		return insn;
	return (insn & 0xffffff) == 0xbd8d48 || (insn & 0xffffff) == 0x7d8d48 ? insn : 0;
}

/* ---- calls ---- */

static int gather(struct events *e)
{
	const uint8_t *p = e->text.bytes, *end = p + e->text.len;
	int err = 0;

	while (!err && (p = memchr(p, 0xe8, (size_t)(end - p))) && end - p >= CALL_LEN) {
		uint64_t vaddr = e->text.vaddr + (uint64_t)(p - e->text.bytes);
		uint64_t target = vaddr + CALL_LEN + (uint64_t)(int64_t)read_i32(p + 1);

		for (int c = 0; c < CALLEE_CNT && !err; c++)
			if (target == e->stub[c])
				err = ARRAY_PUSH(
					e->calls, e->call_cnt, e->call_cap,
					((struct call){vaddr, (enum callee)c, NULL, 0, 0}));
		p++;
	}
	return err;
}

/* The name of the event that is made if the answer is yes: test %al, %al; then jne or je. */
static const char *asked_for(const struct events *e, uint64_t vaddr)
{
	size_t len, at = CALL_LEN;
	const uint8_t *code = elf_file__bytes(e->elf, vaddr, &len);
	int64_t target;

	if (!code || len < MAX_BRANCH + 8)
		return NULL;
	while (at < MAX_BRANCH && (code[at] != 0x84 || code[at + 1] != 0xc0))
		at++;
	if (at == MAX_BRANCH)
		return NULL;
	at += 2;
	if (code[at] == 0x75)
		target = (int64_t)at + 2 + (int8_t)code[at + 1];
	else if (code[at] == 0x0f && code[at + 1] == 0x85)
		target = (int64_t)at + 6 + read_i32(code + at + 2);
	else if (code[at] == 0x74)
		target = (int64_t)at + 2;
	else if (code[at] == 0x0f && code[at + 1] == 0x84)
		target = (int64_t)at + 6;
	else
		return NULL;
	vaddr += (uint64_t)target;
	code = elf_file__bytes(e->elf, vaddr, &len);
	for (at = 0; code && at < MAX_BLOCK && at + 7 <= len; at++)
		if (text_in_rsi(e, code + at, vaddr + at))
			return text_in_rsi(e, code + at, vaddr + at);
	return NULL;
}

/* Goes through the function's instructions and notes what is in rsi at calls. False if the calls
 * found by their bytes are no instructions, or if some code is not understood. */
static bool walk(const struct events *e, const struct elf_symbol *f, struct call *calls, size_t cnt)
{
	uint64_t vaddr = f->vaddr;
	const char *rsi = NULL;
	uint64_t rdi = 0;
	size_t i = 0, len, insn_len;
	const uint8_t *code = elf_file__bytes(e->elf, vaddr, &len);

	while (code && i < cnt && len >= 8) {
		insn_len = site__insn_len(code, len);
		if (!insn_len || insn_len > len || vaddr > calls[i].vaddr)
			return false;
		if (insn_len == 7 && text_in_rsi(e, code, vaddr))
			rsi = text_in_rsi(e, code, vaddr);
		if (sets_rdi(code, insn_len))
			rdi = sets_rdi(code, insn_len);
		if (vaddr == calls[i].vaddr) {
			calls[i].name = rsi;
			calls[i++].object = rdi;
		}
		if (code[0] == 0xe8) {
			rsi = NULL;
			rdi = 0;
		}
		code += insn_len;
		vaddr += insn_len;
		len -= insn_len;
	}
	return i == cnt;
}

/* ---- rows ---- */

static bool ends_with(const char *text, const char *suffix)
{
	size_t len = text ? strlen(text) : 0, suffix_len = strlen(suffix);

	return len > suffix_len && !strcmp(text + len - suffix_len, suffix);
}

static bool is_kernel(const char *name)
{
	return ends_with(name, " kernel launch") || ends_with(name, " compute");
}

/* The call gets a std::string with the name, and `this` is the object. */
static const struct pt_probe_cfg by_string = {
	.name_source = PT_NAME_CXX11,
	.name_reg = 1,
	.flags = PT_KEY_IS_OBJECT,
};

/* A probe for the span that begins at a call. The probe is at that call or at another one. */
static struct planned_probe probe_at(const struct events *e, const struct call *call,
				     const struct call *begin, const char *program)
{
	bool has_name = begin->callee != BEGINS_BY_STRING;

	return (struct planned_probe){
		.group = GROUP_INNER,
		.lib = e->s->libs[e->lib],
		.symbol = callees[call->callee],
		.vaddr = call->vaddr,
		.program = program,
		.name = has_name ? begin->name : NULL,
		.category = CAT_OPERATOR,
		.cfg = has_name ? (struct pt_probe_cfg){} : by_string,
		.row = begin->row,
	};
}

static int add(struct events *e, struct planned_probe *probe)
{
	if (elf_file__offset(e->elf, probe->vaddr, &probe->offset))
		return 0;
	return probe_plan__add(e->s->plan, probe);
}

/* Spans of the same name share a row. */
static int add_named(struct events *e, struct call *call)
{
	struct planned_probe probe = probe_at(e, call, call, "call_entry");
	struct named_row row = {.name = call->name};
	int err;

	for (size_t i = e->row_cnt; i-- > 0 && !probe.row;)
		if (!strcmp(e->rows[i].name, call->name))
			probe.row = e->rows[i].row;
	call->row = probe.row;
	err = add(e, &probe);
	if (err || call->row)
		return err;
	call->row = row.row = e->s->plan->row_cnt;
	return ARRAY_PUSH(e->rows, e->row_cnt, e->row_cap, row);
}

/* The event's name is read at its begin, because it is known only there. */
static int add_by_string(struct events *e, struct call *call)
{
	struct planned_probe probe = probe_at(e, call, call, "object_entry");
	int err = add(e, &probe);

	call->row = e->s->plan->row_cnt;
	return err;
}

/* May this call end what begins there? If no end names the object in the same way, all ends may. */
static bool may_end(const struct call *calls, size_t cnt, const struct call *begin,
		    const struct call *end)
{
	if (end->object == begin->object)
		return true;
	for (size_t i = 0; i < cnt; i++)
		if (calls[i].callee == ENDS && calls[i].object == begin->object)
			return false;
	return true;
}

static const struct call *ended_by(const struct call *calls, size_t cnt, const struct call *end)
{
	for (size_t i = 0; i < cnt; i++)
		if (calls[i].row && may_end(calls, cnt, &calls[i], end))
			return &calls[i];
	return NULL;
}

/* One probe ends all spans that may end there. */
static int plan_ends(struct events *e, const struct call *calls, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct call *begin =
			calls[i].callee == ENDS ? ended_by(calls, cnt, &calls[i]) : NULL;
		struct planned_probe probe;

		if (!begin)
			continue;
		probe = probe_at(e, &calls[i], begin, "object_leave");
		err = add(e, &probe);
	}
	return err;
}

/* Does a function make this event with or without a profiler? */
static bool is_made_always(const char *name)
{
	return ends_with(name, " node_creation") || ends_with(name, "Instruction::infermeta") ||
	       (name && (!strcmp(name, "infer_shape") || !strcmp(name, "compute")));
}

/* Plans the calls in one function. */
static int plan_function(struct events *e, struct call *calls, size_t cnt)
{
	bool runs_instruction = false;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		struct call *call = &calls[i];

		if (call->callee == ASKS) {
			struct call asked = {call->vaddr, ASKS, asked_for(e, call->vaddr), 0, 0};

			if (!is_kernel(asked.name) && !ends_with(asked.name, " infer_meta"))
				continue;
			*e->kernels += is_kernel(asked.name);
			err = add_named(e, &asked);
		} else if (call->callee == BEGINS && is_made_always(call->name)) {
			runs_instruction |= !ends_with(call->name, " node_creation");
			err = add_named(e, call);
		} else if (call->callee == BEGINS_BY_STRING && runs_instruction) {
			err = add_by_string(e, call);
		}
	}
	return err ? err : plan_ends(e, calls, cnt);
}

static int plan_calls(struct events *e)
{
	struct elf_symbol f;
	size_t cnt;
	int err = 0;

	for (size_t i = 0; i < e->call_cnt && !err; i += cnt) {
		cnt = 1;
		if (elf_file__symbol_at(e->elf, e->calls[i].vaddr, &f))
			continue;
		while (i + cnt < e->call_cnt && e->calls[i + cnt].vaddr < f.vaddr + f.size)
			cnt++;
		if (walk(e, &f, e->calls + i, cnt))
			err = plan_function(e, e->calls + i, cnt);
	}
	return err;
}

int paddle_events__plan(struct table_scan *s, unsigned int lib, size_t *kernels)
{
	struct events e = {.s = s, .lib = lib, .elf = s->elfs[lib], .kernels = kernels};
	int err = 0;

	if (!e.elf)
		return 0;
	e.text = elf_file__whole_section(e.elf, ".text");
	e.strings = elf_file__whole_section(e.elf, ".rodata");
	for (int c = 0; c < CALLEE_CNT; c++)
		e.stub[c] = elf_file__stub(e.elf, callees[c]);
	if (e.text.bytes && e.strings.bytes)
		err = gather(&e);
	if (!err)
		err = plan_calls(&e);
	log__debug("%s: %zu events inside operators", s->libs[lib]->path, e.row_cnt);
	free(e.calls);
	free(e.rows);
	return err;
}

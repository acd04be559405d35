// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/probe_table.h"
#include "attach/attach.h"
#include "attach/site.h"
#include "common/err.h"
#include "common/util.h"
#include "frameworks/function_end.h"
#include "frameworks/symbol_pattern.h"
#include <string.h>

#define MAX_EXITS 128 /* exits of one function, jumps included */

/* Calls that may follow the end of a span: destructors, and others that were seen to do no work. */
#define BEHIND	    1
#define BEHIND_SITE 3 /* the same with a site_program */

/* A walk over a library's symbols, with the rows of that library. */
struct walk {
	struct table_scan *scan;
	size_t cnt;
	struct {
		const struct probe_row *row;
		struct symbol_pattern symbol, other;
	} rows[TABLE_MAX_ROWS];
};

static bool row_shown(const struct table_scan *s, const struct probe_row *row)
{
	return (row->details & (1u << s->opts->detail)) &&
	       (!row->memory || s->opts->profile_memory) &&
	       (row->group != GROUP_NODE_TYPE || s->opts->node_types);
}

static bool row_finds_period(const struct table_scan *s, const struct probe_row *row)
{
	return s->opts->find_period && !row->memory && row->group == GROUP_OPERATOR &&
	       (row->details & AT_OPERATOR);
}

/* The bytes of a function. NULL: there are none. */
static const uint8_t *body(struct elf_file *elf, const struct elf_symbol *s, size_t *len)
{
	const uint8_t *code = elf_file__bytes(elf, s->vaddr, len);

	if (code && s->size && s->size < *len)
		*len = s->size;
	return code;
}

/* The place of the program: the entry, or a cheaper instruction after it if the row allows. */
static int place(struct elf_file *elf, const struct elf_symbol *s, const struct probe_row *row,
		 struct planned_probe *probe)
{
	size_t len, aligned;
	const uint8_t *code = body(elf, s, &len);
	int shift, off;

	probe->vaddr = s->vaddr;
	if (!row->slide || !code)
		return 0;
	aligned = row->aligned_program ? site__aligned_push(code, len) : 0;
	if (aligned) {
		probe->vaddr += aligned;
		probe->program = row->aligned_program;
		return 0;
	}
	off = site__slide(code, len, row->slide_keep, &shift);
	if (off < 0)
		return off;
	probe->vaddr += (uint64_t)off;
	probe->cfg.rsp_shift = (uint16_t)shift;
	return 0;
}

/* Adds further probes to the function whose entry was added last, with the same row. */
static int add_ends(struct table_scan *s, const struct probe_row *row,
		    const struct elf_symbol *symbol, const char *program, const uint32_t *at,
		    size_t cnt)
{
	struct planned_probe end = s->plan->probes[s->plan->cnt - 1];
	int err = 0;

	end.program = program;
	end.pointer_hook = POINTER_HOOK_NOT;
	end.return_program = NULL;
	for (size_t i = 0; i < cnt && !err; i++) {
		end.vaddr = symbol->vaddr + at[i];
		if (!elf_file__offset(s->elfs[row->lib], end.vaddr, &end.offset))
			err = probe_plan__add(s->plan, &end);
	}
	return err;
}

/* Jumps that leave the function lead to its cold part, which throws. */
static int plan_leaves(struct table_scan *s, const struct probe_row *row,
		       const struct elf_symbol *symbol, const uint8_t *code, size_t len)
{
	struct site_exit exits[MAX_EXITS];
	int found = site__exits(code, len, exits, MAX_EXITS);
	uint32_t at[TABLE_MAX_ENDS];
	size_t cnt = 0;

	for (int i = 0; i < found && cnt < TABLE_MAX_ENDS; i++)
		if (!exits[i].is_jump)
			at[cnt++] = exits[i].off;
	return add_ends(s, row, symbol, "call_leave", at, cnt);
}

/* Adds the ends of the function whose entry was added last. Without an end probe the model infers
 * the end. */
static int plan_ends(struct table_scan *s, const struct probe_row *row,
		     const struct elf_symbol *symbol)
{
	const char *program = row->site_program ? row->site_program
			      : row->leaves	? "call_site"
						: NULL;
	uint32_t at[TABLE_MAX_ENDS];
	size_t len, cnt;
	const uint8_t *code = body(s->elfs[row->lib], symbol, &len);

	if (!program || !code || !symbol->size)
		return 0;
	cnt = function_end__find(s->elfs[row->lib], symbol->vaddr, len,
				 row->site_program ? BEHIND_SITE : BEHIND, at, ARRAY_SIZE(at));
	if (cnt)
		return add_ends(s, row, symbol, program, at, cnt);
	return row->leaves ? plan_leaves(s, row, symbol, code, len) : 0;
}

/* The category's depth: the model lets some contain others (model/finish.c). */
static uint32_t place_of(enum span_category category)
{
	if (category == CAT_OPERATOR || category == CAT_OPTIMIZER_OP)
		return PT_HOLDS_OPERATORS | PT_MAY_BE_INNER;
	return category == CAT_BACKWARD_NODE ? PT_HOLDS_OPERATORS : 0;
}

/* Also 0 if no probe can be there. Then the row counts as not found. */
static int plan_row(struct table_scan *s, const struct probe_row *row,
		    const struct elf_symbol *symbol, const char *name)
{
	struct elf_file *elf = s->elfs[row->lib];
	struct planned_probe probe = {
		.group = row->group,
		.lib = s->libs[row->lib],
		.symbol = symbol->name,
		.program = row->program,
		.return_program = row->return_program,
		.return_site_program = row->return_site_program,
		.name = name,
		.name_prefix = row->name_prefix,
		.name_suffix = row->name_suffix,
		.category = row->category,
		.entry = symbol->vaddr,
		.pointer_hook = row->pointer_hook,
		.pointers_lib = row->pointers_lib
					? probe_table__lib(s->table, s->t, row->pointers_lib)
					: NULL,
		.cfg = row->cfg,
		.for_period = !row_shown(s, row),
	};
	int err;

	if (row->alias)
		return probe_plan__alias(s->plan, probe.lib, symbol->vaddr, name);
	if (place(elf, symbol, row, &probe) || elf_file__offset(elf, probe.vaddr, &probe.offset))
		return 0;
	if (row->shapes_program && s->opts->record_shapes)
		probe.program = row->shapes_program;
	probe.cfg.note_returns = row->return_site_program != NULL;
	probe.cfg.place = place_of(row->category);
	if (row->adjust)
		row->adjust(symbol->name, &probe);
	s->found[row - s->table->rows]++;
	err = probe_plan__add(s->plan, &probe);
	return err ? err : plan_ends(s, row, symbol);
}

static int plan_symbol(const struct elf_symbol *symbol, void *ctx)
{
	const struct walk *w = ctx;
	char name[320];

	/* A part of a function has a name with a dot: .cold, .part */
	if (!symbol->is_function || memchr(symbol->name, '.', symbol->name_len))
		return 0;
	for (size_t i = 0; i < w->cnt; i++) {
		const struct probe_row *row = w->rows[i].row;

		if (!symbol_pattern__matches(&w->rows[i].symbol, symbol->name, symbol->name_len) &&
		    !symbol_pattern__matches(&w->rows[i].other, symbol->name, symbol->name_len))
			continue;
		if (symbol->size < row->min_size)
			continue;
		if (row->name_of && !row->name_of(symbol->name, name, sizeof(name)))
			continue;
		return plan_row(w->scan, row, symbol, row->name_of ? name : row->name);
	}
	return 0;
}

static bool may_be_planned(const char *name, size_t max, void *ctx)
{
	const struct walk *w = ctx;

	for (size_t i = 0; i < w->cnt; i++)
		if (symbol_pattern__may_match(&w->rows[i].symbol, name, max) ||
		    symbol_pattern__may_match(&w->rows[i].other, name, max))
			return true;
	return false;
}

static void choose_rows(struct walk *w, unsigned int lib)
{
	const struct probe_table *table = w->scan->table;

	w->cnt = 0;
	for (size_t i = 0; i < table->row_cnt && w->cnt < ARRAY_SIZE(w->rows); i++) {
		const struct probe_row *row = &table->rows[i];

		if (row->lib != lib ||
		    (!row_shown(w->scan, row) && !row_finds_period(w->scan, row)))
			continue;
		w->rows[w->cnt].row = row;
		w->rows[w->cnt].symbol = symbol_pattern__of(row->symbol);
		w->rows[w->cnt++].other = symbol_pattern__of(row->other_symbol);
	}
}

static int allow_returns(struct allowed_returns *returns, const char *pattern, const char *why)
{
	char text[256];

	snprintf(text, sizeof(text), "%s%s", pattern, strchr(pattern, '*') ? "" : "*");
	return allowed_returns__add_pattern(returns, text, why);
}

static int allow_all_returns(const struct probe_table *table, struct allowed_returns *returns)
{
	int err = 0;

	for (size_t i = 0; i < table->row_cnt && !err; i++) {
		const struct probe_row *row = &table->rows[i];

		if (!row->returns_safely)
			continue;
		err = allow_returns(returns, row->symbol, row->returns_safely);
		if (!err && row->other_symbol)
			err = allow_returns(returns, row->other_symbol, row->returns_safely);
	}
	return err;
}

/* The name under which the target maps a library. The first one if it maps neither. */
static const char *lib_pattern(const struct probe_table *table, const struct target *t,
			       unsigned int lib)
{
	const char *other = table->other_libs ? table->other_libs[lib] : NULL;

	return other && !target__find_lib(t, table->libs[lib]) && target__find_lib(t, other)
		       ? other
		       : table->libs[lib];
}

const struct target_lib *probe_table__lib(const struct probe_table *table, const struct target *t,
					  unsigned int lib)
{
	return target__find_lib(t, lib_pattern(table, t, lib));
}

static bool is_missing(const struct table_scan *s, size_t i)
{
	const struct probe_row *row = &s->table->rows[i];

	return !s->found[i] && row->loses && row_shown(s, row);
}

/* Adds what a missing library would have shown. For example, a C++ program lacks the library for
 * Python. */
static int missing_lib(const struct table_scan *s, unsigned int lib)
{
	char lost[1024];
	size_t len = 0;

	for (size_t i = 0; i < s->table->row_cnt; i++) {
		if (s->table->rows[i].lib != lib || !is_missing(s, i) || len >= sizeof(lost))
			continue;
		len += (size_t)snprintf(lost + len, sizeof(lost) - len, "%s%s", len ? "; " : "",
					s->table->rows[i].loses);
	}
	return len ? probe_plan__missing(s->plan, "%s is not loaded; not shown: %s",
					 lib_pattern(s->table, s->t, lib), lost)
		   : 0;
}

static int missing(const struct table_scan *s)
{
	int err = 0;

	for (unsigned int lib = 0; lib < s->table->lib_cnt && !err; lib++)
		err = s->libs[lib] ? 0 : missing_lib(s, lib);
	for (size_t i = 0; i < s->table->row_cnt && !err; i++) {
		const struct probe_row *row = &s->table->rows[i];

		if (s->libs[row->lib] && is_missing(s, i))
			err = probe_plan__missing(s->plan, "%s: no symbol %s%s; not shown: %s",
						  lib_pattern(s->table, s->t, row->lib),
						  row->symbol, strchr(row->symbol, '*') ? "" : "*",
						  row->loses);
	}
	return err;
}

int probe_table__plan(const struct probe_table *table, struct target *t,
		      const struct plan_opts *opts, struct probe_plan *plan,
		      struct table_scan *scan)
{
	int err = allow_all_returns(table, &plan->returns);

	*scan = (struct table_scan){.table = table, .t = t, .opts = opts, .plan = plan};
	for (unsigned int lib = 0; lib < table->lib_cnt && !err; lib++) {
		struct walk w = {scan};

		scan->libs[lib] = probe_table__lib(table, t, lib);
		if (!scan->libs[lib])
			continue;
		scan->elfs[lib] = target__elf(t, scan->libs[lib]);
		if (!scan->elfs[lib])
			return -EIO;
		choose_rows(&w, lib);
		err = elf_file__for_each_wanted(scan->elfs[lib], may_be_planned, plan_symbol, &w);
	}
	return err ? err : missing(scan);
}

uint64_t table_scan__address(const struct table_scan *scan, unsigned int lib, const char *symbol)
{
	struct elf_symbol s;

	if (!scan->elfs[lib] || elf_file__symbol(scan->elfs[lib], symbol, &s))
		return 0;
	return scan->libs[lib]->base + s.vaddr;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes of a framework as rows, and the one planner that reads them. */
#ifndef PROFTRACE_PROBE_TABLE_H
#define PROFTRACE_PROBE_TABLE_H

#include "frameworks/framework.h"

#define TABLE_MAX_LIBS 12
#define TABLE_MAX_ROWS 64
#define TABLE_MAX_ENDS 16 /* of one function */

/* Bits of probe_row.details. */
enum {
	AT_PHASE = 1 << DETAIL_PHASE,
	AT_OPERATOR = 1 << DETAIL_OPERATOR,
	AT_INNER = 1 << DETAIL_INNER,
	AT_SPANS = AT_OPERATOR | AT_INNER,
	AT_ALL = AT_PHASE | AT_SPANS,
};

/* Every function whose mangled name begins so or, if there is a '*', matches the shell pattern. */
struct probe_row {
	unsigned int lib; /* of the table */
	const char *symbol;
	const char *other_symbol; /* of other versions; NULL: none */
	unsigned int details;
	enum probe_group group;
	enum span_category category;
	const char *program;
	const char *shapes_program; /* instead, with --record-shapes; NULL: the same */
	const char *return_program; /* NULL: no return probe */
	/* Its end is seen at an instruction that each normal return passes. If the kernel emulates
	   none of these, its end is seen at its returns, which are single-stepped. */
	bool leaves;
	const char *aligned_program; /* behind a prologue that aligns the stack, with slide */
	const char *returns_safely; /* why no exception leaves the function; a return probe needs this */
	const char *site_program;   /* inside, where each normal return passes; NULL: no such end */
	const char *name_prefix;    /* before names that the program reads; NULL: none */
	const char *return_site_program; /* at the return sites of its calls, as they are found; NULL: none */
	const char *name;	    /* in tables; NULL: by name_of, or read by the program */
	const char *name_suffix;    /* of names that the program reads; NULL: none */
	/* Name in tables from the symbol; false: the symbol is none of this row's. */
	bool (*name_of)(const char *symbol, char *out, size_t size);
	void (*adjust)(const char *symbol,
		       struct planned_probe *probe); /* last changes; NULL: none */
	struct pt_probe_cfg cfg;
	bool slide;		 /* the program may sit on a cheaper instruction further in */
	unsigned int slide_keep; /* registers that the program reads (SITE_RDI ...), if it may */
	size_t min_size;	 /* shorter functions are none of this row's, in bytes */
	enum pointer_hook pointer_hook;	 /* how it may be seen without probes */
	unsigned int pointers_lib; /* of the table, where else the pointers lie; 0: nowhere else */
	bool alias;		 /* it has no probe: see struct pointer_hook_alias */
	bool memory;		 /* with --profile-memory only */
	const char *loses;	 /* what is missing without it; NULL: an optional row */
};

struct probe_table {
	const char *const *libs; /* shell patterns of basenames */
	/* The same where the target maps none of those: NULL, or an item NULL: no other name. */
	const char *const *other_libs;
	size_t lib_cnt;
	const struct probe_row *rows;
	size_t row_cnt;
};

/* What a plan was made from, for what a framework adds to it. */
struct table_scan {
	const struct probe_table *table;
	struct target *t;
	const struct plan_opts *opts;
	struct probe_plan *plan;
	const struct target_lib *libs[TABLE_MAX_LIBS]; /* NULL: not mapped */
	struct elf_file *elfs[TABLE_MAX_LIBS];
	unsigned int found[TABLE_MAX_ROWS]; /* functions, by row */
};

/* Adds the rows' probes, and what was looked for in vain to plan->missing. */
int probe_table__plan(const struct probe_table *table, struct target *t,
		      const struct plan_opts *opts, struct probe_plan *plan,
		      struct table_scan *scan);

/* A library of the table as the target maps it, by either name; NULL: not mapped. */
const struct target_lib *probe_table__lib(const struct probe_table *table, const struct target *t,
					  unsigned int lib);

/* Where a symbol of a library lies in the target, 0 if it has none. */
uint64_t table_scan__address(const struct table_scan *scan, unsigned int lib, const char *symbol);

#endif

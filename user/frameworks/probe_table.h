/* SPDX-License-Identifier: BSD-2-Clause */
/* The probes of a framework as rows of a table, and the planner that reads it. */
#ifndef PROFTRACE_PROBE_TABLE_H
#define PROFTRACE_PROBE_TABLE_H

#include "frameworks/framework.h"

#define TABLE_MAX_LIBS 12
#define TABLE_MAX_ROWS 64
#define TABLE_MAX_ENDS 16 /* end probes of one function */

/* Bits of probe_row.details. */
enum {
	AT_PHASE = 1 << DETAIL_PHASE,
	AT_OPERATOR = 1 << DETAIL_OPERATOR,
	AT_INNER = 1 << DETAIL_INNER,
	AT_SPANS = AT_OPERATOR | AT_INNER,
	AT_ALL = AT_PHASE | AT_SPANS,
};

/* A row stands for every function whose mangled name begins with the symbol or, if that has a '*',
 * matches it as a shell pattern. */
struct probe_row {
	unsigned int lib; /* index in the table */
	const char *symbol;
	const char *other_symbol; /* the symbol in other versions; NULL: none */
	unsigned int details;
	enum probe_group group;
	enum span_category category;
	const char *program;
	const char *shapes_program; /* replaces program with --record-shapes; NULL: the same */
	const char *return_program; /* NULL: no return probe */
	/* The end is an instruction that each normal return passes. If the kernel emulates no such
	 * instruction, the ends are the returns, which are single-stepped. */
	bool leaves;
	const char *aligned_program; /* program after a prologue that aligns the stack, with
					slide */
	const char *returns_safely; /* the reason why no exception leaves the function; a return
				       probe needs one */
	const char *site_program;   /* program at an instruction that each normal return passes;
				       NULL: no such end */
	const char *name_prefix;    /* put before names that the program reads; NULL: none */
	const char *return_site_program; /* program at the return sites of its calls, as they are
					    found; NULL: none */
	const char *name;	    /* name in tables; NULL: from name_of, or read by the program */
	const char *name_suffix;    /* added to names that the program reads; NULL: none */
	/* Makes the name in tables from the symbol. False: the row does not mean this symbol. */
	bool (*name_of)(const char *symbol, char *out, size_t size);
	void (*adjust)(const char *symbol,
		       struct planned_probe *probe); /* makes final changes to the probe; NULL:
							none */
	struct pt_probe_cfg cfg;
	bool slide;		 /* the program may be on a cheaper instruction after the entry */
	unsigned int slide_keep; /* with slide: the registers that the program reads (SITE_RDI
				    ...) */
	size_t min_size;	 /* bytes; the row does not mean shorter functions */
	enum pointer_hook pointer_hook;	 /* how the library in the process can see it without
					    probes */
	unsigned int pointers_lib; /* index of another library in which pointers to it lie; 0:
				      none */
	bool alias;		 /* it gets no probe: see struct pointer_hook_alias */
	bool memory;		 /* with --profile-memory only */
	const char *loses;	 /* what is missing without it; NULL: the row is optional */
};

struct probe_table {
	const char *const *libs; /* shell patterns of basenames */
	/* Patterns for a target that maps none of libs. NULL, or a NULL item: there is no other
	 * name. */
	const char *const *other_libs;
	size_t lib_cnt;
	const struct probe_row *rows;
	size_t row_cnt;
};

/* What a plan is made from, for the functions by which a framework extends it. */
struct table_scan {
	const struct probe_table *table;
	struct target *t;
	const struct plan_opts *opts;
	struct probe_plan *plan;
	const struct target_lib *libs[TABLE_MAX_LIBS]; /* NULL: not mapped */
	struct elf_file *elfs[TABLE_MAX_LIBS];
	unsigned int found[TABLE_MAX_ROWS]; /* number of functions found, by row */
};

/* Plans probes for the rows. What is not found goes to plan->missing. */
int probe_table__plan(const struct probe_table *table, struct target *t,
		      const struct plan_opts *opts, struct probe_plan *plan,
		      struct table_scan *scan);

/* A library of the table as the target maps it, under either name. NULL: not mapped. */
const struct target_lib *probe_table__lib(const struct probe_table *table, const struct target *t,
					  unsigned int lib);

/* The address of a library's symbol in the target. 0: there is none. */
uint64_t table_scan__address(const struct table_scan *scan, unsigned int lib, const char *symbol);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The report: every table of a recording, made in one pass of the model. */
#ifndef PROFTRACE_REPORT_H
#define PROFTRACE_REPORT_H

#include "analysis/render/table.h"
#include "recording/recording.h"

enum device_state { STATE_ALL, STATE_CPU, STATE_GPU };
enum group_by { GROUP_BY_NAME, GROUP_BY_SHAPE, GROUP_BY_STACK };

/* A word that a table is sorted by; a measure means what the table takes it for. Lists end with a
 * row of NULL; the first row is the default. */
struct order_word {
	const char *word;
	int measure;
	const char *column; /* the key of the one that shows it; NULL: none does */
};

struct report_opts {
	const char *tables; /* comma-separated keys, NULL: the default set */
	const char *only;   /* a pattern of names: other rows of USES_OP are left out; NULL: none */
	const char *sort_word;	  /* for the tables that have it; NULL: each has its usual order */
	bool ascending;		  /* the other way round */
	enum group_by group_by;	  /* key_averages */
	unsigned int stack_depth; /* frames of a stack that make a row; 0: 5 */
	enum device_state state;  /* classic */
	bool by_thread;		  /* thread_sep */
	bool by_device;		  /* one section per device, and stream, of what ran there */
	bool op_detail;		  /* children and kernels under each operator */
	bool raw_times;
	bool is_short; /* text: what frames it, and tables that are not named, in their short form
			*/
	bool rows_chosen;    /* the short form prints style.row_limit rows, too */
	uint64_t batch_size; /* samples per step for ips, 0: unknown, steps/s is printed */
	const uint64_t
		*page_step; /* one that the page's timeline shows beside its own; NULL: none */
	struct table_style
		style; /* alone: if just one table is named, this report is nothing else */
};

/* Options of the report that only some tables heed. */
enum report_use {
	USES_BY_THREAD = 1 << 0,
	USES_BY_DEVICE = 1 << 1,
	USES_OP_DETAIL = 1 << 2,
	USES_GROUP_BY = 1 << 3,
	USES_STATE = 1 << 4,
	USES_BATCH_SIZE = 1 << 5,
	USES_ASCENDING = 1 << 6, /* those with words */
	USES_OP = 1 << 7,	 /* those whose rows are called something */
};

/* A table is one file in user/analysis/ and one row of the registry in report.c. */
struct table_def {
	const char *key;     /* --table NAME */
	const char *summary; /* one line of help */
	bool by_default;
	const struct order_word *words; /* that it is sorted by; NULL: it has one order */
	unsigned int uses;		/* enum report_use */
};
const struct table_def *report__tables(size_t *cnt);
/* The keys of all tables, comma-separated; NULL: out of memory. The caller frees. */
char *report__all_tables(void);
/* Are these comma-separated keys all known? 0, or -EINVAL with err__set. */
int report__check_tables(const char *names);
/* Has each of the options that are set an effect on one of these tables (NULL: those printed by
 * default)? Likewise. */
int report__check_uses(const char *names, const struct report_opts *opts);
/* Are the named tables among those that a recording of --timer-only has? 0 or -EINVAL with
 * err__set. */
int report__check_timer(const char *names);
/* Has one of these tables (NULL: those printed by default) such an order? Likewise. */
int report__check_order(const char *names, const char *word);
/* Every word that some table knows, each once; NULL after the last. */
const char *report__order_word(size_t index);

/* Prints to out. 0 or a negative errno; -EINVAL if a table name is unknown. */
int report__print(const struct recording *r, const struct report_opts *opts, FILE *out);

#endif

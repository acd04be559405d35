/* SPDX-License-Identifier: BSD-2-Clause */
/* The report: every table of a recording, made in one pass of the model. */
#ifndef PROFTRACE_REPORT_H
#define PROFTRACE_REPORT_H

#include "analysis/render/table.h"
#include "recording/recording.h"

enum device_state { STATE_ALL, STATE_CPU, STATE_GPU };
enum group_by { GROUP_BY_NAME, GROUP_BY_SHAPE, GROUP_BY_STACK };

/* A word by which a table can be sorted. Each table gives the measure its own meaning. A list ends
 * with NULL; its first word is the default. */
struct order_word {
	const char *word;
	int measure;
	const char *column; /* key of the column that shows it; NULL: none does */
};

struct report_opts {
	const char *tables; /* comma-separated keys, NULL: the default set */
	const char *only;   /* a pattern of names: USES_OP tables keep matching rows only; NULL:
			       all rows */
	const char *sort_word;	  /* for the tables that have the word; NULL: each table's usual
				     order */
	bool ascending;		  /* reverses the order */
	enum group_by group_by;	  /* key_averages */
	unsigned int stack_depth; /* innermost frames of a stack that tell rows apart; 0: 5 */
	enum device_state state;  /* classic */
	bool by_thread;		  /* thread_sep */
	bool by_device;		  /* one section per device and stream */
	bool op_detail;		  /* children and kernels under each operator */
	bool raw_times;
	bool is_short; /* text: the head, the foot and tables that were not named get their short
			  form */
	bool rows_chosen;    /* the row limit holds for the short form, too */
	uint64_t batch_size; /* samples per step for ips, 0: unknown, steps/s is printed */
	const uint64_t
		*page_step; /* a step that the page's timeline shows besides its own choice;
			       NULL: none */
	struct table_style
		style; /* alone: if just one table is named, nothing else is printed */
};

/* Options of the report that only some tables use. */
enum report_use {
	USES_BY_THREAD = 1 << 0,
	USES_BY_DEVICE = 1 << 1,
	USES_OP_DETAIL = 1 << 2,
	USES_GROUP_BY = 1 << 3,
	USES_STATE = 1 << 4,
	USES_BATCH_SIZE = 1 << 5,
	USES_ASCENDING = 1 << 6, /* tables that have words of order */
	USES_OP = 1 << 7,	 /* tables whose rows have names */
};

/* A table is one file in user/analysis/ and one row of the registry in report.c. */
struct table_def {
	const char *key;     /* --table NAME */
	const char *summary; /* one line of help */
	bool by_default;
	const struct order_word *words; /* by which it can be sorted; NULL: it has one order */
	unsigned int uses;		/* enum report_use */
};
const struct table_def *report__tables(size_t *cnt);
/* The keys of all tables, comma-separated; NULL: out of memory. The caller frees. */
char *report__all_tables(void);
/* Are these comma-separated keys all known? 0, or -EINVAL with err__set. */
int report__check_tables(const char *names);
/* Does each option that is set have an effect on one of these tables? NULL: on those printed by
 * default. 0, or -EINVAL with err__set. */
int report__check_uses(const char *names, const struct report_opts *opts);
/* Does a recording of --timer-only have the named tables? 0, or -EINVAL with err__set. */
int report__check_timer(const char *names);
/* Can one of these tables be sorted by this word? NULL: those printed by default. 0, or -EINVAL
 * with err__set. */
int report__check_order(const char *names, const char *word);
/* Each word that some table knows, once. NULL after the last. */
const char *report__order_word(size_t index);

/* Prints to out. 0 or a negative errno; -EINVAL if a table name is unknown. */
int report__print(const struct recording *r, const struct report_opts *opts, FILE *out);

#endif

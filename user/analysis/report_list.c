// SPDX-License-Identifier: BSD-2-Clause
/* The registry of tables, and which options fit which tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analysis/order.h"
#include "analysis/report_list.h"
#include "common/err.h"
#include "analysis/message_table.h"
#include "common/suggest.h"
#include "common/util.h"

/* In the order of printing. summary and cost are the head and foot of every report. */
const struct table_impl *const report_impls[REPORT_TABLES] = {
	&table_summary,	    &table_findings,	 &table_device,	     &table_overview,
	&table_model,	    &table_distributed,	 &table_operator,    &table_kernel,
	&table_collectives, &table_manipulation, &table_calls,	     &table_userdefined,
	&table_pipeline,    &table_counters,	 &table_perf,	     &table_memory,
	&table_storage,	    &table_sched,	 &table_sched_steps, &table_syscalls,
	&table_steps,	    &table_key_averages, &table_classic,     &table_aggregate,
	&table_step_trace,  &table_op_type,	 &table_op_detail,   &table_activity,
	&table_timeline,    &table_cost,
};

const struct table_def *report__tables(size_t *cnt)
{
	static struct table_def defs[REPORT_TABLES];

	for (size_t i = 0; i < REPORT_TABLES; i++)
		defs[i] = report_impls[i]->def;
	*cnt = REPORT_TABLES;
	return defs;
}

static bool is_word(const char *word, const char *text, size_t len)
{
	return strlen(word) == len && strncmp(word, text, len) == 0;
}

/* Names that other profilers and people use for our tables. */
static const char *const other_names[][2] = {
	{"ops", "operator"},
	{"phases", "model"},
	{"gpu", "kernel"},
	{"cuda", "kernel"},
	{"memcpy", "manipulation"},
	{"threads", "sched"},
	{"communication", "distributed"},
	{"loss", "cost"},
	{"throughput", "perf"},
};

static int unknown_table(const char *name, size_t len)
{
	struct suggestion near = {.word = name, .len = len};
	char known[512] = "";

	for (size_t i = 0, at = 0; i < REPORT_TABLES && at < sizeof(known); i++) {
		at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s", i ? ", " : "",
				       report_impls[i]->def.key);
		suggest__offer(&near, report_impls[i]->def.key);
	}
	for (size_t i = 0; i < ARRAY_SIZE(other_names); i++)
		if (is_word(other_names[i][0], name, len))
			near.best = other_names[i][1];
	if (near.best)
		return err__set(-EINVAL, MESSAGE_TABLE_UNKNOWN_SUGGESTED, (int)len, name, near.best,
				known, ALL_TABLES);
	return err__set(-EINVAL, MESSAGE_TABLE_UNKNOWN, (int)len, name, known, ALL_TABLES);
}

int report__find_named(const char *names, bool *named)
{
	const char *const list = names;

	for (bool more = true; more;) {
		size_t len = strcspn(names, ","), i = 0;

		if (!len)
			return err__set(-EINVAL, MESSAGE_TABLE_NAME_EMPTY, list);

		while (i < REPORT_TABLES && !is_word(report_impls[i]->def.key, names, len))
			i++;
		if (is_word(ALL_TABLES, names, len))
			memset(named, true, REPORT_TABLES);
		else if (i == REPORT_TABLES)
			return unknown_table(names, len);
		else
			named[i] = true;
		more = names[len] == ',';
		names += len + more;
	}
	return 0;
}

bool report__names_all(const char *names)
{
	for (size_t len; *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (is_word(ALL_TABLES, names, len))
			return true;
	}
	return false;
}

int report__check_tables(const char *names)
{
	bool named[REPORT_TABLES] = {};

	return report__find_named(names, named);
}

/* ---- orders ---- */

static bool is_printed(size_t i, const char *names, const bool *named)
{
	return names ? named[i] : report_impls[i]->def.by_default;
}

static void append_words(const struct table_def *def, char *text, size_t size)
{
	size_t at = strlen(text);

	at += (size_t)snprintf(text + at, size - at, "%s%s by ", at ? "; " : "", def->key);
	for (const struct order_word *w = def->words; w->word && at < size; w++)
		at += (size_t)snprintf(text + at, size - at, "%s%s", w == def->words ? "" : ", ",
				       w->word);
}

/* Not every table with the same words is named in a message. */
static bool was_listed(size_t i, const char *names, const bool *named)
{
	for (size_t j = 0; j < i; j++)
		if (report_impls[j]->def.words == report_impls[i]->def.words &&
		    is_printed(j, names, named))
			return true;
	return false;
}

/* Our word for a column of torch.profiler: "gpu_total" for "self_cuda_time". */
static void own_word(const char *word, char *own, size_t size)
{
	const char *cuda;

	snprintf(own, size, "%s", strncmp(word, "self_", 5) == 0 ? word + 5 : word);
	cuda = strncmp(own, "cuda", 4) == 0	? own + 4
	       : strncmp(own, "device", 6) == 0 ? own + 6
						: NULL;
	if (cuda) {
		auto_free char *rest =
			strdup(*cuda && strncmp(cuda, "_time", 5) != 0 ? cuda : "_total");

		snprintf(own, size, "gpu%s", rest ? rest : "");
	}
}

/* The nearest word of the tables that will be printed. NULL: none is near. */
static const char *nearest_order(const char *names, const bool *named, const char *word)
{
	char own[64];
	struct suggestion near = {.word = own};

	own_word(word, own, sizeof(own));
	near.len = strlen(own);
	for (size_t i = 0; i < REPORT_TABLES; i++)
		for (const struct order_word *w = report_impls[i]->def.words;
		     w && w->word && is_printed(i, names, named); w++)
			suggest__offer(&near, w->word);
	return near.best;
}

/* A table that has the word but will not be printed. NULL: none. */
static const char *table_with_order(const char *word)
{
	for (size_t i = 0; i < REPORT_TABLES; i++)
		if (report_impls[i]->def.words &&
		    order_words__have(report_impls[i]->def.words, word))
			return report_impls[i]->def.key;
	return NULL;
}

static int wrong_order(const char *names, const bool *named, const char *word)
{
	const char *near = nearest_order(names, named, word), *table = table_with_order(word);
	char known[1024] = "";

	for (size_t i = 0; i < REPORT_TABLES; i++)
		if (report_impls[i]->def.words && is_printed(i, names, named) &&
		    !was_listed(i, names, named) && strlen(known) + 1 < sizeof(known))
			append_words(&report_impls[i]->def, known, sizeof(known));
	if (!*known)
		return err__set(-EINVAL, MESSAGE_SORT_ORDER_FIXED, word, names);
	if (table && near)
		return err__set(-EINVAL, MESSAGE_SORT_ORDER_OF_OTHER_TABLE_SUGGESTED, word, table,
				near, known);
	if (table)
		return err__set(-EINVAL, MESSAGE_SORT_ORDER_OF_OTHER_TABLE, word, table, known);
	if (near)
		return err__set(-EINVAL, MESSAGE_SORT_ORDER_UNKNOWN_SUGGESTED, word, near, known);
	return err__set(-EINVAL, MESSAGE_SORT_ORDER_UNKNOWN, word, known);
}

int report__check_order(const char *names, const char *word)
{
	bool named[REPORT_TABLES] = {};
	int err = names ? report__find_named(names, named) : 0;

	if (err || !word)
		return err;
	for (size_t i = 0; i < REPORT_TABLES; i++) {
		if (!is_printed(i, names, named) || !report_impls[i]->def.words)
			continue;
		if (order_words__have(report_impls[i]->def.words, word))
			return 0;
	}
	return wrong_order(names, named, word);
}

/* ---- options ---- */

char *report__all_tables(void)
{
	char *names = NULL;
	size_t len;
	FILE *f = open_memstream(&names, &len);

	for (size_t i = 0; f && i < REPORT_TABLES; i++)
		fprintf(f, "%s%s", i ? "," : "", report_impls[i]->def.key);
	if (f && fclose(f) == 0)
		return names;
	free(names);
	return NULL;
}

bool report__uses(size_t i, unsigned int use)
{
	return use == USES_ASCENDING ? report_impls[i]->def.words != NULL
				     : report_impls[i]->def.uses & use;
}

static int check_use(const char *option, unsigned int use, const char *names, const bool *named)
{
	char known[256] = "";

	for (size_t i = 0, at = 0; i < REPORT_TABLES; i++) {
		if (!report__uses(i, use))
			continue;
		if (is_printed(i, names, named))
			return 0;
		if (at < sizeof(known))
			at += (size_t)snprintf(known + at, sizeof(known) - at, "%s%s",
					       at ? ", " : "", report_impls[i]->def.key);
	}
	return err__set(-EINVAL, MESSAGE_TABLE_OPTION_WITHOUT_EFFECT, option, known);
}

int report__check_uses(const char *names, const struct report_opts *opts)
{
	const struct {
		bool set;
		const char *option;
		enum report_use use;
	} options[] = {
		{opts->by_thread, "by-thread", USES_BY_THREAD},
		{opts->by_device, "by-device", USES_BY_DEVICE},
		{opts->op_detail, "op-detail", USES_OP_DETAIL},
		{opts->group_by != GROUP_BY_NAME, "group-by", USES_GROUP_BY},
		{opts->state != STATE_ALL, "state", USES_STATE},
		{opts->batch_size != 0, "batch-size", USES_BATCH_SIZE},
		{opts->ascending, "ascending", USES_ASCENDING},
		{opts->only, "op", USES_OP},
	};
	bool named[REPORT_TABLES] = {};
	int err = names ? report__find_named(names, named) : 0;

	if (!err && opts->stack_depth && opts->group_by != GROUP_BY_STACK)
		err = err__set(-EINVAL, MESSAGE_STACK_DEPTH_WITHOUT_EFFECT);
	for (size_t i = 0; i < ARRAY_SIZE(options) && !err; i++)
		if (options[i].set)
			err = check_use(options[i].option, options[i].use, names, named);
	return err;
}

int report__check_timer(const char *names)
{
	bool named[REPORT_TABLES] = {};
	int err = names ? report__find_named(names, named) : 0;

	for (size_t i = 0; i < REPORT_TABLES && !err; i++)
		if (named[i] && !report_impls[i]->timer)
			err = err__set(-EINVAL, MESSAGE_TABLE_NOT_RECORDED,
				       report_impls[i]->def.key);
	return err;
}

static bool is_earlier_word(size_t table, const char *word)
{
	for (size_t i = 0; i < table; i++)
		if (order_words__have(report_impls[i]->def.words, word))
			return true;
	return false;
}

const char *report__order_word(size_t index)
{
	for (size_t i = 0; i < REPORT_TABLES; i++)
		for (const struct order_word *w = report_impls[i]->def.words; w && w->word; w++)
			if (!is_earlier_word(i, w->word) && !index--)
				return w->word;
	return NULL;
}

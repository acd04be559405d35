// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/pass_mark.h"
#include "bpf/probe_cfg.h"
#include "common/util.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *word;
	enum pass_mark mark;
} words[] = {
	{"embedding", PASS_LOOKUP},
	{"embedding_bag", PASS_LOOKUP},
	{"c_embedding", PASS_LOOKUP}, /* Paddle, with several ranks */
	{"argmax", PASS_ARGMAX},
	{"multinomial", PASS_SAMPLING},
	{"sample_multinomial", PASS_SAMPLING}, /* MXNet */
	{"top_p_sampling", PASS_SAMPLING},     /* Paddle */
	{"topk", PASS_TOPK},
};

static bool is_of_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static enum pass_mark mark_of_word(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == len && !strncasecmp(words[i].word, word, len))
			return words[i].mark;
	return PASS_NONE;
}

enum pass_mark pass_mark__of(const char *name)
{
	while (*name) {
		size_t len = 0;
		enum pass_mark mark;

		while (is_of_word(name[len]))
			len++;
		mark = mark_of_word(name, len);
		if (mark)
			return mark;
		name += len + !len;
	}
	return PASS_NONE;
}

struct row_mark {
	bool is_range;
	uint8_t mark;
};

int pass_mark__set(struct call_log *log, const struct probe_plan *plan)
{
	auto_free struct row_mark *rows = calloc(PT_MAX_PROBES, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < plan->cnt; i++) {
		const struct planned_probe *p = &plan->probes[i];

		rows[p->row].is_range |= p->category == CAT_USER;
		if (p->name)
			rows[p->row].mark = pass_mark__of(p->name);
	}
	for (size_t i = 0; i < log->cnt; i++) {
		struct step_call *call = &log->calls[i];
		const struct named_op *named = call_log__named(log, call->op);
		const struct row_mark *row = &rows[named ? named->row : call->op];

		if (!row->is_range)
			call->mark = named ? pass_mark__of(named->name) : row->mark;
	}
	return 0;
}

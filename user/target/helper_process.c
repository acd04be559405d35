// SPDX-License-Identifier: BSD-2-Clause
#include "target/helper_process.h"
#include <stdbool.h>
#include <string.h>
#include "common/util.h"

/* The next word; NULL: this is the last. */
static const char *next_word(struct command_line c, const char *word)
{
	const char *next = word + strnlen(word, c.len - (size_t)(word - c.text)) + 1;

	return next < c.text + c.len ? next : NULL;
}

/* "from multiprocessing.forkserver import main; main(7, 8)" */
static enum helper_kind imported(const char *code)
{
	static const struct {
		const char *module;
		enum helper_kind kind;
	} rows[] = {
		{".resource_tracker", HELPER_TRACKER},
		{".semaphore_tracker", HELPER_TRACKER},
		{".forkserver", HELPER_FORKSERVER},
	};
	const char *end = strncmp(code, "from ", 5) ? NULL : strstr(code, " import main");

	for (size_t i = 0; end && i < ARRAY_SIZE(rows); i++) {
		const size_t len = strlen(rows[i].module);

		if ((size_t)(end - code) > 5 + len && !strncmp(end - len, rows[i].module, len))
			return rows[i].kind;
	}
	return HELPER_NONE;
}

/* By what its interpreter was told to run. The text ends with a NUL, because proc__text() adds
 * one. */
static enum helper_kind kind_of_command(struct command_line c)
{
	const char *word = c.text && c.len ? next_word(c, c.text) : NULL;

	while (word && *word == '-' && strcmp(word, "-c"))
		word = next_word(c, word);
	if (!word)
		return HELPER_NONE;
	if (!strcmp(word, "-c")) {
		word = next_word(c, word);
		return word ? imported(word) : HELPER_NONE;
	}
	return strstr(word, "/torch/_inductor/compile_worker/") ? HELPER_COMPILER : HELPER_NONE;
}

static bool is_fork(struct command_line own, struct command_line parent)
{
	return own.text && parent.text && own.len == parent.len &&
	       !memcmp(own.text, parent.text, own.len);
}

enum helper_kind helper_process__kind(struct command_line own, struct command_line parent,
				      enum helper_kind parent_kind)
{
	const enum helper_kind kind = kind_of_command(own);

	if (kind == HELPER_COMPILER || parent_kind == HELPER_COMPILER)
		return HELPER_COMPILER;
	return is_fork(own, parent) ? HELPER_NONE : kind;
}

const char *helper_kind__name(enum helper_kind kind)
{
	static const char *const names[] = {[HELPER_NONE] = "none",
					    [HELPER_TRACKER] = "tracker",
					    [HELPER_FORKSERVER] = "forkserver",
					    [HELPER_COMPILER] = "compiler"};

	return names[kind];
}

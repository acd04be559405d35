// SPDX-License-Identifier: BSD-2-Clause
#include "common/suggest.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { NAME_MAX_LEN = 63 }; /* longer words get no suggestion */

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Counts insertions, deletions, substitutions and swaps of neighbours. Both lengths are bounded. */
static size_t distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][NAME_MAX_LEN + 1];
	size_t *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_len; j++)
		last[j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		size_t *spare = before;

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t differs = a[i - 1] != b[j - 1];

			row[j] = min3(last[j] + 1, row[j - 1] + 1, last[j - 1] + differs);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < row[j])
				row[j] = before[j - 2] + 1;
		}
		before = last;
		last = row;
		row = spare;
	}
	return last[b_len];
}

void suggest__offer(struct suggestion *s, const char *name)
{
	size_t name_len = strlen(name), edits;
	bool is_prefix;

	if (!s->len || s->len > NAME_MAX_LEN || name_len > NAME_MAX_LEN)
		return;
	is_prefix = s->len >= 2 && strncmp(s->word, name, s->len) == 0;
	/* A prefix is better than a misspelling, because people type prefixes of names that they
	 * know. */
	edits = is_prefix ? 0 : distance(s->word, s->len, name, name_len);
	if (edits > (s->len + 2) / 3 || edits >= s->len)
		return;
	if (s->best && edits >= s->distance)
		return;
	s->best = name;
	s->distance = edits;
}

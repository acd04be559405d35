// SPDX-License-Identifier: BSD-2-Clause
/* Names without end. */
#include <criterion/criterion.h>
#include <string.h>
#include "common/util.h"
#include "recording_sample.h"

#define NAME_BYTES 60000
#define NAMES	   3000 /* names of this length: more than the 128 MiB that a reader keeps */

static char text[NAME_BYTES + 1];

static uint32_t name(struct recording_writer *w, unsigned int number)
{
	memset(text, 'x', NAME_BYTES);
	snprintf(text + NAME_BYTES - 16, 16, "%u", number);
	return recording_writer__name(w, CAT_USER, text, NULL);
}

Test(recording_names, those_beyond_the_limit_share_one)
{
	auto_free char *path = sample__path();
	json_t *meta = json_object();
	struct recording_writer *w = NULL;
	uint32_t first, last = 0, id = 0;

	cr_assert_eq(recording_writer__create(path, meta, &w), 0);
	json_decref(meta);
	first = name(w, 0);
	for (unsigned int i = 1; i < NAMES; i++) {
		last = id;
		id = name(w, i);
		cr_assert_neq(id, 0);
	}
	cr_expect_eq(id, last);
	cr_expect_lt(id, (128u << 20) / NAME_BYTES + 2);
	cr_expect_eq(name(w, 0), first); /* known ones keep theirs */
	cr_expect_neq(recording_writer__name(w, CAT_OPERATOR, "another", NULL), id);
	cr_expect_eq(recording_writer__close(w, NULL), 0);
	unlink(path);
}

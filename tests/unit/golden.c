// SPDX-License-Identifier: BSD-2-Clause
#include "golden.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include "common/util.h"

struct recording *golden__open(const char *name)
{
	struct recording *r;
	char path[128];

	snprintf(path, sizeof(path), GOLDEN_DIR "/%s.ptrec", name);
	cr_assert_eq(recording__open(path, &r), 0, "%s", path);
	return r;
}

void golden__expect(const char *text, const char *file)
{
	auto_free char *want = NULL;
	char path[128];

	snprintf(path, sizeof(path), GOLDEN_DIR "/%s", file);
	if (getenv("PROFTRACE_REGENERATE")) {
		FILE *f = fopen(path, "w");

		cr_assert_not_null(f);
		fputs(text, f);
		fclose(f);
	}
	want = file__read(path, NULL);
	cr_assert(text && want, "%s", path);
	cr_expect_str_eq(text, want, "%s differs", path);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "page_text.h"
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/util.h"

char *page_text(const struct recording *r, const struct report_opts *opts)
{
	char path[] = "/tmp/proftrace-page-XXXXXX", *text;
	uint64_t bytes;
	size_t len;

	close(mkstemp(path));
	cr_assert_eq(page__write(r, opts, path, &bytes), 0, "%s", err__take(-1));
	text = file__read(path, &len);
	unlink(path);
	cr_assert_not_null(text);
	cr_expect_eq(bytes, len);
	return text;
}

char *page_text__data(char *html)
{
	char *tag = strstr(html, "id=\"data\"");

	cr_assert_not_null(tag);
	return strchr(tag, '>') + 1;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Whole pages of committed recordings: but for their style and script, whose files are in the tree,
 * and with a line for each object and list of the data. */
#include <criterion/criterion.h>
#include <string.h>
#include "common/util.h"
#include "golden.h"
#include "page/assets.h"
#include "page_text.h"

#define NONCE_LEN 32

TestSuite(page_golden);

static const struct golden {
	const char *recording, *file;
	struct report_opts opts;
} goldens[] = {
	{"pytorch", "pytorch.html", {}},
	{"simgpu",
	 "simgpu.html",
	 {.tables = "findings,device,distributed,kernel", .style = {.row_limit = 5}}},
	{"waits", "waits.html", {.tables = "sched,syscalls"}},
};

/* Writes the mark of page.html for the text at this place. Returns the mark's length, or 0. */
static size_t put_mark(const char *at, const char *nonce, FILE *out)
{
	const struct {
		const char *name, *text;
		size_t len;
	} marks[] = {
		{"css", page_asset_css, strlen(page_asset_css)},
		{"js", page_asset_js, strlen(page_asset_js)},
		{"nonce", nonce, NONCE_LEN},
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (!strncmp(at, marks[i].text, marks[i].len)) {
			fprintf(out, "{{%s}}", marks[i].name);
			return marks[i].len;
		}
	return 0;
}

static void put_data(const char *from, const char *to, FILE *out)
{
	bool in_string = false;

	for (const char *c = from; c < to; c++) {
		if ((*c == '{' || *c == '[') && !in_string && c[-1] != '\n')
			fputc('\n', out);
		if (*c == '"')
			in_string = !in_string;
		fputc(*c, out);
		if (*c == '\\')
			fputc(*++c, out);
	}
}

static char *golden_form(char *html)
{
	const char *data = page_text__data(html), *end = strstr(data, PAGE_DATA_END);
	const char *nonce = strstr(html, "'nonce-") + strlen("'nonce-");
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (const char *c = html; *c;) {
		const size_t mark = put_mark(c, nonce, out);

		c += mark;
		if (c == data) {
			put_data(c, end, out);
			c = end;
		} else if (!mark) {
			fputc(*c++, out);
		}
	}
	fclose(out);
	return text;
}

Test(page_golden, pages_are_as_committed)
{
	for (size_t i = 0; i < ARRAY_SIZE(goldens); i++) {
		struct recording *r = golden__open(goldens[i].recording);
		auto_free char *html = page_text(r, &goldens[i].opts);
		auto_free char *text = golden_form(html);

		golden__expect(text, goldens[i].file);
		recording__close(r);
	}
}

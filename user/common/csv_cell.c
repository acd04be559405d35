// SPDX-License-Identifier: BSD-2-Clause
#include "common/csv_cell.h"
#include <stdlib.h>
#include <string.h>

/* = + - @, and their full-width forms, which East Asian spreadsheets accept as well. */
static bool begins_formula(const char *s)
{
	static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};

	if (*s && strchr("=+-@", *s))
		return true;
	for (size_t i = 0; i < sizeof(wide) / sizeof(*wide); i++)
		if (!strncmp(s, wide[i], strlen(wide[i])))
			return true;
	return false;
}

/* "-1.5e3", or a single sign, which means "unknown" in our tables. */
static bool is_number(const char *s)
{
	char *end;

	if (!s[0] || !s[1])
		return true;
	if (s[strspn(s, "0123456789.eE+-")])
		return false;
	strtod(s, &end);
	return !*end;
}

/* Would a spreadsheet begin a formula at this place? A comment is not quoted, so commas divide
 * it. */
static bool is_guarded(const char *text, const char *at, bool comment)
{
	if (at == text)
		return !comment &&
		       ((begins_formula(at) && !is_number(at)) || (*at && strchr("\t\r\n", *at)));
	return strchr(comment ? ",;\t\r\n" : ";\t\r\n", at[-1]) && begins_formula(at);
}

static void write_guarded(const char *text, bool raw, bool comment, csv_put_fn *put, void *ctx)
{
	const char *from = text, *c = text;

	for (; *c; c++) {
		const bool guarded = !raw && is_guarded(text, c, comment);
		/* A line break inside a comment would begin a row. */
		const bool breaks = comment && (*c == '\r' || *c == '\n');

		if (!guarded && !breaks && *c != '"')
			continue;
		put(ctx, from, (size_t)(c - from));
		if (guarded)
			put(ctx, "'", 1);
		if (breaks || *c == '"')
			put(ctx, breaks ? " " : "\"", 1);
		from = breaks ? c + 1 : c;
	}
	put(ctx, from, (size_t)(c - from));
}

void csv_cell__write_quoted(const char *text, bool raw, csv_put_fn *put, void *ctx)
{
	put(ctx, "\"", 1);
	write_guarded(text, raw, false, put, ctx);
	put(ctx, "\"", 1);
}

void csv_cell__write(const char *text, bool raw, csv_put_fn *put, void *ctx)
{
	if (strpbrk(text, raw ? ",\"\r\n" : ",\"\r\n;\t"))
		csv_cell__write_quoted(text, raw, put, ctx);
	else if (raw || !is_guarded(text, text, false))
		put(ctx, text, strlen(text));
	else
		write_guarded(text, raw, false, put, ctx);
}

void csv_cell__write_comment(const char *text, bool raw, csv_put_fn *put, void *ctx)
{
	write_guarded(text, raw, true, put, ctx);
}

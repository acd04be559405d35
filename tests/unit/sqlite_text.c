// SPDX-License-Identifier: BSD-2-Clause
#include "sqlite_text.h"
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls row for each row of the query. */
static void query(sqlite3 *db, const char *sql,
		  void (*row)(sqlite3_stmt *s, const char *table, FILE *out), const char *table,
		  FILE *out)
{
	sqlite3_stmt *s;

	cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK, "%s: %s", sql,
		     sqlite3_errmsg(db));
	while (sqlite3_step(s) == SQLITE_ROW)
		row(s, table, out);
	cr_assert_eq(sqlite3_finalize(s), SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
}

static void put_line(sqlite3_stmt *s, const char *table, FILE *out)
{
	(void)table;
	fprintf(out, "%s;\n", (const char *)sqlite3_column_text(s, 0));
}

static void put_row(sqlite3_stmt *s, const char *table, FILE *out)
{
	fputs(table, out);
	for (int i = 0; i < sqlite3_column_count(s); i++) {
		const int type = sqlite3_column_type(s, i);
		const char *text = (const char *)sqlite3_column_text(s, i);
		char *quoted = sqlite3_mprintf(type == SQLITE_TEXT ? "%Q" : "%s", text);

		if (type != SQLITE_NULL)
			fprintf(out, " %s=%s", sqlite3_column_name(s, i), quoted);
		sqlite3_free(quoted);
	}
	fputc('\n', out);
}

char *sqlite_text(const char *path)
{
	static const char schema[] =
		"SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT LIKE 'sqlite_%' "
		"ORDER BY rowid";
	static const char *const tables[] = {"facts",  "names",		 "tracks", "devices",
					     "events", "kernel_entries", "sched"};
	sqlite3 *db;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK, "%s", path);
	query(db, "SELECT 'PRAGMA user_version = ' || user_version FROM pragma_user_version",
	      put_line, NULL, out);
	query(db, schema, put_line, NULL, out);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		char sql[64];

		snprintf(sql, sizeof(sql), "SELECT * FROM %s", tables[i]);
		query(db, sql, put_row, tables[i], out);
	}
	cr_assert_eq(sqlite3_close(db), SQLITE_OK);
	fclose(out);
	return text;
}

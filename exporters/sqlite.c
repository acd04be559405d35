// SPDX-License-Identifier: BSD-2-Clause
/* An SQLite database. doc/reference/formats.md has the schema and first queries. */
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/message_table.h"
#include "exporters/message_table.h"
#include "common/json_memory.h"
#include "common/out_file.h"
#include "common/util.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/output.h"
#include "exporters/parts/rows.h"
#include "exporters/parts/sqlite_file.h"
#include "exporters/sqlite_schema.h"
#include "exporters/parts/text_file.h"

struct database {
	const struct recording *r;
	const char *path;
	sqlite3 *db;
	sqlite3_stmt *insert; /* inserts an event */
	struct rows *rows;
};

/* ---- statements ---- */

static int failed(const struct database *d)
{
	const int code = d->db ? sqlite3_errcode(d->db) : SQLITE_NOMEM;

	if (code == SQLITE_FULL || code == SQLITE_IOERR)
		return err__set(-ENOSPC, MESSAGE_DATABASE_DISK_FULL, d->path);
	if (code == SQLITE_CANTOPEN)
		return err__set(-ENOENT, MESSAGE_DATABASE_NOT_OPENED, d->path,
				d->db ? sqlite3_errmsg(d->db) : "");
	return err__set(-EIO, MESSAGE_DATABASE_NOT_WRITTEN, d->path,
			d->db ? sqlite3_errmsg(d->db) : "no memory for SQLite");
}

static int execute(const struct database *d, const char *sql)
{
	return sqlite3_exec(d->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(d);
}

static int prepare(const struct database *d, const char *sql, sqlite3_stmt **out)
{
	return sqlite3_prepare_v2(d->db, sql, -1, out, NULL) == SQLITE_OK ? 0 : failed(d);
}

static int step(const struct database *d, sqlite3_stmt *s)
{
	const int code = sqlite3_step(s);

	sqlite3_reset(s);
	return code == SQLITE_DONE ? 0 : failed(d);
}

static void bind_u64(sqlite3_stmt *s, int at, uint64_t v)
{
	sqlite3_bind_int64(s, at, (sqlite3_int64)v);
}

/* NULL becomes SQL's NULL. The text must stay until the statement was run. */
static void bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite3_bind_text(s, at, text, -1, SQLITE_STATIC);
}

/* ---- facts ---- */

static int put_fact(const struct database *d, sqlite3_stmt *s, const char *key, const char *text,
		    uint64_t number)
{
	bind_text(s, 1, key);
	if (text)
		bind_text(s, 2, text);
	else
		bind_u64(s, 2, number);
	return step(d, s);
}

static int put_json(const struct database *d, sqlite3_stmt *s, const char *key, const json_t *value)
{
	auto_free char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	return text ? put_fact(d, s, key, text, 0) : 0;
}

/* Written after the events, because only then it is known what the model could not use. */
static int put_facts(const struct database *d)
{
	const struct recording_loss loss = recording_loss__of(d->r);
	const struct model_stats *m = &d->rows->stats;
	const int64_t offset = facts__wall_offset_ns(d->r);
	auto_free char *title = facts__title(d->r), *incomplete = facts__loss(d->r);
	const struct {
		const char *key, *text;
		uint64_t number;
	} facts[] = {
		{"title", title, 0},
		{"version", PROFTRACE_VERSION, 0},
		{"incomplete", incomplete, 0},
		{"lost_events", NULL, loss.lost_cnt},
		{"damaged_chunks", NULL, loss.bad_chunks},
		{"truncated", NULL, loss.truncated},
		{"events", NULL, d->rows->cnt},
		{"malformed", NULL, m->malformed},
		{"too_deep", NULL, m->too_deep},
		{"clipped", NULL, m->clipped},
	};
	sqlite3_stmt *s = NULL;
	int err = title && incomplete ? prepare(d, "INSERT INTO facts VALUES (?, ?)", &s) : -ENOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(facts) && !err; i++)
		err = put_fact(d, s, facts[i].key, facts[i].text, facts[i].number);
	if (!err && offset)
		err = put_fact(d, s, "wall_offset_ns", NULL, (uint64_t)offset);
	if (!err)
		err = put_json(d, s, "meta", recording__meta(d->r));
	if (!err)
		err = put_json(d, s, "summary", recording__summary(d->r));
	sqlite3_finalize(s);
	return err;
}

/* ---- small tables ---- */

static int put_names(const struct database *d)
{
	const uint32_t cnt = recording__name_cnt(d->r);
	sqlite3_stmt *s = NULL;
	int err = prepare(d, "INSERT INTO names VALUES (?, ?, ?, ?)", &s);

	for (uint32_t id = 1; id <= cnt && !err; id++) {
		const struct name *n = recording__name(d->r, id);

		bind_u64(s, 1, id);
		bind_text(s, 2, category__key(n ? n->category : CAT_NONE));
		bind_text(s, 3, n ? n->text : NULL);
		bind_text(s, 4, n ? n->schema : NULL);
		err = step(d, s);
	}
	sqlite3_finalize(s);
	return err;
}

static void bind_track(sqlite3_stmt *s, const struct track *t)
{
	const bool device = t->kind == TRACK_DEVICE;

	sqlite3_clear_bindings(s);
	bind_u64(s, 1, t->id);
	bind_text(s, 2, device ? "device" : "thread");
	bind_u64(s, device ? 5 : 3, device ? (uint64_t)t->device : t->pid);
	if (!device)
		bind_u64(s, 4, t->tid);
	else if (t->stream != STREAM_ALL)
		bind_u64(s, 6, (uint64_t)t->stream);
	bind_text(s, 7, t->name);
}

static int put_tracks(const struct database *d)
{
	const uint32_t cnt = recording__track_cnt(d->r);
	sqlite3_stmt *s = NULL;
	int err = prepare(d, "INSERT INTO tracks VALUES (?, ?, ?, ?, ?, ?, ?)", &s);

	for (uint32_t id = 1; id <= cnt && !err; id++) {
		const struct track *t = recording__track(d->r, id);

		if (!t)
			continue;
		bind_track(s, t);
		err = step(d, s);
	}
	sqlite3_finalize(s);
	return err;
}

static int put_devices(const struct database *d)
{
	sqlite3_stmt *s = NULL;
	int err = prepare(d, "INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?)", &s);

	for (size_t id = 0; id < d->rows->devices.cnt && !err; id++) {
		const struct device_info *i = device_infos__at(&d->rows->devices, (int64_t)id);

		if (!i)
			continue;
		bind_u64(s, 1, id);
		bind_text(s, 2, i->name);
		bind_u64(s, 3, i->memory_bytes);
		bind_u64(s, 4, i->major);
		bind_u64(s, 5, i->minor);
		bind_u64(s, 6, i->multiprocessors);
		err = step(d, s);
	}
	sqlite3_finalize(s);
	return err;
}

static const char *state_text(uint8_t state)
{
	switch (state) {
	case SCHED_RUN:
		return "running";
	case SCHED_RUNNABLE:
		return "runnable";
	case SCHED_BLOCKED:
		return "blocked";
	case ENTRY_SYSCALL:
		return "system call";
	case ENTRY_FAULT:
		return "page fault";
	}
	return "unknown";
}

static int put_rows(const struct database *d, const char *insert, const struct sched_row *rows,
		    size_t cnt)
{
	sqlite3_stmt *s = NULL;
	int err = prepare(d, insert, &s);

	for (size_t i = 0; i < cnt && !err; i++) {
		const struct name *reason =
			rows[i].reason ? recording__name(d->r, rows[i].reason) : NULL;

		sqlite3_clear_bindings(s);
		bind_u64(s, 1, rows[i].track);
		if (rows[i].step != EVENT_NO_ID)
			bind_u64(s, 2, rows[i].step);
		bind_text(s, 3, state_text(rows[i].state));
		bind_text(s, 4, reason ? reason->text : NULL);
		bind_u64(s, 5, rows[i].ns);
		bind_u64(s, 6, rows[i].cnt);
		err = step(d, s);
	}
	sqlite3_finalize(s);
	return err;
}

static int put_sched(const struct database *d)
{
	const struct sched_row *rows;
	size_t cnt = recording__sched(d->r, &rows);
	int err = put_rows(d, "INSERT INTO sched VALUES (?, ?, ?, ?, ?, ?)", rows, cnt);

	if (err)
		return err;
	cnt = recording__entries(d->r, &rows);
	return put_rows(d, "INSERT INTO kernel_entries VALUES (?, ?, ?, ?, ?, ?)", rows, cnt);
}

/* ---- events ---- */

static int create_events(struct database *d)
{
	char create[4096] = "CREATE TABLE events (", insert[1024] = "INSERT INTO events VALUES (";
	size_t create_len = strlen(create), insert_len = strlen(insert);
	const char *comma = "";
	int err;

	for (size_t i = 0; i < column_cnt; i++) {
		if (columns[i].use == COLUMN_TEXT)
			continue;
		create_len += (size_t)snprintf(create + create_len, sizeof(create) - create_len,
					       "%s\"%s\" %s", comma, columns[i].name,
					       columns[i].sql_type);
		insert_len += (size_t)snprintf(insert + insert_len, sizeof(insert) - insert_len,
					       "%s?", comma);
		comma = ", ";
	}
	snprintf(create + create_len, sizeof(create) - create_len, ")");
	snprintf(insert + insert_len, sizeof(insert) - insert_len, ")");
	err = execute(d, create);
	return err ? err : prepare(d, insert, &d->insert);
}

static void bind_value(sqlite3_stmt *s, int at, const struct value *v, const char *scratch)
{
	switch (v->type) {
	case VALUE_NULL:
		return;
	case VALUE_UINT:
		bind_u64(s, at, v->u);
		return;
	case VALUE_INT:
		sqlite3_bind_int64(s, at, v->i);
		return;
	case VALUE_REAL:
		sqlite3_bind_double(s, at, v->d);
		return;
	case VALUE_KEY:
	case VALUE_TEXT:
		sqlite3_bind_text(s, at, v->s, -1,
				  v->s == scratch ? SQLITE_TRANSIENT : SQLITE_STATIC);
		return;
	}
}

static int put_row(const struct row *row, void *ctx)
{
	struct database *d = ctx;
	int at = 1;

	sqlite3_clear_bindings(d->insert);
	for (size_t i = 0; i < column_cnt; i++) {
		struct value v;

		if (columns[i].use == COLUMN_TEXT)
			continue;
		v = columns[i].get(d->rows, row);
		bind_value(d->insert, at++, &v, d->rows->text);
	}
	return step(d, d->insert);
}

/* ---- the file ---- */

static int cannot_write(const struct database *d, int err)
{
	const char *why = out_file__explain(err);

	if (err == -ENOENT)
		return err__set(err, MESSAGE_DATABASE_DIRECTORY_MISSING, d->path);
	return why ? err__set(err, MESSAGE_DATABASE_PLACE_REFUSED, d->path, why)
		   : err__set(err, MESSAGE_DATABASE_NOT_CREATED, d->path, strerror(-err));
}

/* The file is open, and may have no name. */
static int database__open(struct database *d, int fd)
{
	char version[64];
	int err;

	if (sqlite_file__open(fd, &d->db) != SQLITE_OK)
		return failed(d);
	snprintf(version, sizeof(version), "PRAGMA user_version = %d;", SQLITE_SCHEMA_VERSION);
	err = execute(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
			 "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -32768;"
			 "PRAGMA temp_store = FILE; BEGIN;");
	if (!err)
		err = execute(d, version);
	return err ? err : execute(d, sqlite_tables);
}

static int put_all(struct database *d)
{
	int err = rows__open(d->r, &d->rows);

	if (!err)
		err = create_events(d);
	if (!err)
		err = put_names(d);
	if (!err)
		err = put_tracks(d);
	if (!err)
		err = put_devices(d);
	if (!err)
		err = put_sched(d);
	if (!err)
		err = rows__each(d->rows, put_row, d);
	if (!err)
		err = put_facts(d);
	if (!err)
		err = execute(d, sqlite_indexes);
	if (!err)
		err = execute(d, sqlite_views);
	return err ? err : execute(d, "COMMIT");
}

static int write_database(struct database *d, struct out_file *out, struct export_result *result)
{
	struct stat st;
	int err = database__open(d, out->fd);

	if (!err)
		err = put_all(d);
	result->events = d->rows ? d->rows->cnt : 0;
	sqlite3_finalize(d->insert);
	rows__close(d->rows);
	if (sqlite3_close(d->db) != SQLITE_OK && !err)
		err = failed(d);
	if (!err && json_memory__lacked())
		err = err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, d->path);
	if (err)
		return err;
	err = fstat(out->fd, &st) ? -errno : out_file__publish(out);
	if (err)
		return cannot_write(d, err);
	result->bytes = (uint64_t)st.st_size;
	return 0;
}

static int sqlite__run(const struct recording *r, const struct export_opts *opts,
		       struct export_result *result)
{
	struct database d = {.r = r, .path = result->path};
	struct out_file out;
	struct stat st;
	int err = output__no_dialect(opts, "sqlite"), level;

	*result = (struct export_result){0};
	if (!err)
		err = output__choose(r, opts, ".sqlite", 0, &level, result);
	if (err)
		return err;
	if (level || !strcmp(result->path, TEXT_FILE_STDOUT) ||
	    (!stat(result->path, &st) && !S_ISREG(st.st_mode)))
		return err__set(-EINVAL, MESSAGE_DATABASE_TO_TERMINAL, result->path);
	err = out_file__open(&out, result->path, OUT_WHOLE | OUT_ONLY_FILES);
	if (err)
		return cannot_write(&d, err);
	err = write_database(&d, &out, result);
	out_file__close(&out);
	return err;
}

const struct exporter exporter_sqlite = {
	.name = "sqlite",
	.summary = "SQLite database: events, names, tracks, views; to be asked in SQL",
	.run = sqlite__run,
};

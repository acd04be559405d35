/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables besides `events`, whose columns are those of exporters/rows.h.
 * doc/reference/formats.md explains them. */
#ifndef PROFTRACE_SQLITE_SCHEMA_H
#define PROFTRACE_SQLITE_SCHEMA_H

#define SQLITE_SCHEMA_VERSION 1 /* PRAGMA user_version */

static const char sqlite_tables[] =
	"CREATE TABLE facts (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE names (id INTEGER PRIMARY KEY, category TEXT NOT NULL, name TEXT, schema "
	"TEXT);"
	"CREATE TABLE tracks (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, pid INTEGER, tid INTEGER,"
	" device INTEGER, stream INTEGER, name TEXT);"
	"CREATE TABLE devices (id INTEGER PRIMARY KEY, name TEXT, memory_bytes INTEGER,"
	" compute_major INTEGER, compute_minor INTEGER, multiprocessors INTEGER);"
	"CREATE TABLE kernel_entries (track_id INTEGER NOT NULL REFERENCES tracks, step INTEGER,"
	" kind TEXT NOT NULL, what TEXT, ns INTEGER NOT NULL, entries INTEGER NOT NULL);"
	"CREATE TABLE sched (track_id INTEGER NOT NULL REFERENCES tracks, step INTEGER,"
	" state TEXT NOT NULL, reason TEXT, ns INTEGER NOT NULL, intervals INTEGER NOT NULL);";

/* Created after the events, which are inserted faster without. */
static const char sqlite_indexes[] =
	"CREATE INDEX events_name ON events (name_id);"
	"CREATE INDEX events_track ON events (track_id, ts_ns);"
	"CREATE INDEX events_parent ON events (parent_id) WHERE parent_id IS NOT NULL;"
	"CREATE INDEX events_launch ON events (launch_id) WHERE launch_id IS NOT NULL;"
	"CREATE INDEX events_step ON events (step);"
	"PRAGMA analysis_limit = 1000; ANALYZE;";

static const char sqlite_views[] =
	"CREATE VIEW steps AS SELECT step, ts_ns, dur_ns, cpu_ns, track_id FROM events"
	" WHERE type = 'step';"
	"CREATE VIEW spans AS SELECT e.id, e.parent_id, coalesce(n.name, e.kind) AS name, "
	"n.category,"
	" e.kind, e.phase, e.step, t.pid, t.tid, t.name AS thread, e.depth, e.ts_ns, e.dur_ns, "
	"e.cpu_ns,"
	" e.self_ns, e.device_ns, e.correlation, e.inputs, e.\"end\", e.cut"
	" FROM events e JOIN tracks t ON t.id = e.track_id LEFT JOIN names n ON n.id = e.name_id"
	" WHERE e.type = 'span';"
	"CREATE VIEW device_work AS SELECT e.id, n.name, e.kind, e.phase, e.step, t.device, "
	"t.stream,"
	" e.ts_ns, e.dur_ns, e.value AS bytes, e.grid, e.block, e.occupancy, e.launch_id,"
	" max(0, e.ts_ns - l.ts_ns - l.dur_ns) AS queued_ns,"
	" coalesce(pn.name, p.kind) AS launched_by"
	" FROM events e JOIN tracks t ON t.id = e.track_id LEFT JOIN names n ON n.id = e.name_id"
	" LEFT JOIN events l ON l.id = e.launch_id LEFT JOIN events p ON p.id = l.parent_id"
	" LEFT JOIN names pn ON pn.id = p.name_id WHERE e.type = 'device';";

#endif

// SPDX-License-Identifier: BSD-2-Clause
#include "recording/recording.h"
#include "common/err.h"
#include "recording/message_table.h"
#include "common/json_memory.h"
#include "common/util.h"
#include "recording/chunk_writer.h"
#include "recording/event_codec.h"
#include "recording/sink.h"
#include <string.h>

/* bytes of names, tracks or sched rows before they are written */
#define PENDING_MAX (256u << 10)

/* Most bytes of names. Later names of a process that makes names without end share one name. */
#define NAME_BYTES_MAX (128u << 20)
#define NAME_BYTES_OWN 128 /* bytes of a name besides its text, approximately */
#define OTHER_NAMES    "(other names: there are too many to keep)"

/* Rows of one kind that wait for their chunk. Their count is put before them then. */
struct pending {
	uint8_t *rows;
	size_t len, cap;
	uint32_t cnt;
};

struct known_name {
	char *text, *schema; /* NULL: none */
	uint8_t category;
};

struct recording_writer {
	struct chunk_writer file;
	struct event_encoder events;
	uint64_t event_cnt;
	struct pending names, tracks, sched, entries, code, frames;
	uint8_t *raw; /* buffer for a payload */
	size_t raw_cap;

	struct known_name *known_names; /* id - 1 */
	size_t name_cnt, name_cap, name_bytes;
	struct hash_index name_index;

	struct track *known_tracks; /* id - 1; names are ours */
	size_t track_cnt, track_cap;
	struct hash_index track_index;

	struct code *known_code; /* id - 1; strings are ours */
	size_t code_cnt, code_cap;
	struct hash_index code_index;

	struct code_frame *known_frames; /* id - 1 */
	size_t frame_cnt, frame_cap;
	struct hash_index frame_index;
};

static int fail(struct recording_writer *w, int err)
{
	return chunk_writer__fail(&w->file, err);
}

/* Makes room in a buffer. 0 or the writer's error. */
static int reserve(struct recording_writer *w, uint8_t **buf, size_t *cap, size_t size)
{
	uint8_t *grown;

	if (size <= *cap)
		return 0;
	size += size / 2;
	grown = realloc(*buf, size);
	if (!grown)
		return fail(w, -ENOMEM);
	*buf = grown;
	*cap = size;
	return 0;
}

/* ---- chunks ---- */

static int write_json(struct recording_writer *w, enum chunk_type type, const json_t *json)
{
	struct chunk_header h = {.type = (uint8_t)type};
	char *text = json_dumps(json, JSON_COMPACT);
	int err;

	/* A text built without memory is incomplete. */
	if (!text || json_memory__lacked()) {
		free(text);
		return fail(w, json_memory__lacked() ? -ENOMEM : -EINVAL);
	}
	err = chunk_writer__write(&w->file, &h, (const uint8_t *)text, strlen(text));
	free(text);
	return err;
}

static int write_pending(struct recording_writer *w, enum chunk_type type, struct pending *p)
{
	struct chunk_header h = {.type = (uint8_t)type};
	uint8_t *end;
	int err;

	if (!p->cnt)
		return w->file.err;
	err = reserve(w, &w->raw, &w->raw_cap, p->len + VARINT_MAX_SIZE);
	if (err)
		return err;
	end = varint__put(w->raw, p->cnt);
	memcpy(end, p->rows, p->len);
	err = chunk_writer__write(&w->file, &h, w->raw, (size_t)(end - w->raw) + p->len);
	p->len = 0;
	p->cnt = 0;
	return err;
}

/* Writes names, tracks and frames before the events that use them. */
static int write_definitions(struct recording_writer *w)
{
	int err = write_pending(w, CHUNK_NAMES, &w->names);

	if (!err)
		err = write_pending(w, CHUNK_TRACKS, &w->tracks);
	if (!err)
		err = write_pending(w, CHUNK_CODE, &w->code);
	return err ? err : write_pending(w, CHUNK_FRAMES, &w->frames);
}

static int write_events(struct recording_writer *w)
{
	struct chunk_header h = {.type = CHUNK_EVENTS, .event_cnt = w->events.cnt};
	size_t len;
	int err = write_definitions(w);

	if (err || !w->events.cnt)
		return err;
	err = reserve(w, &w->raw, &w->raw_cap, event_encoder__size(&w->events));
	if (err)
		return err;
	len = event_encoder__take(&w->events, w->raw);
	return chunk_writer__write(&w->file, &h, w->raw, len);
}

static int write_end(struct recording_writer *w)
{
	struct chunk_header h = {.type = CHUNK_END};
	uint8_t raw[VARINT_MAX_SIZE];
	uint8_t *end = varint__put(raw, w->event_cnt);

	return chunk_writer__write(&w->file, &h, raw, (size_t)(end - raw));
}

/* Makes room for one more row of at most `size` bytes. A full buffer is written first. */
static uint8_t *pending_room(struct recording_writer *w, enum chunk_type type, struct pending *p,
			     size_t size)
{
	if (p->len >= PENDING_MAX && write_pending(w, type, p))
		return NULL;
	if (reserve(w, &p->rows, &p->cap, p->len + size))
		return NULL;
	return p->rows + p->len;
}

static void pending_added(struct pending *p, const uint8_t *end)
{
	p->len = (size_t)(end - p->rows);
	p->cnt++;
}

/* ---- life ---- */

static void free_known(struct known_name *known)
{
	free(known->text);
	free(known->schema);
}

static void free_code(struct code *c)
{
	free((char *)c->file);
	free((char *)c->function);
}

static void writer_free(struct recording_writer *w)
{
	event_encoder__free(&w->events);
	free(w->names.rows);
	free(w->tracks.rows);
	free(w->sched.rows);
	free(w->entries.rows);
	free(w->code.rows);
	free(w->frames.rows);
	free(w->raw);
	for (size_t i = 0; i < w->name_cnt; i++)
		free_known(&w->known_names[i]);
	free(w->known_names);
	hash_index__free(&w->name_index);
	for (size_t i = 0; i < w->track_cnt; i++)
		free((char *)w->known_tracks[i].name);
	free(w->known_tracks);
	hash_index__free(&w->track_index);
	for (size_t i = 0; i < w->code_cnt; i++)
		free_code(&w->known_code[i]);
	free(w->known_code);
	hash_index__free(&w->code_index);
	free(w->known_frames);
	hash_index__free(&w->frame_index);
	free(w);
}

int recording_writer__create(const char *path, const json_t *meta, struct recording_writer **out)
{
	struct sink sink;
	int err = sink__open_file(&sink, path);

	return err ? err : recording_writer__begin(&sink, meta, out);
}

int recording_writer__begin(struct sink *sink, const json_t *meta, struct recording_writer **out)
{
	struct recording_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w || event_encoder__init(&w->events)) {
		free(w);
		err = err__set(-ENOMEM, MESSAGE_RECORDING_CREATE_OUT_OF_MEMORY, sink->name);
		sink__close(sink, false);
		free(sink->name);
		return err;
	}
	err = chunk_writer__create(&w->file, sink);
	if (err) {
		writer_free(w);
		return err;
	}
	err = write_json(w, CHUNK_META, meta);
	if (err) {
		recording_writer__close(w, NULL);
		return err;
	}
	*out = w;
	return 0;
}

int recording_writer__flush(struct recording_writer *w)
{
	int err = write_events(w);

	if (!err)
		err = write_pending(w, CHUNK_SCHED, &w->sched);
	return err ? err : write_pending(w, CHUNK_ENTRIES, &w->entries);
}

int recording_writer__close(struct recording_writer *w, const json_t *summary)
{
	int err = recording_writer__flush(w);

	if (!err && summary)
		err = write_json(w, CHUNK_SUMMARY, summary);
	if (!err && summary)
		write_end(w);
	err = chunk_writer__close(&w->file);
	writer_free(w);
	return err;
}

/* ---- names ---- */

static size_t put_string(uint8_t *p, const char *text, size_t len)
{
	uint8_t *end = varint__put(p, len);

	memcpy(end, text, len);
	return (size_t)(end - p) + len;
}

struct name_key {
	const struct recording_writer *w;
	const char *text, *schema;
	uint8_t category;
};

static bool same_name(uint32_t item, const void *ctx)
{
	const struct name_key *key = ctx;
	const struct known_name *known = &key->w->known_names[item];

	return known->category == key->category && !strcmp(known->text, key->text) &&
	       !known->schema == !key->schema &&
	       (!known->schema || !strcmp(known->schema, key->schema));
}

/* Row: id, category, text, schema length + 1 (0: none), schema. */
static int put_name(struct recording_writer *w, const struct name_key *key, size_t text_len,
		    size_t schema_len)
{
	uint8_t *p;

	if (text_len > STRING_LEN_MAX || schema_len > STRING_LEN_MAX || w->name_cnt >= NAME_ID_MAX)
		return fail(w, -EINVAL);
	p = pending_room(w, CHUNK_NAMES, &w->names,
			 4 * (size_t)VARINT_MAX_SIZE + text_len + schema_len);
	if (!p)
		return w->file.err;
	p = varint__put(p, w->name_cnt + 1);
	*p++ = key->category;
	p += put_string(p, key->text, text_len);
	p = varint__put(p, key->schema ? schema_len + 1 : 0);
	if (key->schema)
		memcpy(p, key->schema, schema_len);
	pending_added(&w->names, p + schema_len);
	return 0;
}

static uint32_t add_name(struct recording_writer *w, const struct name_key *key, uint64_t hash,
			 size_t len, size_t schema_len)
{
	struct known_name known = {.category = key->category};

	if (put_name(w, key, len, schema_len))
		return 0;
	known.text = strdup(key->text);
	known.schema = key->schema ? strdup(key->schema) : NULL;
	if (!known.text || (key->schema && !known.schema) ||
	    hash_index__add(&w->name_index, hash, (uint32_t)w->name_cnt) ||
	    ARRAY_PUSH(w->known_names, w->name_cnt, w->name_cap, known)) {
		free_known(&known);
		fail(w, -ENOMEM);
		return 0;
	}
	if (w->name_bytes != SIZE_MAX)
		w->name_bytes += len + schema_len + NAME_BYTES_OWN;
	return (uint32_t)w->name_cnt;
}

/* The shared name of further names; one for each category. */
static uint32_t other_names(struct recording_writer *w, enum span_category category)
{
	if (w->name_bytes != SIZE_MAX)
		log__warn(MESSAGE_NAMES_TOO_MANY, NAME_BYTES_MAX >> 20, OTHER_NAMES);
	w->name_bytes = SIZE_MAX; /* the message was logged */
	return recording_writer__name(w, category, OTHER_NAMES, NULL);
}

uint32_t recording_writer__name(struct recording_writer *w, enum span_category category,
				const char *text, const char *schema)
{
	const struct name_key key = {w, text, schema, (uint8_t)category};
	size_t len = strlen(text), schema_len = schema ? strlen(schema) : 0;
	uint64_t hash = hash__bytes(text, len, category);
	uint32_t item;

	if (schema_len)
		hash = hash__bytes(schema, schema_len, hash);
	if (w->file.err)
		return 0;
	item = hash_index__find(&w->name_index, hash, same_name, &key);
	if (item != HASH_NONE)
		return item + 1;
	if (w->name_bytes >= NAME_BYTES_MAX && strcmp(text, OTHER_NAMES) != 0)
		return other_names(w, category);
	return add_name(w, &key, hash, len, schema_len);
}

/* ---- tracks ---- */

struct track_key {
	const struct recording_writer *w;
	const struct track *track;
};

static bool same_track(uint32_t item, const void *ctx)
{
	const struct track_key *key = ctx;
	const struct track *a = &key->w->known_tracks[item], *b = key->track;

	return a->kind == b->kind && a->pid == b->pid && a->tid == b->tid &&
	       a->device == b->device && a->stream == b->stream;
}

static uint64_t track_hash(const struct track *t)
{
	const uint64_t key[] = {t->kind, t->pid, t->tid, (uint64_t)t->device, (uint64_t)t->stream};

	return hash__bytes(key, sizeof(key), 0);
}

/* Row: id, kind, pid, tid, device, stream, name length + 1 (0: none), name. The last row of an id
 * counts. */
static int put_track(struct recording_writer *w, const struct track *t)
{
	size_t name_len = t->name ? strlen(t->name) : 0;
	uint8_t *p;

	if (name_len > STRING_LEN_MAX || t->id > TRACK_ID_MAX)
		return fail(w, -EINVAL);
	p = pending_room(w, CHUNK_TRACKS, &w->tracks, 7 * (size_t)VARINT_MAX_SIZE + name_len);
	if (!p)
		return w->file.err;
	p = varint__put(p, t->id);
	*p++ = t->kind;
	p = varint__put(p, t->pid);
	p = varint__put(p, t->tid);
	p = varint__put(p, zigzag__pack(t->device));
	p = varint__put(p, zigzag__pack(t->stream));
	p = varint__put(p, t->name ? name_len + 1 : 0);
	if (name_len)
		memcpy(p, t->name, name_len);
	pending_added(&w->tracks, p + name_len);
	return 0;
}

static int rename_track(struct recording_writer *w, struct track *known, const char *name)
{
	char *copy = name ? strdup(name) : NULL;

	if (name && !copy)
		return fail(w, -ENOMEM);
	free((char *)known->name);
	known->name = copy;
	return put_track(w, known);
}

static bool same_string(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

uint32_t recording_writer__track(struct recording_writer *w, const struct track *t)
{
	const struct track_key key = {w, t};
	uint64_t hash = track_hash(t);
	struct track known = *t;
	uint32_t item;

	if (w->file.err)
		return 0;
	item = hash_index__find(&w->track_index, hash, same_track, &key);
	if (item == HASH_NONE) {
		item = (uint32_t)w->track_cnt;
		known.id = item + 1;
		known.name = NULL;
		if (hash_index__add(&w->track_index, hash, item) ||
		    ARRAY_PUSH(w->known_tracks, w->track_cnt, w->track_cap, known)) {
			fail(w, -ENOMEM);
			return 0;
		}
	} else if (same_string(w->known_tracks[item].name, t->name)) {
		return item + 1;
	}
	return rename_track(w, &w->known_tracks[item], t->name) ? 0 : item + 1;
}

/* ---- stacks ---- */

struct code_key {
	const struct recording_writer *w;
	const struct code *code;
};

static bool same_code(uint32_t item, const void *ctx)
{
	const struct code_key *key = ctx;
	const struct code *a = &key->w->known_code[item], *b = key->code;

	return a->first_line == b->first_line && !strcmp(a->file, b->file) &&
	       !strcmp(a->function, b->function);
}

/* Row: id, first line, file, function. */
static int put_code(struct recording_writer *w, const struct code *c)
{
	const size_t file_len = strlen(c->file), function_len = strlen(c->function);
	uint8_t *p;

	if (file_len > STRING_LEN_MAX || function_len > STRING_LEN_MAX || c->id > CODE_ID_MAX)
		return fail(w, -EINVAL);
	p = pending_room(w, CHUNK_CODE, &w->code,
			 4 * (size_t)VARINT_MAX_SIZE + file_len + function_len);
	if (!p)
		return w->file.err;
	p = varint__put(p, c->id);
	p = varint__put(p, c->first_line);
	p += put_string(p, c->file, file_len);
	pending_added(&w->code, p + put_string(p, c->function, function_len));
	return 0;
}

uint32_t recording_writer__code(struct recording_writer *w, const char *file, const char *function,
				uint32_t first_line)
{
	const struct code asked = {.file = file, .function = function, .first_line = first_line};
	const struct code_key key = {w, &asked};
	uint64_t hash = hash__bytes(function, strlen(function),
				    hash__bytes(file, strlen(file), first_line));
	struct code known = {.id = (uint32_t)w->code_cnt + 1, .first_line = first_line};
	uint32_t item;

	if (w->file.err)
		return 0;
	item = hash_index__find(&w->code_index, hash, same_code, &key);
	if (item != HASH_NONE)
		return item + 1;
	known.file = strdup(file);
	known.function = strdup(function);
	if (!known.file || !known.function ||
	    hash_index__add(&w->code_index, hash, (uint32_t)w->code_cnt) ||
	    ARRAY_PUSH(w->known_code, w->code_cnt, w->code_cap, known)) {
		free_code(&known);
		fail(w, -ENOMEM);
		return 0;
	}
	return put_code(w, &known) ? 0 : known.id;
}

struct frame_key {
	const struct recording_writer *w;
	const struct code_frame *frame;
};

static bool same_frame(uint32_t item, const void *ctx)
{
	const struct frame_key *key = ctx;
	const struct code_frame *a = &key->w->known_frames[item], *b = key->frame;

	return a->parent == b->parent && a->code == b->code && a->line == b->line;
}

/* Row: id, parent, code, line. */
static int put_frame(struct recording_writer *w, const struct code_frame *f)
{
	uint8_t *p;

	if (f->id > FRAME_ID_MAX)
		return fail(w, -EINVAL);
	p = pending_room(w, CHUNK_FRAMES, &w->frames, 4 * (size_t)VARINT_MAX_SIZE);
	if (!p)
		return w->file.err;
	p = varint__put(p, f->id);
	p = varint__put(p, f->parent);
	p = varint__put(p, f->code);
	pending_added(&w->frames, varint__put(p, f->line));
	return 0;
}

uint32_t recording_writer__frame(struct recording_writer *w, uint32_t parent, uint32_t code,
				 uint32_t line)
{
	const struct code_frame f = {(uint32_t)w->frame_cnt + 1, parent, code, line};
	const struct frame_key key = {w, &f};
	const uint32_t fields[] = {parent, code, line};
	uint64_t hash = hash__bytes(fields, sizeof(fields), 0);
	uint32_t item;

	if (w->file.err)
		return 0;
	item = hash_index__find(&w->frame_index, hash, same_frame, &key);
	if (item != HASH_NONE)
		return item + 1;
	if (hash_index__add(&w->frame_index, hash, (uint32_t)w->frame_cnt) ||
	    ARRAY_PUSH(w->known_frames, w->frame_cnt, w->frame_cap, f)) {
		fail(w, -ENOMEM);
		return 0;
	}
	return put_frame(w, &f) ? 0 : f.id;
}

/* ---- events ---- */

int recording_writer__event(struct recording_writer *w, const struct event *e)
{
	int err = w->file.err;

	if (!err && event_encoder__full(&w->events))
		err = write_events(w);
	if (err)
		return err;
	err = event_encoder__add(&w->events, e);
	if (err)
		return fail(w, err);
	w->event_cnt++;
	return 0;
}

/* Row: track, reason, step + 1 (0: outside), ns, cnt, state. */
static int add_row(struct recording_writer *w, enum chunk_type type, struct pending *to,
		   const struct sched_row *row)
{
	uint8_t *p;

	if (w->file.err)
		return w->file.err;
	/* Flushes everything, so that names of reasons come first. */
	if (to->len >= PENDING_MAX && recording_writer__flush(w))
		return w->file.err;
	p = pending_room(w, type, to, 6 * (size_t)VARINT_MAX_SIZE);
	if (!p)
		return w->file.err;
	p = varint__put(p, row->track);
	p = varint__put(p, row->reason);
	p = varint__put(p, row->step + 1);
	p = varint__put(p, row->ns);
	p = varint__put(p, row->cnt);
	*p++ = row->state;
	pending_added(to, p);
	return 0;
}

int recording_writer__sched(struct recording_writer *w, const struct sched_row *row)
{
	return add_row(w, CHUNK_SCHED, &w->sched, row);
}

int recording_writer__entry(struct recording_writer *w, const struct sched_row *row)
{
	return add_row(w, CHUNK_ENTRIES, &w->entries, row);
}

uint64_t recording_writer__bytes(const struct recording_writer *w)
{
	return w->file.bytes;
}
uint64_t recording_writer__events(const struct recording_writer *w)
{
	return w->event_cnt;
}

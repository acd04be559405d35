// SPDX-License-Identifier: BSD-2-Clause
#include "recording/reader.h"
#include "common/utf8.h"
#include "common/util.h"
#include "recording/hash_index.h"
#include <string.h>

/* Reads length + 1 and the bytes. 0 means no string (*s is NULL). */
static int get_optional_string(struct byte_reader *in, const char **s)
{
	uint32_t len;

	*s = NULL;
	if (!byte_reader__u32(in, &len))
		return -EBADMSG;
	if (!len)
		return 0;
	len--;
	if (len > STRING_LEN_MAX || len > (size_t)(in->end - in->p))
		return -EBADMSG;
	*s = utf8__copy(in->p, len);
	in->p += len;
	return *s ? 0 : -ENOMEM;
}

/* Makes rows up to `id`. Rows between, whose chunk may be lost, are empty. */
static int grow_names(struct recording *r, uint32_t id)
{
	static const struct name empty;

	while (r->name_cnt < id) {
		int err = ARRAY_PUSH(r->names, r->name_cnt, r->name_cap, empty);

		if (err)
			return err;
	}
	return 0;
}

static int grow_tracks(struct recording *r, uint32_t id)
{
	static const struct track empty;

	while (r->track_cnt < id) {
		int err = ARRAY_PUSH(r->tracks, r->track_cnt, r->track_cap, empty);

		if (err)
			return err;
	}
	return 0;
}

static void free_name(struct name *n)
{
	free((char *)n->text);
	free((char *)n->schema);
}

static int read_name(struct recording *r, struct byte_reader *in)
{
	struct name n = {0};
	const uint8_t *text;
	uint32_t len;
	int err;

	if (!byte_reader__u32(in, &n.id) || !n.id || n.id > NAME_ID_MAX ||
	    !byte_reader__u8(in, &n.category) ||
	    !byte_reader__bytes(in, STRING_LEN_MAX, &text, &len))
		return -EBADMSG;
	err = get_optional_string(in, &n.schema);
	if (err)
		return err;
	n.text = utf8__copy(text, len);
	err = n.text ? grow_names(r, n.id) : -ENOMEM;
	if (err) {
		free_name(&n);
		return err;
	}
	free_name(&r->names[n.id - 1]);
	r->names[n.id - 1] = n;
	return 0;
}

int recording__read_names(struct recording *r, struct byte_reader *in)
{
	uint32_t cnt;
	int err = byte_reader__u32(in, &cnt) ? 0 : -EBADMSG;

	while (!err && cnt--)
		err = read_name(r, in);
	return err;
}

static bool same_text(uint32_t item, const void *ctx)
{
	const struct name *const *pair = ctx, *n = pair[0], *other = &pair[1][item];

	return n->category == other->category && !strcmp(n->text, other->text);
}

int recording__join_overloads(struct recording *r)
{
	struct hash_index index = {0};
	int err = 0;

	for (uint32_t i = 0; i < r->name_cnt && !err; i++) {
		struct name *n = &r->names[i];
		const struct name *const pair[] = {n, r->names};
		uint64_t hash;
		uint32_t item;

		n->first = i + 1;
		if (!n->text)
			continue;
		hash = hash__bytes(n->text, strlen(n->text), n->category);
		item = hash_index__find(&index, hash, same_text, pair);
		if (item == HASH_NONE)
			err = hash_index__add(&index, hash, i);
		else
			n->first = item + 1;
	}
	hash_index__free(&index);
	return err;
}

static int read_track(struct recording *r, struct byte_reader *in)
{
	struct track t = {0};
	int64_t device;
	int err;

	if (!byte_reader__u32(in, &t.id) || !t.id || t.id > TRACK_ID_MAX ||
	    !byte_reader__u8(in, &t.kind) || !t.kind || !byte_reader__u32(in, &t.pid) ||
	    !byte_reader__u32(in, &t.tid) || !byte_reader__zigzag(in, &device) ||
	    device != (int32_t)device || !byte_reader__zigzag(in, &t.stream))
		return -EBADMSG;
	t.device = (int32_t)device;
	err = get_optional_string(in, &t.name);
	if (!err)
		err = grow_tracks(r, t.id);
	if (err) {
		free((char *)t.name);
		return err;
	}
	free((char *)r->tracks[t.id - 1].name);
	r->tracks[t.id - 1] = t;
	return 0;
}

int recording__read_tracks(struct recording *r, struct byte_reader *in)
{
	uint32_t cnt;
	int err = byte_reader__u32(in, &cnt) ? 0 : -EBADMSG;

	while (!err && cnt--)
		err = read_track(r, in);
	return err;
}

int recording__read_sched(struct sched_rows *rows, struct byte_reader *in)
{
	uint32_t cnt;
	int err = byte_reader__u32(in, &cnt) ? 0 : -EBADMSG;

	while (!err && cnt--) {
		struct sched_row row = {0};

		if (!byte_reader__u32(in, &row.track) || !byte_reader__u32(in, &row.reason) ||
		    !byte_reader__varint(in, &row.step) || !byte_reader__varint(in, &row.ns) ||
		    !byte_reader__varint(in, &row.cnt) || !byte_reader__u8(in, &row.state))
			return -EBADMSG;
		row.step--;
		err = ARRAY_PUSH(rows->items, rows->cnt, rows->cap, row);
	}
	return err;
}

static int read_code_row(struct recording *r, struct byte_reader *in)
{
	static const struct code empty;
	struct code c = {0};
	const uint8_t *file, *function;
	uint32_t file_len, function_len;
	int err = 0;

	if (!byte_reader__u32(in, &c.id) || !c.id || c.id > CODE_ID_MAX ||
	    !byte_reader__u32(in, &c.first_line) ||
	    !byte_reader__bytes(in, STRING_LEN_MAX, &file, &file_len) ||
	    !byte_reader__bytes(in, STRING_LEN_MAX, &function, &function_len))
		return -EBADMSG;
	while (r->code_cnt < c.id && !err)
		err = ARRAY_PUSH(r->code, r->code_cnt, r->code_cap, empty);
	if (err)
		return err;
	free((char *)r->code[c.id - 1].file);
	free((char *)r->code[c.id - 1].function);
	r->code[c.id - 1] = empty;
	c.file = utf8__copy(file, file_len);
	c.function = utf8__copy(function, function_len);
	if (!c.file || !c.function) {
		free((char *)c.file);
		free((char *)c.function);
		return -ENOMEM;
	}
	r->code[c.id - 1] = c;
	return 0;
}

int recording__read_code(struct recording *r, struct byte_reader *in)
{
	uint32_t cnt;
	int err = byte_reader__u32(in, &cnt) ? 0 : -EBADMSG;

	while (!err && cnt--)
		err = read_code_row(r, in);
	return err;
}

static int read_frame_row(struct recording *r, struct byte_reader *in)
{
	static const struct code_frame empty;
	struct code_frame f;
	int err = 0;

	/* A parent comes before its children, so a walk to the root ends. */
	if (!byte_reader__u32(in, &f.id) || !f.id || f.id > FRAME_ID_MAX ||
	    !byte_reader__u32(in, &f.parent) || f.parent >= f.id ||
	    !byte_reader__u32(in, &f.code) || !byte_reader__u32(in, &f.line))
		return -EBADMSG;
	while (r->frame_cnt < f.id && !err)
		err = ARRAY_PUSH(r->frames, r->frame_cnt, r->frame_cap, empty);
	if (!err)
		r->frames[f.id - 1] = f;
	return err;
}

int recording__read_frames(struct recording *r, struct byte_reader *in)
{
	uint32_t cnt;
	int err = byte_reader__u32(in, &cnt) ? 0 : -EBADMSG;

	while (!err && cnt--)
		err = read_frame_row(r, in);
	return err;
}

void recording__free_tables(struct recording *r)
{
	for (size_t i = 0; i < r->name_cnt; i++)
		free_name(&r->names[i]);
	for (size_t i = 0; i < r->track_cnt; i++)
		free((char *)r->tracks[i].name);
	for (size_t i = 0; i < r->code_cnt; i++) {
		free((char *)r->code[i].file);
		free((char *)r->code[i].function);
	}
	free(r->code);
	free(r->frames);
	free(r->names);
	free(r->tracks);
	free(r->sched.items);
	free(r->entries.items);
	free(r->chunks);
}

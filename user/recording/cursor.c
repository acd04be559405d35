// SPDX-License-Identifier: BSD-2-Clause
#include "recording/reader.h"
#include "common/err.h"
#include "recording/message_table.h"
#include "common/util.h"
#include "recording/event_codec.h"
#include <string.h>

struct recording_cursor {
	const struct recording *r;
	struct chunk_reader chunks;
	struct event_decoder decoder;
	size_t next_chunk;
};

int recording_cursor__open(const struct recording *r, struct recording_cursor **out)
{
	struct recording_cursor *c = calloc(1, sizeof(*c));

	if (!c || chunk_reader__init(&c->chunks, r->fd)) {
		free(c);
		return err__set(-ENOMEM, MESSAGE_RECORDING_READ_OUT_OF_MEMORY, r->path);
	}
	c->r = r;
	*out = c;
	return 0;
}

static int next_chunk(struct recording_cursor *c)
{
	const struct event_chunk *chunk = &c->r->chunks[c->next_chunk++];
	const uint8_t *payload;
	int err = chunk_reader__load(&c->chunks, chunk->off, &chunk->header);

	if (!err)
		err = chunk_reader__payload(&c->chunks, &chunk->header, &payload);
	if (!err)
		err = event_decoder__start(&c->decoder, payload, chunk->header.raw_len,
					   chunk->header.event_cnt);
	return err;
}

static int fail(struct recording_cursor *c, int err)
{
	unsigned long long off = c->r->chunks[c->next_chunk - 1].off;

	/* The rest of this chunk is lost. A caller may continue with the next chunk. */
	c->decoder.left = 0;
	if (err == -ENOMEM)
		return err__set(err, MESSAGE_RECORDING_READ_OUT_OF_MEMORY, c->r->path);
	return err__set(err, MESSAGE_RECORDING_CHUNK_UNREADABLE, c->r->path, off, strerror(-err),
			err == -EBADMSG ? "the file was changed or written by a broken writer"
					: "look at the disk (dmesg)");
}

/* Decodes chunks before `end` until there is an event. 1, 0 at the end, or a negative errno. */
static int fill(struct recording_cursor *c, size_t end)
{
	while (!c->decoder.left) {
		int err;

		if (c->next_chunk >= end)
			return 0;
		err = next_chunk(c);
		if (err)
			return fail(c, err);
	}
	return 1;
}

static int complete(struct recording_cursor *c, struct event *e, int ret)
{
	if (ret < 0)
		return fail(c, ret);
	e->overload = e->name;
	if (e->name && e->name <= c->r->name_cnt)
		e->name = c->r->names[e->name - 1].first;
	return ret;
}

/* Converts a device event to the host's clock. Waits already use it. */
static int correct(const struct recording *r, struct event *e, int ret)
{
	const struct track *t =
		e->track && e->track <= r->track_cnt ? &r->tracks[e->track - 1] : NULL;
	const struct clock_shift *shift;

	if (ret <= 0 || e->type != EVENT_DEVICE || !t || !e->name || e->name > r->name_cnt)
		return ret;
	switch (r->names[e->name - 1].category) {
	case CAT_KERNEL:
	case CAT_MEMCPY:
	case CAT_MEMSET:
		shift = clock_shifts__find(&r->shifts, t->device);
		if (shift)
			clock_shift__apply(shift, e);
		return ret;
	default:
		return ret;
	}
}

/* The same, with corrected times. */
static int complete_whole(struct recording_cursor *c, struct event *e, int ret)
{
	ret = complete(c, e, ret);
	return c->r->shifts.cnt ? correct(c->r, e, ret) : ret;
}

int recording_cursor__next(struct recording_cursor *c, struct event *e)
{
	int ret = fill(c, c->r->chunk_cnt);

	return ret > 0 ? complete_whole(c, e, event_decoder__next(&c->decoder, e)) : ret;
}

size_t recording__chunk_cnt(const struct recording *r)
{
	return r->chunk_cnt;
}

void recording_cursor__seek(struct recording_cursor *c, size_t chunk)
{
	c->next_chunk = chunk;
	c->decoder.left = 0;
}

int recording_cursor__next_in(struct recording_cursor *c, size_t chunk, struct event *e)
{
	int ret = fill(c, chunk + 1);

	return ret > 0 ? complete_whole(c, e, event_decoder__next(&c->decoder, e)) : ret;
}

int recording_cursor__next_brief(struct recording_cursor *c, size_t chunk, struct event *e)
{
	int ret = fill(c, chunk + 1);

	return ret > 0 ? complete(c, e, event_decoder__next_brief(&c->decoder, e)) : ret;
}

size_t recording_cursor__bytes(const struct recording_cursor *c)
{
	return sizeof(*c) + ZSTD_sizeof_DCtx(c->chunks.zstd) + c->chunks.stored_cap +
	       c->chunks.raw_cap + c->decoder.blob_cap * sizeof(*c->decoder.blobs);
}

void recording_cursor__rewind(struct recording_cursor *c)
{
	recording_cursor__seek(c, 0);
}

void recording_cursor__close(struct recording_cursor *c)
{
	if (!c)
		return;
	chunk_reader__free(&c->chunks);
	event_decoder__free(&c->decoder);
	free(c);
}

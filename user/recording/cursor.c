// SPDX-License-Identifier: BSD-2-Clause
#include "recording/reader.h"
#include "common/err.h"
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
		return err__set(-ENOMEM, "cannot read recording %s: out of memory", r->path);
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

	/* The rest of this chunk means nothing now; a caller may go on with the next one. */
	c->decoder.left = 0;
	return err__set(err, "cannot read recording %s: chunk at byte %llu: %s; %s", c->r->path,
			off, strerror(-err),
			err == -EBADMSG ? "the file was changed or written by a broken writer"
					: "look at the disk (dmesg)");
}

int recording_cursor__next(struct recording_cursor *c, struct event *e)
{
	int ret;

	while (!c->decoder.left) {
		if (c->next_chunk >= c->r->chunk_cnt)
			return 0;
		ret = next_chunk(c);
		if (ret)
			return fail(c, ret);
	}
	ret = event_decoder__next(&c->decoder, e);
	if (ret < 0)
		return fail(c, ret);
	e->overload = e->name;
	if (e->name && e->name <= c->r->name_cnt)
		e->name = c->r->names[e->name - 1].first;
	return ret;
}

void recording_cursor__rewind(struct recording_cursor *c)
{
	c->next_chunk = 0;
	c->decoder.left = 0;
}

void recording_cursor__close(struct recording_cursor *c)
{
	if (!c)
		return;
	chunk_reader__free(&c->chunks);
	event_decoder__free(&c->decoder);
	free(c);
}

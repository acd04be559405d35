// SPDX-License-Identifier: BSD-2-Clause
#include "recording/event_codec.h"
#include "common/util.h"
#include <errno.h>
#include <string.h>

int event_decoder__start(struct event_decoder *dec, const uint8_t *payload, size_t len,
			 uint32_t event_cnt)
{
	struct byte_reader r = {payload, payload + len};
	uint32_t column_cnt, lens[COLUMN_CNT_MAX];

	memset(dec->columns, 0, sizeof(dec->columns));
	memset(&dec->state, 0, sizeof(dec->state));
	dec->blob_cnt = 0;
	dec->left = 0;
	if (!byte_reader__u32(&r, &column_cnt) || column_cnt > COLUMN_CNT_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < column_cnt; i++)
		if (!byte_reader__u32(&r, &lens[i]))
			return -EBADMSG;
	for (uint32_t i = 0; i < column_cnt; i++) {
		if (lens[i] > (size_t)(r.end - r.p))
			return -EBADMSG;
		if (i < COLUMN_CNT)
			dec->columns[i] = (struct byte_reader){r.p, r.p + lens[i]};
		r.p += lens[i];
	}
	if ((size_t)(dec->columns[COLUMN_KIND].end - dec->columns[COLUMN_KIND].p) != event_cnt)
		return -EBADMSG;
	dec->left = event_cnt;
	return 0;
}

static inline bool get(struct event_decoder *dec, enum event_column column, uint64_t *v)
{
	return byte_reader__varint(&dec->columns[column], v);
}

/* Reads a difference and adds it to *v. */
static inline bool get_delta(struct event_decoder *dec, enum event_column column, uint64_t *v)
{
	int64_t delta;

	if (!byte_reader__zigzag(&dec->columns[column], &delta))
		return false;
	*v += (uint64_t)delta;
	return true;
}

static bool get_memory(struct event_decoder *dec, struct event *e)
{
	struct event_memory *m = &dec->state.memory;
	uint64_t type = 0, index = 0;

	if (!get_delta(dec, COLUMN_MEMORY, &m->total_allocated) ||
	    !get_delta(dec, COLUMN_MEMORY, &m->total_reserved) ||
	    !get_delta(dec, COLUMN_MEMORY, &type) || !get_delta(dec, COLUMN_MEMORY, &index))
		return false;
	m->total_allocated += (uint64_t)e->value;
	m->device_type = (int32_t)type;
	m->device_index = (int32_t)index;
	e->args = m;
	e->args_len = sizeof(*m);
	return true;
}

static int get_new_blob(struct event_decoder *dec, struct event *e)
{
	struct event_args blob;

	if (!byte_reader__bytes(&dec->columns[COLUMN_BLOBS], EVENT_ARGS_MAX, &blob.data, &blob.len))
		return -EBADMSG;
	e->args = blob.data;
	e->args_len = blob.len;
	return ARRAY_PUSH(dec->blobs, dec->blob_cnt, dec->blob_cap, blob);
}

static int get_extra(struct event_decoder *dec, struct event *e)
{
	uint64_t flags;
	uint32_t ref;

	if (!get(dec, COLUMN_FLAGS, &flags) || !byte_reader__u32(&dec->columns[COLUMN_ARGS], &ref))
		return -EBADMSG;
	e->flags = (uint16_t)(flags & ~(uint64_t)EVENT_STACKED);
	if (flags & EVENT_STACKED && !byte_reader__u32(&dec->columns[COLUMN_STACK], &e->stack))
		return -EBADMSG;
	switch (ref) {
	case ARGS_NONE:
		return 0;
	case ARGS_NEW:
		return get_new_blob(dec, e);
	case ARGS_MEMORY:
		return get_memory(dec, e) ? 0 : -EBADMSG;
	default:
		if (ref - ARGS_FIRST >= dec->blob_cnt)
			return -EBADMSG;
		e->args = dec->blobs[ref - ARGS_FIRST].data;
		e->args_len = dec->blobs[ref - ARGS_FIRST].len;
		return 0;
	}
}

static inline bool get_identity(struct event_decoder *dec, struct event *e, uint8_t kind)
{
	if (!byte_reader__u32(&dec->columns[COLUMN_TRACK], &e->track) ||
	    !byte_reader__u32(&dec->columns[COLUMN_NAME], &e->name))
		return false;
	e->id = EVENT_NO_ID;
	if (kind & KIND_HAS_ID) {
		if (!get_delta(dec, COLUMN_ID, &dec->state.id[e->type]))
			return false;
		e->id = dec->state.id[e->type];
	}
	return true;
}

static inline bool get_fields(struct event_decoder *dec, struct event *e, uint8_t kind)
{
	uint64_t value = 0;

	if (!get_identity(dec, e, kind) || !get_delta(dec, COLUMN_TIME, &dec->state.end_ns) ||
	    !get(dec, COLUMN_DUR, &e->dur_ns))
		return false;
	e->ts_ns = dec->state.end_ns - e->dur_ns;
	if ((kind & KIND_HAS_VALUE) && !get_delta(dec, COLUMN_VALUE, &value))
		return false;
	e->value = (int64_t)value;
	return true;
}

int event_decoder__next(struct event_decoder *dec, struct event *e)
{
	uint8_t kind;

	if (!dec->left)
		return 0;
	kind = *dec->columns[COLUMN_KIND].p++;
	dec->left--;
	e->type = kind & KIND_TYPE_MASK;
	e->end = kind >> KIND_END_SHIFT & KIND_END_MASK;
	e->flags = 0;
	e->stack = 0;
	e->args_len = 0;
	e->args = NULL;
	if (!e->type || !get_fields(dec, e, kind))
		return -EBADMSG;
	if (kind & KIND_HAS_EXTRA) {
		int err = get_extra(dec, e);

		if (err)
			return err;
	}
	return 1;
}

int event_decoder__next_brief(struct event_decoder *dec, struct event *e)
{
	uint8_t kind;

	if (!dec->left)
		return 0;
	kind = *dec->columns[COLUMN_KIND].p++;
	dec->left--;
	*e = (struct event){.type = kind & KIND_TYPE_MASK};
	return e->type && get_identity(dec, e, kind) ? 1 : -EBADMSG;
}

void event_decoder__free(struct event_decoder *dec)
{
	free(dec->blobs);
	memset(dec, 0, sizeof(*dec));
}

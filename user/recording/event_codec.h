/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts events to and from the uncompressed payload of one EVENTS chunk. */
#ifndef PROFTRACE_RECORDING_EVENT_CODEC_H
#define PROFTRACE_RECORDING_EVENT_CODEC_H

#include "recording/format.h"
#include "recording/hash_index.h"

struct event_encoder {
	struct event_column_buf {
		uint8_t *start, *p; /* p: next free byte */
	} columns[COLUMN_CNT];
	struct event_state state;
	uint32_t cnt;
	struct event_blob {
		uint32_t off, len; /* in COLUMN_BLOBS */
	} *blobs;
	uint32_t blob_cnt;
	struct hash_index blob_index;
};

int event_encoder__init(struct event_encoder *enc); /* 0 or -ENOMEM */
void event_encoder__free(struct event_encoder *enc);

/* True: take the chunk out before the next add. */
bool event_encoder__full(const struct event_encoder *enc);
/* -EINVAL: a field that the format cannot hold; -ENOMEM. The encoder is unchanged on error. */
int event_encoder__add(struct event_encoder *enc, const struct event *e);

/* The most bytes that event_encoder__take writes. */
size_t event_encoder__size(const struct event_encoder *enc);
/* Writes the payload, returns its length, and starts again. */
size_t event_encoder__take(struct event_encoder *enc, uint8_t *out);

struct event_decoder {
	struct byte_reader columns[COLUMN_CNT];
	struct event_state state;
	uint32_t left; /* events not read yet */
	struct event_args {
		const uint8_t *data;
		uint32_t len;
	} *blobs; /* blobs of this chunk so far */
	size_t blob_cnt, blob_cap;
};

/* Starts with a payload, which must stay until the last event is read. -EBADMSG if it is
 * malformed. */
int event_decoder__start(struct event_decoder *dec, const uint8_t *payload, size_t len,
			 uint32_t event_cnt);
/* 1 with *e set, 0 after the last event, -EBADMSG or -ENOMEM. */
int event_decoder__next(struct event_decoder *dec, struct event *e);
/* The same, but only with type, track, name and id: takes a fifth of the time. Do not mix both in a
 * chunk. */
int event_decoder__next_brief(struct event_decoder *dec, struct event *e);
void event_decoder__free(struct event_decoder *dec);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of struct recording, for the scan, the tables and the cursor. */
#ifndef PROFTRACE_RECORDING_READER_H
#define PROFTRACE_RECORDING_READER_H

#include "recording/recording.h"
#include "recording/chunk_reader.h"
#include "recording/clock_shift.h"

struct event_chunk {
	uint64_t off; /* of its header */
	struct chunk_header header;
};

struct recording {
	char *path;
	int fd;
	json_t *meta, *summary;
	struct recording_damage damage;

	struct name *names; /* id - 1; text is NULL for one that was lost */
	size_t name_cnt, name_cap;
	struct track *tracks; /* id - 1; kind is 0 for one that was lost */
	size_t track_cnt, track_cap;
	struct code *code; /* id - 1; file is NULL for one that was lost */
	size_t code_cnt, code_cap;
	struct code_frame *frames; /* id - 1; id is 0 for one that was lost */
	size_t frame_cnt, frame_cap;
	struct sched_rows {
		struct sched_row *items;
		size_t cnt, cap;
	} sched, entries;
	struct event_chunk *chunks; /* whole EVENTS chunks */
	size_t chunk_cnt, chunk_cap;
	uint64_t event_cnt;
	struct clock_shifts shifts;
};

/* Reads the whole file into r, which has fd and path. 0 or a negative errno with err__set. */
int recording__scan(struct recording *r, uint64_t size);

/* Read the payloads of NAMES, TRACKS, SCHED, CODE and FRAMES into r. 0, -EBADMSG (rows before the
 * bad one are kept) or -ENOMEM. */
int recording__read_names(struct recording *r, struct byte_reader *in);
int recording__read_tracks(struct recording *r, struct byte_reader *in);
int recording__read_sched(struct sched_rows *rows, struct byte_reader *in);
int recording__read_code(struct recording *r, struct byte_reader *in);
int recording__read_frames(struct recording *r, struct byte_reader *in);
/* Sets `first` of each name, when all names are read. 0 or -ENOMEM. */
int recording__join_overloads(struct recording *r);
void recording__free_tables(struct recording *r);

#endif

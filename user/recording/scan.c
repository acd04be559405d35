// SPDX-License-Identifier: BSD-2-Clause
/* Walks over the chunks of a file once, keeps whole ones and counts the others. */
#include "recording/reader.h"
#include "common/err.h"
#include "recording/message_table.h"
#include "common/json_memory.h"
#include "common/util.h"
#include <endian.h>
#include <string.h>
#include <unistd.h>

#define SEARCH_SIZE (64u << 10)

struct scan {
	struct recording *r;
	struct chunk_reader chunks;
	uint64_t off, size;
	uint32_t next_seq;
	bool ended;	     /* the end mark was seen */
	uint64_t end_events; /* number of events in the file, from the end mark */
	uint64_t known_lost; /* number of events in bad chunks, from their headers */
};

static int read_error(const struct scan *s, int err)
{
	return err == -ENOMEM
		       ? err__set(err, MESSAGE_RECORDING_READ_OUT_OF_MEMORY, s->r->path)
		       : err__set(err, MESSAGE_RECORDING_UNREADABLE, s->r->path, strerror(-err));
}

/* 1 if there is a chunk header at off, 0 if not, or a negative errno. */
static int header_at(const struct scan *s, uint64_t off, struct chunk_header *h)
{
	uint8_t bytes[CHUNK_HEADER_SIZE];
	ssize_t n = fd__read_at(s->r->fd, bytes, sizeof(bytes), off);

	if (n < 0)
		return (int)n;
	return (size_t)n == sizeof(bytes) && chunk_header__unpack(bytes, h);
}

/* Skips a hole. A hole of terabytes is cheap to make, and contains no chunks. */
static uint64_t skip_hole(const struct scan *s, uint64_t off)
{
	const off_t data = lseek(s->r->fd, (off_t)off, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? s->size : off;
	return (uint64_t)data;
}

/* Moves to the next place from `from` on that looks like a chunk header, or to the end. */
static int resync(struct scan *s, uint64_t from)
{
	const uint32_t sync = htole32(CHUNK_SYNC);
	auto_free uint8_t *buf = malloc(SEARCH_SIZE);
	struct chunk_header h;
	ssize_t n;

	if (!buf)
		return -ENOMEM;
	for (uint64_t off = skip_hole(s, from); off + CHUNK_HEADER_SIZE <= s->size;
	     off = skip_hole(s, off + (uint64_t)n - 3)) {
		uint8_t *p = buf;

		n = fd__read_at(s->r->fd, buf, SEARCH_SIZE, off);
		if (n < 0)
			return (int)n;
		if (n < CHUNK_HEADER_SIZE)
			break;
		while ((p = memmem(p, (size_t)(buf + n - p), &sync, sizeof(sync)))) {
			int found = header_at(s, off + (uint64_t)(p - buf), &h);

			if (found < 0)
				return found;
			if (found) {
				from = off + (uint64_t)(p - buf);
				goto out;
			}
			p++;
		}
	}
	from = s->size;
out:
	s->r->damage.ignored_bytes += from - s->off;
	s->off = from;
	return 0;
}

static int read_json(const uint8_t *payload, size_t len, json_t **out)
{
	json_t *json;
	int err = json_memory__parse((const char *)payload, len, &json);

	if (err)
		return err;
	if (!json_is_object(json)) {
		json_decref(json);
		return -EBADMSG;
	}
	json_decref(*out);
	*out = json;
	return 0;
}

static int read_end(struct scan *s, struct byte_reader *in)
{
	if (!byte_reader__varint(in, &s->end_events))
		return -EBADMSG;
	s->ended = true;
	return 0;
}

/* Takes the contents of a whole chunk. -EBADMSG if they contradict its header. */
static int take_chunk(struct scan *s, const struct chunk_header *h)
{
	struct recording *r = s->r;
	struct event_chunk chunk = {s->off, *h};
	struct byte_reader in;
	const uint8_t *payload;
	int err;

	/* Events are decompressed when a cursor reaches them. */
	if (h->type == CHUNK_EVENTS) {
		r->event_cnt += h->event_cnt;
		return ARRAY_PUSH(r->chunks, r->chunk_cnt, r->chunk_cap, chunk);
	}
	if (h->type > CHUNK_TYPE_MAX)
		return 0;
	err = chunk_reader__payload(&s->chunks, h, &payload);
	if (err)
		return err;
	in = (struct byte_reader){payload, payload + h->raw_len};
	switch (h->type) {
	case CHUNK_META:
		return read_json(payload, h->raw_len, &r->meta);
	case CHUNK_SUMMARY:
		return read_json(payload, h->raw_len, &r->summary);
	case CHUNK_NAMES:
		return recording__read_names(r, &in);
	case CHUNK_TRACKS:
		return recording__read_tracks(r, &in);
	case CHUNK_SCHED:
		return recording__read_sched(&r->sched, &in);
	case CHUNK_ENTRIES:
		return recording__read_sched(&r->entries, &in);
	case CHUNK_END:
		return read_end(s, &in);
	case CHUNK_CODE:
		return recording__read_code(r, &in);
	case CHUNK_FRAMES:
		return recording__read_frames(r, &in);
	default:
		return -EBADMSG;
	}
}

static void count_bad(struct scan *s, const struct chunk_header *h)
{
	s->r->damage.bad_chunks++;
	s->known_lost += h->event_cnt;
}

/* Chunks with destroyed headers leave a gap in the sequence numbers. */
static void count_missing(struct scan *s, const struct chunk_header *h)
{
	if (h->seq > s->next_seq)
		s->r->damage.bad_chunks += h->seq - s->next_seq;
	s->next_seq = h->seq + 1;
}

/* The payload of the chunk at s->off was changed. */
static int skip_bad(struct scan *s, const struct chunk_header *h)
{
	uint64_t next = s->off + CHUNK_HEADER_SIZE + h->stored_len;
	struct chunk_header follower;
	int found = next == s->size ? 1 : header_at(s, next, &follower);

	if (found < 0)
		return found;
	count_bad(s, h);
	if (!found) /* bytes are missing: the next chunk begins earlier than expected */
		return resync(s, s->off + CHUNK_HEADER_SIZE);
	s->r->damage.ignored_bytes += next - s->off;
	s->off = next;
	return 0;
}

static int scan_chunk(struct scan *s)
{
	struct chunk_header h;
	int err = header_at(s, s->off, &h);

	if (err < 0)
		return err;
	if (!err)
		return resync(s, s->off + 1);
	count_missing(s, &h);
	if (s->off + CHUNK_HEADER_SIZE + h.stored_len > s->size) {
		s->r->damage.truncated = true;
		s->known_lost += h.event_cnt;
		return resync(s, s->off + CHUNK_HEADER_SIZE);
	}
	err = chunk_reader__load(&s->chunks, s->off, &h);
	if (err)
		return err == -EBADMSG ? skip_bad(s, &h) : err;
	err = take_chunk(s, &h);
	if (err == -EBADMSG)
		count_bad(s, &h);
	else if (err)
		return err;
	s->off += CHUNK_HEADER_SIZE + h.stored_len;
	return 0;
}

static int scan_header(struct scan *s)
{
	const char *path = s->r->path;
	uint8_t bytes[FILE_HEADER_SIZE];
	struct file_version v;
	ssize_t n = fd__read_at(s->r->fd, bytes, sizeof(bytes), 0);
	int err;

	if (n < 0)
		return read_error(s, (int)n);
	if ((size_t)n < sizeof(bytes))
		return err__set(-EINVAL, MESSAGE_RECORDING_TOO_SHORT, path, n);
	err = file_header__unpack(bytes, &v);
	if (err == -EBADMSG) {
		/* The rest may be whole. Its checksums will show. */
		s->r->damage.ignored_bytes += sizeof(bytes);
	} else if (err) {
		return err__set(err, MESSAGE_RECORDING_INVALID, path);
	} else if (v.major > FORMAT_MAJOR) {
		return err__set(-EPROTONOSUPPORT, MESSAGE_RECORDING_VERSION_UNKNOWN, path, v.major,
				v.minor, FORMAT_MAJOR);
	}
	s->off = sizeof(bytes);
	return 0;
}

static void conclude(struct scan *s)
{
	struct recording_damage *d = &s->r->damage;
	uint64_t whole = s->r->event_cnt;

	d->truncated |= !s->ended;
	d->lost_events = s->known_lost;
	if (s->ended && s->end_events > whole && s->end_events - whole > s->known_lost)
		d->lost_events = s->end_events - whole;
}

int recording__scan(struct recording *r, uint64_t size)
{
	struct scan s = {.r = r, .size = size};
	int err = chunk_reader__init(&s.chunks, r->fd);

	if (!err)
		err = scan_header(&s);
	else
		err__set(err, MESSAGE_RECORDING_READ_OUT_OF_MEMORY, r->path);
	if (err)
		goto out;
	while (!err && !s.ended && s.off < s.size)
		err = scan_chunk(&s);
	if (err) {
		read_error(&s, err);
		goto out;
	}
	r->damage.ignored_bytes += s.size - s.off; /* after the end mark */
	conclude(&s);
out:
	chunk_reader__free(&s.chunks);
	return err;
}

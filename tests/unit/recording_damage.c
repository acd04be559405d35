// SPDX-License-Identifier: BSD-2-Clause
/* Files that were cut off, altered or invented. Undamaged parts must be read, and damage must be
 * reported. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <zlib.h>
#include "common/err.h"
#include "common/util.h"
#include "recording/format.h"
#include "recording_sample.h"

static bool reported(const struct recording_damage *d)
{
	return d->truncated || d->bad_chunks || d->lost_events || d->ignored_bytes;
}

static size_t sample_cnt(void)
{
	size_t cnt;

	sample__events(&cnt);
	return cnt;
}

Test(recording_damage, cut_at_every_byte_gives_the_first_events)
{
	auto_free char *path = sample__path();
	struct sample_reading got;
	size_t last = 0;
	struct blob b;

	sample__write(path, 3);
	b = sample__load(path);
	for (size_t len = 0; len < b.len; len++) {
		int err;

		sample__store(path, b.data, len);
		err = sample__read(path, &got);
		cr_assert_eq(err, len < FILE_HEADER_SIZE ? -EINVAL : 0, "cut at %zu", len);
		if (err)
			continue;
		cr_assert(got.prefix, "cut at %zu", len);
		cr_assert_eq(got.error, 0, "cut at %zu", len);
		cr_assert(got.damage.truncated, "cut at %zu", len);
		cr_assert_geq(got.events, last);
		last = got.events;
	}
	cr_expect(eq(sz, last, sample_cnt()));
	free(b.data);
	unlink(path);
}

Test(recording_damage, a_file_with_nothing_left_is_an_error)
{
	auto_free char *path = sample__path();
	struct recording *r;
	struct blob b;

	sample__write(path, 3);
	b = sample__load(path);
	sample__store(path, b.data, FILE_HEADER_SIZE + 10);
	cr_assert_eq(recording__open(path, &r), -ENODATA);
	cr_expect_not_null(strstr(err__take(-ENODATA), "nothing of it can be read"));
	sample__store(path, b.data, b.len / 2);
	cr_assert_eq(recording__open(path, &r), 0);
	recording__close(r);
	free(b.data);
	unlink(path);
}

/* The end mark and the headers together know how many events there were. */
static void check_flip(const char *path, size_t bit)
{
	struct sample_reading got;
	int err = sample__read(path, &got);

	if (bit / 8 < FILE_MAGIC_SIZE) {
		cr_assert_eq(err, -EINVAL, "bit %zu", bit);
		return;
	}
	cr_assert_eq(err, 0, "bit %zu: %d", bit, err);
	cr_assert_eq(got.error, 0, "bit %zu", bit);
	cr_assert(reported(&got.damage), "bit %zu", bit);
	cr_assert_eq(got.events + got.damage.lost_events, sample_cnt(), "bit %zu", bit);
}

Test(recording_damage, every_flipped_bit_is_reported, .timeout = 300)
{
	auto_free char *path = sample__path();
	struct blob b;

	sample__write(path, 4);
	b = sample__load(path);
	for (size_t bit = 0; bit < b.len * 8; bit++) {
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		sample__store(path, b.data, b.len);
		check_flip(path, bit);
		b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(b.data);
	unlink(path);
}

/* A hostile file has right checksums, so they prove nothing. */
Test(recording_damage, altered_bytes_behind_right_checksums_do_no_harm, .timeout = 300)
{
	auto_free char *path = sample__path();
	struct sample_reading got;
	uint8_t *spoiled;
	struct blob b;
	size_t opened = 0;

	sample__write(path, 4);
	b = sample__load(path);
	spoiled = malloc(b.len);
	cr_assert_not_null(spoiled);
	srand(1);
	for (int round = 0; round < 4000; round++) {
		memcpy(spoiled, b.data, b.len);
		for (int i = rand() % 4; i >= 0; i--)
			spoiled[(size_t)rand() % b.len] = (uint8_t)rand();
		sample__fix_checksums(spoiled, b.len);
		sample__store(path, spoiled, b.len);
		opened += sample__read(path, &got) == 0;
	}
	cr_expect(gt(sz, opened, 1000));
	free(spoiled);
	free(b.data);
	unlink(path);
}

/* Offset of the n-th chunk of a type. */
static size_t find_chunk(const struct blob *b, enum chunk_type type, int n)
{
	struct chunk_header h;
	size_t off = FILE_HEADER_SIZE;

	while (off < b->len && chunk_header__unpack(b->data + off, &h)) {
		if (h.type == type && n-- == 0)
			return off;
		off += CHUNK_HEADER_SIZE + h.stored_len;
	}
	cr_fatal("no such chunk");
}

Test(recording_damage, bytes_that_went_missing_cost_their_chunk_only)
{
	auto_free char *path = sample__path();
	struct sample_reading got;
	struct blob b;
	size_t off;

	sample__write(path, 2);
	b = sample__load(path);
	off = find_chunk(&b, CHUNK_EVENTS, 1) + CHUNK_HEADER_SIZE + 3;
	memmove(b.data + off, b.data + off + 1, b.len - off - 1);
	sample__store(path, b.data, b.len - 1);
	cr_assert_eq(sample__read(path, &got), 0);
	cr_expect(eq(sz, got.events, sample_cnt() - 2));
	cr_expect(eq(u64, got.damage.lost_events, 2));
	cr_expect(eq(u64, got.damage.bad_chunks, 1));
	cr_expect_not(got.damage.truncated);
	cr_expect(got.has_summary);
	free(b.data);
	unlink(path);
}

Test(recording_damage, a_lost_header_is_known_by_its_number)
{
	auto_free char *path = sample__path();
	struct sample_reading got;
	struct blob b;
	size_t off;

	sample__write(path, 2);
	b = sample__load(path);
	off = find_chunk(&b, CHUNK_EVENTS, 2);
	memset(b.data + off, 0, CHUNK_HEADER_SIZE);
	sample__store(path, b.data, b.len);
	cr_assert_eq(sample__read(path, &got), 0);
	cr_expect(eq(u64, got.damage.bad_chunks, 1));
	cr_expect(eq(u64, got.damage.lost_events, 2));
	cr_expect(gt(u64, got.damage.ignored_bytes, CHUNK_HEADER_SIZE));
	free(b.data);
	unlink(path);
}

Test(recording_damage, lost_names_leave_holes)
{
	auto_free char *path = sample__path();
	struct recording *r;
	struct blob b;
	size_t off;

	sample__write(path, 4);
	b = sample__load(path);
	off = find_chunk(&b, CHUNK_NAMES, 0);
	b.data[off + CHUNK_HEADER_SIZE + 1] =
		3; /* the first name now has the id 3, like the third one */
	sample__fix_checksums(b.data, b.len);
	sample__store(path, b.data, b.len);
	cr_assert_eq(recording__open(path, &r), 0);
	cr_expect(eq(u32, recording__name_cnt(r), 3));
	cr_expect_null(recording__name(r, 1));
	cr_expect(eq(str, (char *)recording__name(r, 3)->text, "futex"));
	recording__close(r);
	free(b.data);
	unlink(path);
}

/* Writes a file of one chunk. The header may claim anything. */
static void store_chunk(const char *path, struct chunk_header h, const void *payload, size_t len)
{
	auto_free uint8_t *bytes = calloc(1, FILE_HEADER_SIZE + CHUNK_HEADER_SIZE + len);

	cr_assert_not_null(bytes);
	file_header__pack(bytes);
	h.payload_crc = (uint32_t)crc32(0, payload, (uInt)len);
	chunk_header__pack(&h, bytes + FILE_HEADER_SIZE);
	memcpy(bytes + FILE_HEADER_SIZE + CHUNK_HEADER_SIZE, payload, len);
	sample__store(path, bytes, FILE_HEADER_SIZE + CHUNK_HEADER_SIZE + len);
}

Test(recording_damage, a_small_file_cannot_ask_for_much_memory)
{
	static const struct chunk_header claims[] = {
		{.type = CHUNK_NAMES, .flags = CHUNK_ZSTD, .stored_len = 5, .raw_len = UINT32_MAX},
		{.type = CHUNK_NAMES, .flags = CHUNK_ZSTD, .stored_len = 5, .raw_len = 5 * 257},
		{.type = CHUNK_NAMES, .stored_len = UINT32_MAX, .raw_len = UINT32_MAX},
		{.type = CHUNK_EVENTS, .stored_len = 5, .raw_len = 5, .event_cnt = 6},
	};
	auto_free char *path = sample__path();
	struct sample_reading got;

	for (size_t i = 0; i < ARRAY_SIZE(claims); i++) {
		store_chunk(path, claims[i], "\xff\xff\xff\xff\x0f", 5);
		cr_assert_eq(sample__read(path, &got), 0);
		/* The header itself is refused, nothing is allocated for it. */
		cr_expect(eq(u64, got.damage.ignored_bytes, CHUNK_HEADER_SIZE + 5));
		cr_expect(eq(sz, got.events, 0));
	}
	/* Four billion names, of which the first has the highest possible id. The row must be
	 * refused. */
	store_chunk(path,
		    (struct chunk_header){.type = CHUNK_NAMES, .stored_len = 10, .raw_len = 10},
		    "\xff\xff\xff\xff\x0f\xff\xff\xff\xff\x0f", 10);
	cr_assert_eq(sample__read(path, &got), 0);
	cr_expect(eq(u64, got.damage.bad_chunks, 1));
	unlink(path);
}

Test(recording_damage, empty_chunks_are_bad_chunks)
{
	auto_free char *path = sample__path();
	struct sample_reading got;

	for (uint8_t type = CHUNK_META; type <= CHUNK_END; type++) {
		store_chunk(path, (struct chunk_header){.type = type}, "", 0);
		cr_assert_eq(sample__read(path, &got), 0);
		if (type == CHUNK_EVENTS) /* found out when a cursor gets there */
			cr_expect(eq(int, got.error, -EBADMSG));
		else
			cr_expect(eq(u64, got.damage.bad_chunks, 1));
	}
	unlink(path);
}

Test(recording_damage, events_that_do_not_decode_are_an_error_with_the_place)
{
	auto_free char *path = sample__path();
	struct sample_reading got;

	store_chunk(path,
		    (struct chunk_header){
			    .type = CHUNK_EVENTS, .stored_len = 5, .raw_len = 5, .event_cnt = 2},
		    "\x01\x09\x00\x00\x00", 5);
	cr_assert_eq(sample__read(path, &got), 0);
	cr_expect(eq(int, got.error, -EBADMSG));
	cr_expect_not_null(strstr(err__take(got.error), "chunk at byte 24"));
	unlink(path);
}

Test(recording_damage, what_is_no_recording_is_told_apart)
{
	auto_free char *path = sample__path();
	struct sample_reading got;

	cr_expect(eq(int, sample__read(path, &got), -EINVAL)); /* empty */
	sample__store(path, "#!/bin/sh\necho this is no recording\n", 36);
	cr_expect(eq(int, sample__read(path, &got), -EINVAL));
	cr_expect_not_null(strstr(err__take(-EINVAL), path));
	cr_expect(eq(int, sample__read("/", &got), -EINVAL));
	cr_expect(eq(int, sample__read("/dev/zero", &got), -EINVAL));
	unlink(path);
	cr_expect(eq(int, sample__read(path, &got), -ENOENT));
	cr_expect_not_null(strstr(err__take(-ENOENT), path));
}

Test(recording_damage, a_killed_writer_leaves_its_last_flush)
{
	auto_free char *path = sample__path();
	struct sample_reading got;
	int status;
	pid_t pid = fork();

	cr_assert_geq(pid, 0);
	if (!pid) {
		size_t cnt;
		const struct event *events = sample__events(&cnt);
		json_t *meta = json_object();
		struct recording_writer *w;

		if (recording_writer__create(path, meta, &w))
			_exit(1);
		for (size_t i = 0; i < cnt; i++) {
			if (recording_writer__event(w, &events[i]) ||
			    (i == 6 && recording_writer__flush(w)))
				_exit(1);
		}
		kill(getpid(), SIGKILL);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(WTERMSIG(status), SIGKILL);
	cr_assert_eq(sample__read(path, &got), 0);
	cr_expect(eq(sz, got.events, 7));
	cr_expect(got.prefix);
	cr_expect(got.damage.truncated);
	cr_expect(zero(u64, got.damage.ignored_bytes + got.damage.bad_chunks));
	unlink(path);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Files of other versions: newer minor versions open, and newer major ones are refused by name. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"
#include "recording/format.h"
#include "recording_sample.h"

static int read_as_version(uint8_t major, uint8_t minor, struct sample_reading *got)
{
	auto_free char *path = sample__path();
	struct blob b;
	int err;

	sample__write(path, 4);
	b = sample__load(path);
	b.data[8] = major;
	b.data[10] = minor;
	sample__fix_checksums(b.data, b.len);
	sample__store(path, b.data, b.len);
	err = sample__read(path, got);
	free(b.data);
	unlink(path);
	return err;
}

Test(recording_version, a_newer_minor_opens)
{
	struct sample_reading got;
	size_t cnt;

	sample__events(&cnt);
	cr_assert_eq(read_as_version(FORMAT_MAJOR, FORMAT_MINOR + 5, &got), 0);
	cr_expect(eq(sz, got.events, cnt));
	cr_expect_not(got.damage.truncated);
	cr_expect(zero(u64, got.damage.ignored_bytes));
}

Test(recording_version, a_newer_major_is_refused)
{
	struct sample_reading got;

	cr_assert_eq(read_as_version(FORMAT_MAJOR + 1, 3, &got), -EPROTONOSUPPORT);
	cr_expect_not_null(strstr(err__take(-EPROTONOSUPPORT), "format 2.3"));
}

Test(recording_version, a_foreign_byte_order_is_refused)
{
	auto_free char *path = sample__path();
	struct sample_reading got;
	struct blob b;

	sample__write(path, 4);
	b = sample__load(path);
	memcpy(b.data + 12, "\1\2\3\4", 4);
	sample__fix_checksums(b.data, b.len);
	sample__store(path, b.data, b.len);
	cr_expect(eq(int, sample__read(path, &got), -EINVAL));
	free(b.data);
	unlink(path);
}

/* Stores b with `extra` put in at `off`, checksums right. */
static void store_with(const char *path, const struct blob *b, size_t off, const void *extra,
		       size_t len)
{
	auto_free uint8_t *data = malloc(b->len + len);

	cr_assert_not_null(data);
	memcpy(data, b->data, off);
	memcpy(data + off, extra, len);
	memcpy(data + off + len, b->data + off, b->len - off);
	sample__fix_checksums(data, b->len + len);
	sample__store(path, data, b->len + len);
}

Test(recording_version, unknown_chunks_are_skipped)
{
	auto_free char *path = sample__path();
	struct chunk_header h = {.type = 200, .stored_len = 3, .raw_len = 3, .flags = 0x80};
	uint8_t extra[CHUNK_HEADER_SIZE + 3] = {0};
	struct sample_reading got;
	struct blob b;
	size_t cnt;

	sample__events(&cnt);
	sample__write(path, 4);
	b = sample__load(path);
	chunk_header__pack(&h, extra);
	store_with(path, &b, FILE_HEADER_SIZE, extra, sizeof(extra));
	cr_assert_eq(sample__read(path, &got), 0);
	cr_expect(eq(sz, got.events, cnt));
	cr_expect(zero(u64, got.damage.bad_chunks + got.damage.ignored_bytes));
	free(b.data);
	unlink(path);
}

/* A twelfth column of one byte in the only EVENTS chunk of a file. */
Test(recording_version, unknown_columns_are_skipped)
{
	auto_free char *path = sample__path();
	struct event e = {.type = EVENT_STEP, .track = 1, .ts_ns = 5, .dur_ns = 6, .id = 2};
	uint8_t payload[64], *p = payload;
	struct recording_writer *w;
	struct recording_cursor *c;
	struct recording *r;
	struct blob b;
	json_t *meta = json_object();
	size_t off = FILE_HEADER_SIZE;
	struct chunk_header h;

	cr_assert_eq(recording_writer__create(path, meta, &w), 0);
	cr_assert_eq(recording_writer__event(w, &e), 0);
	cr_assert_eq(recording_writer__close(w, NULL), 0);
	json_decref(meta);
	b = sample__load(path);
	while (chunk_header__unpack(b.data + off, &h) && h.type != CHUNK_EVENTS)
		off += CHUNK_HEADER_SIZE + h.stored_len;
	/* The directory's count, then a length behind the known ones. The column is at the end. */
	memcpy(p, b.data + off + CHUNK_HEADER_SIZE, h.stored_len);
	memmove(p + 1 + COLUMN_CNT + 1, p + 1 + COLUMN_CNT, h.stored_len - 1 - COLUMN_CNT);
	p[0] = COLUMN_CNT + 1;
	p[1 + COLUMN_CNT] = 1;
	p[h.stored_len + 1] = 0xee;
	h.stored_len = h.raw_len += 2;
	chunk_header__pack(&h, b.data + off);
	b.len = off + CHUNK_HEADER_SIZE;
	store_with(path, &b, b.len, payload, h.stored_len);
	cr_assert_eq(recording__open(path, &r), 0);
	cr_assert_eq(recording_cursor__open(r, &c), 0);
	cr_assert_eq(recording_cursor__next(c, &e), 1);
	cr_expect(eq(u64, e.ts_ns, 5));
	cr_expect(eq(u64, e.id, 2));
	cr_expect(eq(int, recording_cursor__next(c, &e), 0));
	recording_cursor__close(c);
	recording__close(r);
	free(b.data);
	unlink(path);
}

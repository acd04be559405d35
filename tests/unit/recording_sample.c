// SPDX-License-Identifier: BSD-2-Clause
#include "recording_sample.h"
#include <criterion/criterion.h>
#include <endian.h>
#include <fcntl.h>
#include <string.h>
#include <zlib.h>
#include "common/util.h"
#include "recording/format.h"

static const uint8_t tensors[] = {
	/* arg 0, float, cpu, 2 dims: 4 x 16; arg 2: undefined */
	0,  6, 0, 2, 4, 0, 0, 0, 0, 0, 0, 0,
	16, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, EVENT_TENSOR_UNDEFINED,
};
static const struct event_memory alloc_args = {65536, UINT64_MAX, 0, -1};
static const struct event_memory free_args = {32768, 1 << 20, 1, 3};

#define ARGS(a) .args = &(a), .args_len = sizeof(a)
static const struct event events[] = {
	{.type = EVENT_SPAN,
	 .track = 1,
	 .name = 1,
	 .ts_ns = 1000000,
	 .dur_ns = 500,
	 .id = 17,
	 .end = END_SITE,
	 ARGS(tensors)},
	{.type = EVENT_SPAN,
	 .track = 1,
	 .name = 2,
	 .ts_ns = 999000,
	 .dur_ns = 2000,
	 .id = EVENT_NO_ID,
	 .flags = EVENT_CUT_BEGIN | EVENT_CUT_END,
	 .end = END_INFERRED},
	{.type = EVENT_SPAN,
	 .track = 1,
	 .name = 1,
	 .ts_ns = 1002000,
	 .dur_ns = 90,
	 .id = 16,
	 .end = END_OBJECT,
	 ARGS(tensors)},
	{.type = EVENT_MEMORY,
	 .track = 1,
	 .ts_ns = 1002100,
	 .id = 0x7f0011223344,
	 .value = 65536,
	 ARGS(alloc_args)},
	{.type = EVENT_MEMORY,
	 .track = 1,
	 .ts_ns = 1002200,
	 .id = 0x7f0011223344,
	 .value = -32768,
	 ARGS(free_args)},
	{.type = EVENT_ASYNC,
	 .track = 2,
	 .name = 3,
	 .ts_ns = 900000,
	 .dur_ns = 200000,
	 .id = 0,
	 .value = INT64_MAX},
	{.type = EVENT_DEVICE,
	 .track = 2,
	 .name = 3,
	 .ts_ns = 1003000,
	 .dur_ns = 7,
	 .id = 99,
	 .value = INT64_MIN},
	{.type = EVENT_COUNTER, .track = 1, .name = 2, .ts_ns = 0, .id = EVENT_NO_ID, .value = -1},
	{.type = EVENT_INSTANT, .track = 1, .name = 1, .ts_ns = UINT64_MAX, .id = UINT64_MAX - 1},
	{.type = EVENT_STEP, .track = 1, .ts_ns = 998000, .dur_ns = UINT32_MAX, .id = 2},
};

const struct event *sample__events(size_t *cnt)
{
	*cnt = ARRAY_SIZE(events);
	return events;
}

char *sample__path(void)
{
	const char *dir = getenv("TMPDIR");
	char *path = NULL;
	int fd;

	cr_assert(asprintf(&path, "%s/recording-XXXXXX", dir ? dir : P_tmpdir) > 0);
	fd = mkstemp(path);
	cr_assert(fd >= 0);
	close(fd);
	return path;
}

void sample__write(const char *path, size_t per_chunk)
{
	struct track thread = {.kind = TRACK_THREAD, .pid = 42, .tid = 43, .name = "python"};
	struct track stream = {.kind = TRACK_DEVICE, .pid = 42, .device = 1, .stream = 7};
	struct sched_row rows[] = {
		{.track = 1, .state = SCHED_RUN, .step = 2, .ns = 12345, .cnt = 3},
		{.track = 1, .state = SCHED_BLOCKED, .reason = 3, .step = EVENT_NO_ID, .ns = 1},
	};
	const struct sched_row fault = {
		.track = 1, .state = ENTRY_FAULT, .reason = 3, .step = 7, .ns = 99, .cnt = 64};
	json_t *meta = json_pack("{s:{s:s}}", "tool", "name", "proftrace");
	json_t *summary = json_pack("{s:{s:i}}", "loss", "ring", 0);
	struct recording_writer *w;

	cr_assert_eq(recording_writer__create(path, meta, &w), 0);
	cr_assert_eq(recording_writer__name(w, CAT_OPERATOR, "aten::mm", "mm(Tensor self)"), 1);
	cr_assert_eq(recording_writer__name(w, CAT_USER, "aten::mm", NULL), 2);
	cr_assert_eq(recording_writer__track(w, &thread), 1);
	cr_assert_eq(recording_writer__track(w, &stream), 2);
	cr_assert_eq(recording_writer__name(w, CAT_NONE, "futex", ""), SAMPLE_NAMES);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		cr_assert_eq(recording_writer__event(w, &events[i]), 0);
		if ((i + 1) % per_chunk == 0)
			cr_assert_eq(recording_writer__flush(w), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		cr_assert_eq(recording_writer__sched(w, &rows[i]), 0);
	cr_assert_eq(recording_writer__entry(w, &fault), 0);
	cr_assert_eq(recording_writer__events(w), ARRAY_SIZE(events));
	cr_assert_eq(recording_writer__close(w, summary), 0);
	json_decref(meta);
	json_decref(summary);
}

struct blob sample__load(const char *path)
{
	struct blob b;

	b.data = (uint8_t *)file__read(path, &b.len);
	cr_assert_not_null(b.data);
	return b;
}

void sample__store(const char *path, const void *data, size_t len)
{
	auto_close int fd = open(path, O_WRONLY | O_CREAT, 0600);

	/* Cut at the end and not first: truncating to nothing makes ext4 flush on close. */
	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, data, len), (ssize_t)len);
	cr_assert_eq(ftruncate(fd, (off_t)len), 0);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

void sample__fix_checksums(uint8_t *data, size_t len)
{
	size_t off = FILE_HEADER_SIZE;

	if (len < FILE_HEADER_SIZE)
		return;
	put32(data + 20, (uint32_t)crc32(0, data, 20));
	while (len - off >= CHUNK_HEADER_SIZE) {
		uint8_t *h = data + off;
		size_t stored = get32(h + 12);

		if (stored <= len - off - CHUNK_HEADER_SIZE)
			put32(h + 24, (uint32_t)crc32(0, h + CHUNK_HEADER_SIZE, (uInt)stored));
		put32(h + 28, (uint32_t)crc32(0, h, 28));
		if (stored > len - off - CHUNK_HEADER_SIZE)
			break;
		off += CHUNK_HEADER_SIZE + stored;
	}
}

bool event__equal(const struct event *a, const struct event *b)
{
	return a->ts_ns == b->ts_ns && a->dur_ns == b->dur_ns && a->id == b->id &&
	       a->value == b->value && a->track == b->track && a->name == b->name &&
	       a->type == b->type && a->end == b->end && a->flags == b->flags &&
	       a->args_len == b->args_len &&
	       (!a->args_len || memcmp(a->args, b->args, a->args_len) == 0);
}

/* Touches every byte that the reader hands out, for the sanitizers. */
static size_t weigh(const struct recording *r, const struct event *e)
{
	const struct name *n = recording__name(r, e->name);
	const struct track *t = recording__track(r, e->track);
	size_t sum = n ? strlen(n->text) + (n->schema ? strlen(n->schema) : 0) : 0;

	sum += t && t->name ? strlen(t->name) : 0;
	for (uint32_t i = 0; i < e->args_len; i++)
		sum += ((const uint8_t *)e->args)[i];
	return sum;
}

int sample__read(const char *path, struct sample_reading *out)
{
	struct recording_cursor *c;
	const struct sched_row *rows;
	struct recording *r;
	struct event e;
	size_t sum = 0;
	int err = recording__salvage(path, &r);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	out->damage = *recording__damage(r);
	out->has_summary = recording__summary(r) != NULL;
	out->prefix = true;
	cr_assert(json_is_object(recording__meta(r)));
	for (size_t i = 0, cnt = recording__sched(r, &rows); i < cnt; i++)
		sum += rows[i].cnt;
	cr_assert_eq(recording_cursor__open(r, &c), 0);
	while ((out->error = recording_cursor__next(c, &e)) == 1) {
		if (out->events >= ARRAY_SIZE(events) || !event__equal(&e, &events[out->events]))
			out->prefix = false;
		out->events++;
		sum += weigh(r, &e);
	}
	cr_assert_neq(sum, SIZE_MAX);
	recording_cursor__close(c);
	recording__close(r);
	return 0;
}

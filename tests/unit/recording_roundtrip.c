// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"
#include "recording_sample.h"

static struct recording_writer *writer(const char *path)
{
	json_t *meta = json_object();
	struct recording_writer *w = NULL;

	cr_assert_eq(recording_writer__create(path, meta, &w), 0);
	json_decref(meta);
	return w;
}

static struct recording *finish(struct recording_writer *w, const char *path)
{
	struct recording *r = NULL;
	json_t *summary = json_object();

	cr_assert_eq(recording_writer__close(w, summary), 0);
	json_decref(summary);
	cr_assert_eq(recording__open(path, &r), 0);
	return r;
}

Test(recording_roundtrip, overloads_are_one_name)
{
	auto_free char *path = sample__path();
	struct recording_writer *w;
	struct recording_cursor *c;
	struct recording *r;
	struct event e = {.type = EVENT_SPAN, .id = EVENT_NO_ID};

	w = writer(path);
	e.track = recording_writer__track(
		w, &(struct track){.kind = TRACK_THREAD, .pid = 1, .tid = 1});
	cr_assert_eq(recording_writer__name(w, CAT_USER, "aten::to", NULL), 1);
	cr_assert_eq(recording_writer__name(w, CAT_OPERATOR, "aten::to", "to(Tensor)"), 2);
	cr_assert_eq(recording_writer__name(w, CAT_OPERATOR, "aten::to", "to(Tensor, int)"), 3);
	cr_assert_eq(recording_writer__name(w, CAT_OPERATOR, "aten::to", "to(Tensor)"), 2);
	e.name = 3;
	recording_writer__event(w, &e);
	r = finish(w, path);
	cr_assert_eq(recording_cursor__open(r, &c), 0);
	cr_assert_eq(recording_cursor__next(c, &e), 1);
	cr_expect(eq(u32, e.name, 2));
	cr_expect(eq(u32, e.overload, 3));
	cr_expect_str_eq(recording__name(r, e.overload)->schema, "to(Tensor, int)");
	recording_cursor__close(c);
	recording__close(r);
	unlink(path);
}

Test(recording, every_event_type_comes_back)
{
	for (size_t per_chunk = 1; per_chunk < 12; per_chunk++) {
		auto_free char *path = sample__path();
		struct sample_reading got;
		size_t cnt;

		sample__events(&cnt);
		sample__write(path, per_chunk);
		cr_assert_eq(sample__read(path, &got), 0);
		cr_expect(eq(sz, got.events, cnt));
		cr_expect(eq(int, got.error, 0));
		cr_expect(got.prefix);
		cr_expect(got.has_summary);
		cr_expect_not(got.damage.truncated);
		cr_expect(zero(u64, got.damage.bad_chunks + got.damage.lost_events +
					    got.damage.ignored_bytes));
		unlink(path);
	}
}

Test(recording, names_tracks_sched_and_json_come_back)
{
	auto_free char *path = sample__path();
	const struct sched_row *rows;
	const struct name *name;
	const struct track *track;
	struct recording *r;

	sample__write(path, 4);
	cr_assert_eq(recording__open(path, &r), 0);
	cr_expect(eq(u32, recording__name_cnt(r), SAMPLE_NAMES));
	name = recording__name(r, 1);
	cr_expect(eq(u8, name->category, CAT_OPERATOR));
	cr_expect(eq(str, (char *)name->text, "aten::mm"));
	cr_expect(eq(str, (char *)name->schema, "mm(Tensor self)"));
	cr_expect(eq(u8, recording__name(r, 2)->category, CAT_USER));
	cr_expect_null(recording__name(r, 2)->schema);
	cr_expect(eq(str, (char *)recording__name(r, 3)->schema, ""));
	cr_expect_null(recording__name(r, 0));
	cr_expect_null(recording__name(r, 4));

	cr_expect(eq(u32, recording__track_cnt(r), SAMPLE_TRACKS));
	track = recording__track(r, 2);
	cr_expect(eq(u8, track->kind, TRACK_DEVICE));
	cr_expect(eq(i32, track->device, 1));
	cr_expect(eq(i64, track->stream, 7));
	cr_expect_null(track->name);
	cr_expect_null(recording__track(r, 0));
	cr_expect_null(recording__track(r, 3));

	cr_assert(eq(sz, recording__sched(r, &rows), SAMPLE_SCHED));
	cr_expect(eq(u64, rows[0].step, 2));
	cr_expect(eq(u64, rows[0].ns, 12345));
	cr_expect(eq(u64, rows[0].cnt, 3));
	cr_expect(eq(u8, rows[1].state, SCHED_BLOCKED));
	cr_expect(eq(u32, rows[1].reason, 3));
	cr_expect(eq(u64, rows[1].step, EVENT_NO_ID));
	cr_assert(eq(sz, recording__entries(r, &rows), 1));
	cr_expect(eq(u8, rows[0].state, ENTRY_FAULT));
	cr_expect(eq(u64, rows[0].step, 7));
	cr_expect(eq(u64, rows[0].cnt, 64));
	cr_expect_not_null(json_object_get(recording__meta(r), "tool"));
	cr_expect_not_null(json_object_get(recording__summary(r), "loss"));
	recording__close(r);
	unlink(path);
}

Test(recording, equal_names_have_equal_ids)
{
	auto_free char *path = sample__path();
	struct recording_writer *w = writer(path);
	struct recording *r;
	char text[32];

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 5000; i++) {
			snprintf(text, sizeof(text), "op%u", i);
			cr_assert_eq(recording_writer__name(w, CAT_USER, text, NULL), i + 1);
		}
	r = finish(w, path);
	cr_expect(eq(u32, recording__name_cnt(r), 5000));
	cr_expect(eq(str, (char *)recording__name(r, 5000)->text, "op4999"));
	recording__close(r);
	unlink(path);
}

Test(recording, tracks_are_renamed_in_place)
{
	auto_free char *path = sample__path();
	struct recording_writer *w = writer(path);
	struct track t = {.kind = TRACK_THREAD, .pid = 1, .tid = 2};
	struct recording *r;

	cr_expect(eq(u32, recording_writer__track(w, &t), 1));
	t.name = "python";
	cr_expect(eq(u32, recording_writer__track(w, &t), 1));
	cr_assert_eq(recording_writer__flush(w), 0);
	t.name = "pt_autograd_0";
	cr_expect(eq(u32, recording_writer__track(w, &t), 1));
	t.tid = 3;
	cr_expect(eq(u32, recording_writer__track(w, &t), 2));
	r = finish(w, path);
	cr_expect(eq(u32, recording__track_cnt(r), 2));
	cr_expect(eq(str, (char *)recording__track(r, 1)->name, "pt_autograd_0"));
	cr_expect(eq(u32, recording__track(r, 1)->tid, 2));
	recording__close(r);
	unlink(path);
}

/* Enough for several chunks without a flush, with args that repeat and args that do not. */
Test(recording, chunks_follow_one_another)
{
	enum { CNT = 200000 };
	auto_free char *path = sample__path();
	struct recording_writer *w = writer(path);
	struct recording_cursor *c;
	struct recording *r;
	struct event e = {.type = EVENT_SPAN, .track = 1, .name = 1};
	uint64_t args[40] = {0}, i;

	for (i = 0; i < CNT; i++) {
		args[0] = i % 1000 ? i % 7 : i;
		e.ts_ns = i * 1000;
		e.dur_ns = i % 977;
		e.id = i;
		e.args = args;
		e.args_len = i % 3 ? sizeof(args) : 0;
		cr_assert_eq(recording_writer__event(w, &e), 0);
	}
	r = finish(w, path);
	cr_assert(eq(u64, recording__event_cnt(r), CNT));
	cr_assert_eq(recording_cursor__open(r, &c), 0);
	for (i = 0; recording_cursor__next(c, &e) == 1; i++) {
		args[0] = i % 1000 ? i % 7 : i;
		cr_assert_eq(e.ts_ns, i * 1000);
		cr_assert_eq(e.dur_ns, i % 977);
		cr_assert_eq(e.id, i);
		cr_assert_eq(e.args_len, i % 3 ? sizeof(args) : 0);
		if (e.args_len)
			cr_assert_eq(memcmp(e.args, args, sizeof(args)), 0);
	}
	cr_expect(eq(u64, i, CNT));
	recording_cursor__close(c);
	recording__close(r);
	unlink(path);
}

Test(recording, two_cursors_do_not_meet)
{
	auto_free char *path = sample__path();
	struct recording_cursor *a, *b;
	struct recording *r;
	struct event e, f;
	size_t cnt;
	const struct event *events = sample__events(&cnt);

	sample__write(path, 2);
	cr_assert_eq(recording__open(path, &r), 0);
	cr_assert_eq(recording_cursor__open(r, &a), 0);
	cr_assert_eq(recording_cursor__open(r, &b), 0);
	for (size_t i = 0; i < 5; i++)
		cr_assert_eq(recording_cursor__next(a, &e), 1);
	cr_assert_eq(recording_cursor__next(b, &f), 1);
	cr_assert_eq(recording_cursor__next(a, &e), 1);
	cr_expect(event__equal(&f, &events[0]));
	cr_expect(event__equal(&e, &events[5]));
	recording_cursor__close(a);
	recording_cursor__close(b);
	recording__close(r);
	unlink(path);
}

Test(recording, a_cursor_is_rewound_from_anywhere)
{
	auto_free char *path = sample__path();
	struct recording_cursor *c;
	struct recording *r;
	struct event e;
	size_t cnt;
	const struct event *events = sample__events(&cnt);

	sample__write(path, 2);
	cr_assert_eq(recording__open(path, &r), 0);
	cr_assert_eq(recording_cursor__open(r, &c), 0);
	for (size_t read = 1; read <= cnt + 1; read++) {
		for (size_t i = 0; i < read; i++)
			cr_expect_eq(recording_cursor__next(c, &e), i < cnt);
		recording_cursor__rewind(c);
		cr_assert_eq(recording_cursor__next(c, &e), 1);
		cr_expect(event__equal(&e, &events[0]));
		recording_cursor__rewind(c);
	}
	recording_cursor__close(c);
	recording__close(r);
	unlink(path);
}

Test(recording, an_event_that_does_not_fit_is_refused_for_good)
{
	auto_free char *path = sample__path();
	struct recording_writer *w = writer(path);
	struct event e = {.type = 8};

	cr_expect(eq(int, recording_writer__event(w, &e), -EINVAL));
	e.type = EVENT_INSTANT;
	cr_expect(eq(int, recording_writer__event(w, &e), -EINVAL));
	cr_expect(eq(u32, recording_writer__name(w, CAT_USER, "x", NULL), 0));
	cr_expect(eq(int, recording_writer__close(w, NULL), -EINVAL));
	cr_expect_not_null(strstr(err__take(-EINVAL), path));
	unlink(path);
}

Test(recording, an_aborted_recording_has_no_summary)
{
	auto_free char *path = sample__path();
	struct recording_writer *w = writer(path);
	struct event e = {.type = EVENT_INSTANT, .id = EVENT_NO_ID, .track = 1};
	struct recording *r;

	cr_assert_eq(recording_writer__event(w, &e), 0);
	cr_assert_eq(recording_writer__close(w, NULL), 0);
	cr_assert_eq(recording__open(path, &r), 0);
	cr_expect_null(recording__summary(r));
	cr_expect(recording__damage(r)->truncated);
	cr_expect(eq(u64, recording__event_cnt(r), 1));
	recording__close(r);
	unlink(path);
}

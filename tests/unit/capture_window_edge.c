// SPDX-License-Identifier: BSD-2-Clause
/* Windows that begin and end: not in the ring's callback, and each with its own records. */
#include "bpf/skeleton.h"
#include "capture/capture_ring.h"
#include "capture/window_edge.h"
#include "out_dir.h"
#include "recording/recording.h"
#include "ring_feeder.h"

static void open_window(struct session *s)
{
	decoder__set_writer(s->records.decoder, s->window.writer);
}

static int closed_cnt;

static void count_close(struct session *s)
{
	(void)s;
	closed_cnt++;
}

static const struct component files = {
	.name = "files", .window_open = open_window, .window_close = count_close};
static const struct component *const components[] = {&files, NULL};

static const struct framework_match match;
static const struct step_rule rule;
static struct target target;
static struct probe_plan plan;
static struct capture_opts opts;
static struct capture_result result;
static struct proftrace_bpf__bss bss;
static struct proftrace_bpf skel = {.bss = &bss};
static struct session s;
static char output[160];

static void begin(void)
{
	setup();
	snprintf(output, sizeof(output), "%s", in("w.ptrec"));
	opts = (struct capture_opts){.output = output, .ring_bytes = 1 << 20};
	target = (struct target){.rank = -1, .local_rank = -1, .world_size = -1};
	s = (struct session){
		.opts = &opts,
		.res = &result,
		.target = &target,
		.facts = {&opts, &target, &match, &plan, &rule},
		.components = components,
		.probes = {.ctl = &bss.ctl, .skel = &skel},
	};
	s.records.decoder = decoder__new(&target, NULL, &plan, &bss.ctl.ended);
	cr_assert_not_null(s.records.decoder);
}

static void end(void)
{
	decoder__free(s.records.decoder);
	for (size_t i = 0; i < result.path_cnt; i++)
		free(result.paths[i]);
	free(result.paths);
	teardown();
}

TestSuite(window_edge, .init = begin, .fini = end);

/* Step `step` of a second begins behind one of state `prev`. */
static struct pt_rec_step boundary(uint64_t step, uint32_t prev, uint32_t state)
{
	return (struct pt_rec_step){.h = {.kind = PT_REC_STEP, .size = sizeof(struct pt_rec_step)},
				    .ts_ns = step * 1000000000,
				    .step = step,
				    .state = state,
				    .prev_state = prev};
}

static int recording_cnt(void)
{
	int cnt = 0;

	for (int i = 0; i < 10; i++) {
		char name[32] = "w.ptrec";

		if (i)
			snprintf(name, sizeof(name), "w.%d.ptrec", i);
		cnt += !access(in(name), F_OK);
	}
	return cnt;
}

/* Of the recording, its steps: [from, to). */
static void expect_steps(const char *name, uint64_t from, uint64_t to)
{
	struct recording_cursor *c;
	struct recording *r;
	struct event e;

	cr_assert_eq(recording__open(in(name), &r), 0, "%s", name);
	cr_assert_eq(recording_cursor__open(r, &c), 0);
	for (uint64_t step = from; step < to; step++) {
		cr_assert_eq(recording_cursor__next(c, &e), 1, "%s: no step %d", name, (int)step);
		cr_expect(e.type == EVENT_STEP && e.id == step, "%s: %d is no step %d", name,
			  (int)e.id, (int)step);
		cr_expect_eq(e.ts_ns, step * 1000000000);
	}
	cr_expect_eq(recording_cursor__next(c, &e), 0);
	recording_cursor__close(c);
	recording__close(r);
}

Test(window_edge, no_file_is_opened_or_finished_in_the_callback)
{
	struct pt_rec_step r = boundary(1, PT_STATE_CLOSED, PT_STATE_RECORD);

	cr_expect_eq(session__on_record(&s, &r, sizeof(r)), RING_PAUSED);
	cr_expect(!s.window.writer && !recording_cnt());
	cr_expect_eq(window_edge__take(&s), 0);
	cr_expect(s.window.writer && recording_cnt() == 1);

	r = boundary(2, PT_STATE_RECORD, PT_STATE_RECORD);
	cr_expect_eq(session__on_record(&s, &r, sizeof(r)), 0);
	r = boundary(3, PT_STATE_RECORD, PT_STATE_CLOSED);
	cr_expect_eq(session__on_record(&s, &r, sizeof(r)), RING_PAUSED);
	cr_expect(!s.windows.ending);
	cr_expect_eq(window_edge__take(&s), 0);
	cr_expect(s.windows.ending && s.window.writer);

	r = boundary(4, PT_STATE_CLOSED, PT_STATE_RECORD);
	cr_expect_eq(session__on_record(&s, &r, sizeof(r)), RING_PAUSED);
	cr_expect(s.windows.ending && !s.windows.written && recording_cnt() == 1);
	cr_expect_eq(window_edge__take(&s), 0);
	cr_expect(!s.windows.ending && s.windows.written == 1 && recording_cnt() == 2);
	cr_expect_eq(session__window_finish(&s), 0);
}

static void take_step(uint64_t step, uint32_t prev, uint32_t state)
{
	struct pt_rec_step r = boundary(step, prev, state);

	if (session__on_record(&s, &r, sizeof(r)) == RING_PAUSED)
		cr_assert_eq(window_edge__take(&s), 0);
}

Test(window_edge, the_record_of_an_end_that_was_given_up_closes_nothing)
{
	closed_cnt = 0;
	take_step(1, PT_STATE_CLOSED, PT_STATE_RECORD);
	bss.ctl.window_close_ns = 2500000000;
	session__window_close_unseen(&s);
	take_step(2, PT_STATE_RECORD, PT_STATE_DONE);
	cr_expect_eq(closed_cnt, 1);
	cr_expect_eq(s.window.close_ns, 2500000000);
	session__window_close_unseen(&s);
	cr_expect_eq(closed_cnt, 1);
	cr_expect_eq(session__window_finish(&s), 0);
	session__window_close_unseen(&s); /* there is none any more */
	cr_expect_eq(closed_cnt, 1);
	expect_steps("w.ptrec", 1, 1);
}

Test(window_edge, one_by_time_pauses_and_opens_no_file)
{
	struct pt_rec_step r = boundary(1, PT_STATE_CLOSED, PT_STATE_RECORD);

	s.windows.timed = true;
	cr_expect_eq(session__on_record(&s, &r, sizeof(r)), RING_PAUSED);
	cr_expect_eq(window_edge__take(&s), 0);
	cr_expect_eq(recording_cnt(), 0);
}

Test(window_edge, an_error_stays_in_the_session)
{
	struct pt_rec_step r = boundary(1, PT_STATE_CLOSED, PT_STATE_RECORD);

	put("file", "");
	opts.output = in("file/w.ptrec");
	cr_expect_eq(session__on_record(&s, &r, sizeof(r)), RING_PAUSED);
	cr_expect_lt(window_edge__take(&s), 0);
	cr_expect_lt(s.records.err, 0);
}

/* Windows of two steps, one step apart, and then of one step. */
static void put_steps(const struct ring_feeder *f, uint64_t cnt)
{
	static const uint32_t states[] = {PT_STATE_CLOSED, PT_STATE_RECORD, PT_STATE_RECORD,
					  PT_STATE_CLOSED, PT_STATE_RECORD, PT_STATE_READY,
					  PT_STATE_RECORD, PT_STATE_CLOSED};

	for (uint64_t i = 1; i < cnt; i++) {
		const struct pt_rec_step r = boundary(i, states[i - 1], states[i]);

		feeder__put(f, &r);
	}
}

static void begin_ring(struct ring_feeder *f)
{
	const struct ring_limits limits = {1 << 16, 1 << 20};

	feeder__begin(f);
	cr_assert_eq(ring__new(f->slot_fd, &limits, session__on_record, &s, &s.records.ring), 0);
}

static void expect_windows(void)
{
	cr_expect_eq(session__window_finish(&s), 0);
	cr_expect_eq(s.windows.written, 3);
	expect_steps("w.ptrec", 1, 3);
	expect_steps("w.1.ptrec", 4, 5);
	expect_steps("w.2.ptrec", 6, 7);
}

Test(window_edge, each_of_several_in_one_drain_has_its_own_records)
{
	struct ring_feeder f;

	begin_ring(&f);
	put_steps(&f, 8);
	cr_expect_eq(session__drain(&s), 0);
	expect_windows();
	ring__free(s.records.ring);
	feeder__end(&f);
}

Test(window_edge, a_ring_that_is_exchanged_brings_them_too)
{
	struct ring_feeder f;

	begin_ring(&f);
	put_steps(&f, 8);
	cr_expect_eq(capture_ring__armed(&s), 0);
	cr_expect_eq(s.boundary.step, 7);
	expect_windows();
	ring__free(s.records.ring);
	feeder__end(&f);
}

/* Its steps up to the latest boundary that was seen are known. */
Test(window_edge, one_whose_end_was_lost_is_finished_before_the_next_begins)
{
	static const struct {
		uint64_t step;
		uint32_t prev, state;
	} seen[] = {{1, PT_STATE_CLOSED, PT_STATE_RECORD},
		    {2, PT_STATE_RECORD, PT_STATE_RECORD},
		    {5, PT_STATE_CLOSED, PT_STATE_RECORD},
		    {6, PT_STATE_RECORD, PT_STATE_CLOSED}};
	const json_t *window;
	struct recording *r;

	for (size_t i = 0; i < ARRAY_SIZE(seen); i++)
		take_step(seen[i].step, seen[i].prev, seen[i].state);
	cr_expect_eq(session__window_finish(&s), 0);
	cr_expect_eq(s.windows.written, 2);
	expect_steps("w.ptrec", 1, 2);
	expect_steps("w.1.ptrec", 5, 6);
	cr_assert_eq(recording__open(in("w.ptrec"), &r), 0);
	window = json_array_get(json_object_get(recording__summary(r), "windows"), 0);
	cr_expect_eq(json_integer_value(json_object_get(window, "end_step")), 2);
	cr_expect_eq(json_integer_value(json_object_get(window, "end_ns")), 2000000000);
	recording__close(r);
}

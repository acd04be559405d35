// SPDX-License-Identifier: BSD-2-Clause
/* Work of an engine's threads belongs to the operators that requested it, and to their phases. */
#include <bpf/bpf.h>
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>
#include "capture/decode/decoder.h"
#include "bpf/thread_state.h"
#include "common/util.h"
#include "model_synth.h"

TestSuite(executions);

#define META "{\"process\": {\"pid\": 100}, \"runtime\": {\"framework\": \"mxnet\"}}"

static uint64_t launches; /* ids of this test's */

static void call(struct synth *s, enum span_category cat, const char *name, int64_t value,
		 uint64_t begin, uint64_t end)
{
	struct event e = synth__event(s, s->main, cat, name, begin, end);

	e.value = value;
	synth__write(s, &e);
}

/* Runs on the other thread, with one kernel of so many ns. */
static void run(struct synth *s, uint32_t stream, const char *name, int64_t value, uint64_t begin,
		uint64_t kernel_ns)
{
	struct event e = synth__event(s, s->other, CAT_EXECUTION, name, begin, begin + 4);
	const uint64_t id = ++launches;

	synth__launch(s, s->other, id, begin + 1, begin + 2);
	e.value = value;
	synth__write(s, &e);
	synth__kernel(s, stream, CAT_KERNEL, "kernel", id, begin + 3, begin + 3 + kernel_ns);
}

/* Forward, Backward and Optimization of a step, one call in each. */
static void phases(struct synth *s, uint64_t at)
{
	call(s, CAT_OPERATOR, "conv", 7, at + 11, at + 13);
	synth__span(s, s->main, CAT_FORWARD, "forward", at + 10, at + 20);
	call(s, CAT_OPERATOR, "_backward_conv", 8, at + 21, at + 23);
	synth__span(s, s->main, CAT_BACKWARD, "backward", at + 20, at + 30);
	call(s, CAT_OPTIMIZER_OP, "sgd_update", 9, at + 31, at + 33);
	synth__span(s, s->main, CAT_OPTIMIZER, "step", at + 30, at + 40);
}

/* All executions come later: in the next phase, after all phases, and in the next step. */
static struct synth two_steps(void)
{
	struct synth s = synth__new(META);
	uint32_t stream = synth__stream(&s, 0, 7);

	run(&s, stream, "sgd_update", 9, 2, 1000); /* called before the window */
	phases(&s, 0);
	run(&s, stream, "conv", 7, 22, 10);
	run(&s, stream, "_backward_conv", 8, 60, 20);
	synth__step(&s, 0, 0, 100);
	run(&s, stream, "sgd_update", 9, 103, 40);
	phases(&s, 100);
	run(&s, stream, "conv", 7, 132, 10);
	run(&s, stream, "_backward_conv", 8, 160, 20);
	run(&s, stream, "sgd_update", 9, 170, 60);
	synth__step(&s, 1, 100, 200);
	return s;
}

static const struct report_opts csv = {.style = {.format = TABLE_CSV}};

Test(executions, work_goes_to_the_phase_that_called)
{
	struct synth s = two_steps();

	synth__open(&s, NULL);
	EXPECT_LINES(
		&s, "model", &csv, "Forward,2,20,10,10,10,10,20,10,10,10,1.72413793,1",
		"Backward,2,20,10,10,10,10,40,20,20,20,3.44827586,1",
		"Optimization,2,20,10,10,10,10,100,50,100,0,8.62068966,1",
		"Others,,140,,,,70,1000,,,,86.2068966,1",
		"# Others has 1.000 us of kernels that the engine launched for no operator, or "
		"for one that was called before the window or in no phase.");
	synth__free(&s);
}

Test(executions, work_goes_to_the_operator_that_called)
{
	struct synth s = two_steps();

	synth__open(&s, NULL);
	EXPECT_LINES(
		&s, "operator", &csv,
		"conv,2,4,2,2,2,33.3333333,20,10,10,10,1.72413793,0,Thread: All threads "
		"merged,false",
		"sgd_update,2,4,2,2,2,33.3333333,1100,367,1000,40,94.8275862,0,Thread: All threads "
		"merged,false");
	synth__free(&s);
}

/* One execution has its name from its call. A call without an execution is passed over. */
Test(executions, are_joined_in_order_and_by_name)
{
	struct synth s = synth__new(META);
	uint32_t stream = synth__stream(&s, 0, 7);

	call(&s, CAT_OPERATOR, "dropout", 5, 11, 12);
	call(&s, CAT_OPERATOR, "_copyto", 6, 13, 14);
	call(&s, CAT_OPERATOR, "relu", 6, 15, 16);
	synth__span(&s, s.main, CAT_FORWARD, "forward", 10, 20);
	run(&s, stream, "?", 5, 30, 10);
	run(&s, stream, "relu", 6, 40, 20);
	run(&s, stream, "?", 7, 50, 30); /* nobody's */
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	EXPECT_LINES(
		&s, "operator", &csv,
		"_copyto,1,1,1,1,1,33.3333333,,,,,,0,Thread: All threads merged,false",
		"dropout,1,1,1,1,1,33.3333333,10,10,10,10,33.3333333,0,Thread: All threads "
		"merged,false",
		"relu,1,1,1,1,1,33.3333333,20,20,20,20,66.6666667,0,Thread: All threads "
		"merged,false",
		"# GPU time under no operator: 30 ns, most of it by launch (30 ns); the tables of "
		"kernels and calls have it.");
	synth__free(&s);
}

/* An execution without a name belongs to an operator whose executions have none. */
Test(executions, one_without_a_name_is_of_no_operator_whose_executions_have_names)
{
	struct synth s = synth__new(META);
	uint32_t stream = synth__stream(&s, 0, 7);

	call(&s, CAT_OPERATOR, "relu", 6, 11, 12);
	run(&s, stream, "relu", 6, 13, 20);
	call(&s, CAT_OPERATOR, "relu", 6, 21, 22); /* its execution was lost */
	call(&s, CAT_OPERATOR, "dropout", 6, 23, 24);
	run(&s, stream, "?", 6, 30, 10);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	EXPECT_LINES(&s, "operator", &csv,
		     "dropout,1,1,1,1,1,33.3333333,10,10,10,10,33.3333333,0,Thread: All threads "
		     "merged,false",
		     "relu,2,2,1,1,1,66.6666667,20,20,20,20,66.6666667,0,Thread: All threads "
		     "merged,false");
	synth__free(&s);
}

/* The thread that calls has the row, another runs it. */
Test(executions, by_thread_the_calling_one_has_the_work)
{
	static const struct report_opts by_thread = {.style = {.format = TABLE_CSV},
						     .by_thread = true};
	struct synth s = synth__new(META);
	uint32_t stream = synth__stream(&s, 0, 7);

	call(&s, CAT_OPERATOR, "relu", 6, 11, 12);
	run(&s, stream, "relu", 6, 13, 20);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	EXPECT_LINES(&s, "operator", &by_thread,
		     "relu,1,1,1,1,1,100,20,20,20,20,100,0,Thread: main (100),false");
	synth__free(&s);
}

/* Two operators call it. Neither is known to have launched the work. */
Test(executions, by_thread_of_two_that_call_it_the_work_is_under_no_operator)
{
	static const struct report_opts by_thread = {.style = {.format = TABLE_CSV},
						     .by_thread = true};
	struct synth s = synth__new(META);
	uint32_t stream = synth__stream(&s, 0, 7), third = synth__thread(&s, 100, 103, "third");
	struct event e;

	call(&s, CAT_OPERATOR, "relu", 6, 11, 12);
	run(&s, stream, "relu", 6, 13, 20);
	e = synth__event(&s, third, CAT_OPERATOR, "relu", 41, 42);
	e.value = 9;
	synth__write(&s, &e);
	run(&s, stream, "relu", 9, 43, 20);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	EXPECT_LINES(&s, "operator", &by_thread,
		     "# GPU times of operators are not known (40 ns in all): threads of the engine "
		     "launch their kernels; --detail inner has them by what the engine runs.");
	synth__free(&s);
}

/* An engine runs graphs that no single call requested. */
Test(executions, times_of_phases_need_the_calls)
{
	struct synth s = synth__new(META);
	uint32_t stream = synth__stream(&s, 0, 7);

	call(&s, CAT_OPERATOR, "relu", 6, 15, 16);
	synth__span(&s, s.main, CAT_FORWARD, "forward", 10, 20);
	run(&s, stream, "relu", 6, 40, 20);
	synth__launch(&s, s.other, 99, 51, 52);
	synth__span(&s, s.other, CAT_OPERATOR, "conv", 50, 54);
	synth__kernel(&s, stream, CAT_KERNEL, "kernel", 99, 53, 58);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	EXPECT_LINES(
		&s, "model", &csv, "Forward,1,10,10,10,10,10,,,,,,1",
		"# GPU times of phases are not known: the engine's threads launch kernels later "
		"than a phase asks for them.");
	EXPECT_LINES(&s, "operator", &csv,
		     "conv,1,4,4,4,4,80,5,5,5,5,20,0,Thread: All threads merged,false",
		     "relu,1,1,1,1,1,20,20,20,20,20,80,0,Thread: All threads merged,false");
	synth__free(&s);
}

/* A row without a link has a value in the record that means nothing. */
Test(executions, a_link_is_written_where_the_probe_reads_one)
{
	static struct planned_probe probes[] = {
		{.row = 1, .category = CAT_OPERATOR, .cfg = {.link = 6}},
		{.row = 2, .category = CAT_OPERATOR}};
	static const struct probe_plan plan = {
		.probes = probes, .cnt = ARRAY_SIZE(probes), .row_cnt = ARRAY_SIZE(probes)};
	static const struct pt_passes passes;
	struct synth s = synth__new(META);
	struct recording_cursor *c;
	struct target *self;
	struct decoder *d;
	struct event e;

	cr_assert_eq(target__open(getpid(), &self), 0);
	d = decoder__new(self, NULL, &plan, &passes);
	cr_assert(d);
	decoder__set_writer(d, s.w);
	for (uint32_t row = 1; row <= 2; row++) {
		struct pt_rec_named r = {.h = {.kind = PT_REC_NAMED_SPAN,
					       .size = sizeof(r),
					       .probe = row,
					       .pid = 100,
					       .tid = 100},
					 .ts_ns = 10 * row,
					 .end_ns = 10 * row + 5,
					 .name_len = 2,
					 .link = 0x7f0000001000,
					 .name = {.text = "op"}};

		cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
	}
	decoder__free(d);
	target__close(self);
	synth__open(&s, NULL);
	cr_assert_eq(recording_cursor__open(s.r, &c), 0);
	cr_assert_eq(recording_cursor__next(c, &e), 1);
	cr_assert_eq(e.value, 0x7f0000001000);
	cr_assert_eq(recording_cursor__next(c, &e), 1);
	cr_assert_eq(e.value, 0);
	recording_cursor__close(c);
	synth__free(&s);
}

/* An execution that is open when the window ends was read from its thread. */
Test(executions, nor_has_one_that_is_open)
{
	static struct planned_probe probes[] = {{.row = 1, .category = CAT_USER}};
	static const struct probe_plan plan = {.probes = probes, .cnt = 1, .row_cnt = 1};
	static const struct pt_passes passes;
	static struct pt_thread t;
	const uint32_t tid = 100;
	struct synth s = synth__new(META);
	struct recording_cursor *c;
	struct target *self;
	struct decoder *d;
	struct event e;
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, NULL, sizeof(tid), sizeof(t), 1, NULL);

	if (map < 0)
		cr_skip("maps need root");
	t = (struct pt_thread){.pid = 100, .tid = tid, .open_cnt = 1, .name_len = {5}};
	t.open[0] = (struct pt_open_span){.ts_ns = 10,
					  .sp = PT_SP_OBJECT,
					  .object = 0x7f0000001000,
					  .probe = 1,
					  .kind = PT_KIND_NAMED};
	strcpy(t.names[0].text, "range");
	cr_assert_eq(bpf_map_update_elem(map, &tid, &t, BPF_ANY), 0);
	cr_assert_eq(target__open(getpid(), &self), 0);
	d = decoder__new(self, NULL, &plan, &passes);
	cr_assert(d);
	decoder__set_writer(d, s.w);
	cr_assert_eq(decoder__open_spans(d, map, 1, 5, 50), 0);
	decoder__free(d);
	target__close(self);
	close(map);
	synth__open(&s, NULL);
	cr_assert_eq(recording_cursor__open(s.r, &c), 0);
	cr_assert_eq(recording_cursor__next(c, &e), 1);
	cr_assert_eq(e.dur_ns, 40);
	cr_assert_eq(e.value, 0);
	recording_cursor__close(c);
	synth__free(&s);
}

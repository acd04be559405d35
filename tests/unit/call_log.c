// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/call_log.h"
#include "bpf/probe_cfg.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { PID = 10, TID = 11 };

static int take_named(struct call_log *log, uint32_t row, const char *name)
{
	struct pt_rec_named r = {
		.h = {.kind = PT_REC_NAMED_SPAN,
		      .size = sizeof(r),
		      .probe = row,
		      .pid = PID,
		      .tid = TID},
		.ts_ns = 5,
		.end_ns = 6,
	};

	snprintf(r.name.text, sizeof(r.name.text), "%s", name);
	return call_log__take(log, &r, sizeof(r));
}

static int take_spans(struct call_log *log, uint32_t pid, uint32_t cnt, size_t size)
{
	struct pt_rec_spans r = {.h = {.kind = PT_REC_SPANS, .pid = pid, .tid = TID}, .cnt = cnt};

	for (uint32_t i = 0; i < cnt && i < PT_BATCH; i++)
		r.spans[i] = (struct pt_span){.ts_ns = i, .end_ns = i + 1, .probe = 100 + i};
	return call_log__take(log, &r, size);
}

Test(call_log, takes_spans_of_its_process)
{
	struct call_log log = {.pid = PID};
	size_t two = offsetof(struct pt_rec_spans, spans) + 2 * sizeof(struct pt_span);

	cr_assert_eq(take_spans(&log, PID, 2, two), 0);
	cr_assert_eq(take_spans(&log, PID + 1, 2, two), 0);
	cr_assert_eq(log.cnt, 2);
	cr_expect_eq(log.calls[1].op, 101);
	cr_expect_eq(log.calls[1].tid, TID);
	cr_expect_null(call_log__named(&log, log.calls[1].op));
	call_log__free(&log);
}

Test(call_log, forgets_a_row)
{
	struct call_log log = {.pid = PID};
	size_t three = offsetof(struct pt_rec_spans, spans) + 3 * sizeof(struct pt_span);

	cr_assert_eq(take_spans(&log, PID, 3, three), 0);
	call_log__forget(&log, 101);
	cr_assert_eq(log.cnt, 2);
	cr_expect_eq(log.calls[0].op, 100);
	cr_expect_eq(log.calls[1].op, 102);
	call_log__free(&log);
}

/* 100 leads: two threads call it, and one that works for them. */
Test(call_log, keeps_threads_that_lead)
{
	const struct step_call calls[] = {{101, 1, 1, 2},
					  {100, 2, 1, 4},
					  {101, 3, 1, 2},
					  {PT_MAX_PROBES, 4, 1, 2},
					  {102, 2, 5, 6}};
	bool leads[PT_MAX_PROBES] = {[100] = true, [7] = true};
	struct call_log log = {.pid = PID};

	cr_assert_eq(take_named(&log, 7, "forward"), 0); /* of thread TID */
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		cr_assert_eq(ARRAY_PUSH(log.calls, log.cnt, log.cap, calls[i]), 0);
	cr_assert_eq(call_log__keep_leaders(&log, leads), 0);
	cr_assert_eq(log.cnt, 4);
	cr_expect_eq(log.calls[0].tid, TID);
	cr_expect_eq(log.calls[1].tid, 2);
	cr_expect_eq(log.calls[2].tid, 4);
	cr_expect_eq(log.calls[3].op, 102);
	memset(leads, 0, sizeof(leads));
	cr_assert_eq(call_log__keep_leaders(&log, leads), 0);
	cr_expect_eq(log.cnt, 4);
	call_log__free(&log);
}

Test(call_log, leaves_what_is_cut_off)
{
	struct call_log log = {.pid = PID};

	cr_assert_eq(take_spans(&log, PID, PT_BATCH + 1, sizeof(struct pt_rec_spans)), 0);
	cr_assert_eq(take_spans(&log, PID, 2, sizeof(struct pt_rec)), 0);
	cr_expect_eq(log.cnt, 0);
	call_log__free(&log);
}

Test(call_log, tells_boxed_operators_by_name)
{
	struct call_log log = {.pid = PID};

	cr_assert_eq(take_named(&log, 7, "mylib::scale"), 0);
	cr_assert_eq(take_named(&log, 7, "aten::add"), 0);
	cr_assert_eq(take_named(&log, 7, "mylib::scale"), 0);
	cr_assert_eq(log.cnt, 3);
	cr_expect_eq(log.calls[0].op, log.calls[2].op);
	cr_expect_neq(log.calls[0].op, log.calls[1].op);
	cr_expect_str_eq(call_log__named(&log, log.calls[1].op)->name, "aten::add");
	cr_expect_eq(call_log__named(&log, log.calls[1].op)->row, 7);
	call_log__free(&log);
}

#define LONG "library::an_operator_with_a_name_that_is_very_very_long______"

Test(call_log, keeps_as_much_of_a_name_as_a_rule_can_hold)
{
	struct call_log log = {.pid = PID};

	cr_assert_eq(take_named(&log, 7, LONG LONG), 0);
	cr_expect_eq(strlen(call_log__named(&log, log.calls[0].op)->name), 119);
	cr_expect_eq(strncmp(call_log__named(&log, log.calls[0].op)->name, LONG LONG, 119), 0);
	call_log__free(&log);
}

Test(call_log, forgets_a_row_with_all_its_names)
{
	struct call_log log = {.pid = PID};

	cr_assert_eq(take_named(&log, 7, "engine"), 0);
	cr_assert_eq(take_named(&log, 8, "call"), 0);
	cr_assert_eq(take_named(&log, 7, "other"), 0);
	call_log__forget(&log, 7);
	cr_assert_eq(log.cnt, 1);
	cr_expect_str_eq(call_log__named(&log, log.calls[0].op)->name, "call");
	call_log__free(&log);
}

Test(call_log, looks_are_kept_without_the_time_between)
{
	struct call_log log = {.pid = PID};

	for (uint64_t look = 0; look < 2; look++) {
		struct step_call call = {7, TID, 1000 * look + 5, 1000 * look + 9};

		cr_assert_eq(ARRAY_PUSH(log.calls, log.cnt, log.cap, call), 0);
		cr_assert_eq(call_log__keep(&log), 0);
		cr_expect_eq(log.cnt, 0);
		cr_expect_eq(log.pid, 0);
	}
	cr_assert_eq(log.kept_cnt, 2);
	cr_expect_eq(log.kept[1].ts_ns, log.kept[0].end_ns);
	cr_expect_eq(log.kept[1].end_ns - log.kept[1].ts_ns, 4);
	cr_assert_eq(call_log__keep(&log), 0);
	cr_expect_eq(log.kept_cnt, 2);
	call_log__free(&log);
	cr_expect_eq(log.kept_cnt, 0);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Step boundaries whose records found the ring full. */
#include "bpf/ctl.h"
#include "bpf/events.h"
#include "capture/decode/decoder_internal.h"
#include "capture/session.h"
#include <criterion/criterion.h>

#define SPANS_LOST 3

/* A window in which step 5 is under way, and whose latest boundary opens step 7. */
struct fake {
	struct pt_ctl ctl;
	struct decoder decoder;
	struct session s;
};

static void set_up(struct fake *f)
{
	f->s.probes.ctl = &f->ctl;
	f->s.records.decoder = &f->decoder;
	f->s.device = (void *)f; /* steps are held, not written */
	f->s.window.writer = (void *)f;
	f->s.boundary.ns = 500;
	f->s.boundary.step = 5;
	f->ctl.step_seq = 17;
	for (unsigned int i = 15; i <= 17; i++)
		f->ctl.step_ns[i] = (i - 10) * 100;
	f->ctl.lost_ring = SPANS_LOST + 1;
}

static void seventh_begins(struct fake *f)
{
	struct pt_rec_step r = {
		.h = {.kind = PT_REC_STEP, .size = sizeof(r)},
		.ts_ns = 700,
		.step = 7,
		.seq = 17,
		.state = PT_STATE_RECORD,
		.prev_state = PT_STATE_RECORD,
	};

	cr_assert_eq(session__on_record(&f->s, &r, sizeof(r)), 0);
}

Test(lost_steps, a_boundary_that_is_known_all_the_same_is_no_loss)
{
	static struct fake f;

	set_up(&f);
	seventh_begins(&f);
	cr_assert_eq(f.s.held_steps.cnt, 2);
	cr_expect_eq(f.s.held_steps.list[0].begin_ns, 500);
	cr_expect_eq(f.s.held_steps.list[0].end_ns, 600);
	cr_expect_eq(f.s.held_steps.list[1].step, 6);
	cr_expect_eq(f.s.held_steps.list[1].end_ns, 700);
	cr_expect_eq(session__losses(&f.s).ring, SPANS_LOST);
	free(f.s.held_steps.list);
}

Test(lost_steps, one_that_is_too_long_ago_is_lost)
{
	static struct fake f;

	set_up(&f);
	f.ctl.step_seq += PT_STEP_RING; /* more steps than the ring holds went unread */
	seventh_begins(&f);
	cr_expect_eq(f.s.held_steps.cnt, 0);
	cr_expect_eq(session__losses(&f.s).ring, SPANS_LOST + 1);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Tests each edge of the state machine of probe residency, its limits, and pairs that are no
 * edge. */
#include "capture/arming/residency.h"
#include <criterion/criterion.h>

enum { LEAD = 10 };

static enum residency next(enum residency now, struct residency_view v)
{
	v.lead = LEAD;
	return residency__next(now, &v);
}

static void expect(enum residency now, struct residency_view v, enum residency to)
{
	const enum residency got = next(now, v);

	cr_expect_eq(got, to, "%s, %llu steps left: %s, not %s", residency__name(now),
		     (unsigned long long)v.left, residency__name(got), residency__name(to));
}

static const struct residency_view far = {.left = UINT64_MAX};

Test(residency, probes_go_when_the_window_is_twice_as_far_as_they_take)
{
	expect(RESIDENCY_FULL, (struct residency_view){.left = 2 * LEAD + 1}, RESIDENCY_STEPS_ONLY);
	expect(RESIDENCY_FULL, (struct residency_view){.left = 2 * LEAD}, RESIDENCY_FULL);
	expect(RESIDENCY_FULL, far, RESIDENCY_STEPS_ONLY);
}

Test(residency, probes_come_while_there_is_time_to_attach_them)
{
	static const enum residency states[] = {RESIDENCY_STEPS_ONLY, RESIDENCY_BACKWARD_ONLY,
						RESIDENCY_NONE};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		expect(states[i], (struct residency_view){.left = LEAD}, RESIDENCY_FULL);
		expect(states[i], (struct residency_view){.left = 0}, RESIDENCY_FULL);
	}
	expect(RESIDENCY_STEPS_ONLY, (struct residency_view){.left = LEAD + 1},
	       RESIDENCY_STEPS_ONLY);
}

/* However fast they are, a step passes. */
Test(residency, the_last_two_steps_have_all_probes)
{
	struct residency_view v = {.left = 2, .lead = 0};

	cr_expect_eq(residency__next(RESIDENCY_STEPS_ONLY, &v), RESIDENCY_FULL);
	cr_expect_eq(residency__next(RESIDENCY_FULL, &v), RESIDENCY_FULL);
	v.left = 3;
	cr_expect_eq(residency__next(RESIDENCY_FULL, &v), RESIDENCY_STEPS_ONLY);
	cr_expect_eq(residency__next(RESIDENCY_STEPS_ONLY, &v), RESIDENCY_STEPS_ONLY);
}

Test(residency, updates_go_once_backward_passes_suffice)
{
	struct residency_view v = far;

	expect(RESIDENCY_STEPS_ONLY, v, RESIDENCY_STEPS_ONLY);
	v.passes_suffice = true;
	expect(RESIDENCY_STEPS_ONLY, v, RESIDENCY_BACKWARD_ONLY);
	expect(RESIDENCY_BACKWARD_ONLY, v, RESIDENCY_BACKWARD_ONLY);
	v.left = LEAD;
	expect(RESIDENCY_STEPS_ONLY, v, RESIDENCY_FULL);
}

Test(residency, none_stays_while_variables_tell_and_the_window_is_far)
{
	static const enum residency states[] = {RESIDENCY_STEPS_ONLY, RESIDENCY_BACKWARD_ONLY};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
		struct residency_view v = {.left = 4 * LEAD + 1, .counters_suffice = true};

		expect(states[i], v, RESIDENCY_NONE);
		v.left = 4 * LEAD;
		expect(states[i], v, states[i]);
		v = far;
		expect(states[i], v, states[i]);
	}
	/* Steps that last as long as attaching does. The window must be at least 8 of them away. */
	cr_expect_eq(residency__next(RESIDENCY_STEPS_ONLY,
				     &(struct residency_view){.left = 8, .counters_suffice = true}),
		     RESIDENCY_STEPS_ONLY);
	cr_expect_eq(residency__next(RESIDENCY_STEPS_ONLY,
				     &(struct residency_view){.left = 9, .counters_suffice = true}),
		     RESIDENCY_NONE);
}

Test(residency, probes_of_steps_come_back_to_look)
{
	struct residency_view v = {.left = 4 * LEAD, .counters_suffice = true};

	expect(RESIDENCY_NONE, v, RESIDENCY_NONE);
	v.pause_is_over = true;
	expect(RESIDENCY_NONE, v, RESIDENCY_STEPS_ONLY);
	v = (struct residency_view){.left = 2 * LEAD};
	expect(RESIDENCY_NONE, v, RESIDENCY_STEPS_ONLY);
	v.left++;
	expect(RESIDENCY_NONE, v, RESIDENCY_NONE);
}

/* Whatever the distance is: it is not known then. */
static const uint64_t any_distance[] = {0, LEAD, 3 * LEAD, UINT64_MAX};

static void expect_always(enum residency now, enum residency_event event, enum residency to)
{
	for (size_t i = 0; i < sizeof(any_distance) / sizeof(*any_distance); i++)
		expect(now, (struct residency_view){.event = event, .left = any_distance[i]}, to);
}

Test(residency, operators_go_while_steps_are_looked_for)
{
	expect_always(RESIDENCY_FULL, RESIDENCY_LEARN, RESIDENCY_STEPS_ONLY);
	expect_always(RESIDENCY_STEPS_ONLY, RESIDENCY_LEARN, RESIDENCY_STEPS_ONLY);
}

Test(residency, operators_come_to_be_measured)
{
	expect_always(RESIDENCY_STEPS_ONLY, RESIDENCY_MEASURE, RESIDENCY_FULL);
	expect_always(RESIDENCY_FULL, RESIDENCY_MEASURE, RESIDENCY_FULL);
}

Test(residency, a_window_that_has_opened_keeps_its_probes)
{
	expect_always(RESIDENCY_STEPS_ONLY, RESIDENCY_OPENED, RESIDENCY_FULL);
	expect_always(RESIDENCY_FULL, RESIDENCY_OPENED, RESIDENCY_FULL);
}

/* Neither comes before the probes of steps are all in. */
Test(residency, other_states_know_distance_alone)
{
	static const enum residency states[] = {RESIDENCY_BACKWARD_ONLY, RESIDENCY_NONE};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		for (enum residency_event event = RESIDENCY_LEARN; event <= RESIDENCY_OPENED;
		     event++)
			expect_always(states[i], event, states[i]);
}

/* A window that comes near by a step at a time is met with all probes, whatever there was before.
 */
Test(residency, a_window_finds_all_probes)
{
	for (int r = 0; r < RESIDENCY_CNT; r++) {
		enum residency now = r;

		for (uint64_t left = 200; left-- > 0;)
			now = next(now, (struct residency_view){.left = left,
								.counters_suffice = true,
								.passes_suffice = true});
		cr_expect_eq(now, RESIDENCY_FULL);
	}
}

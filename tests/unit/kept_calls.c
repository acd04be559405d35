// SPDX-License-Identifier: BSD-2-Clause
#include "device/kept_calls.h"
#include <criterion/criterion.h>

Test(kept_calls, tells_the_track_of_a_call)
{
	struct kept_calls k = {0};

	cr_assert_eq(kept_calls__track(&k, 7), 0);
	cr_assert_eq(kept_calls__put(&k, 7, 3, false), 0);
	cr_assert_eq(kept_calls__put(&k, 8, KEPT_OUTSIDE, false), 0);
	cr_assert_eq(kept_calls__track(&k, 7), 3);
	cr_assert_eq(kept_calls__track(&k, 8), KEPT_OUTSIDE);
	cr_assert_eq(k.waiting_cnt, 0);
	kept_calls__clear(&k);
	cr_assert_eq(kept_calls__track(&k, 7), 0);
}

Test(kept_calls, a_launch_waits_until_its_first_work_came)
{
	struct kept_calls k = {0};

	kept_calls__put(&k, 7, 3, true);
	kept_calls__put(&k, 8, 3, true);
	cr_assert_eq(k.waiting_cnt, 2);
	kept_calls__answered(&k, 7);
	kept_calls__answered(&k, 7); /* a graph has many kernels */
	cr_assert_eq(k.waiting_cnt, 1);
	cr_assert_eq(kept_calls__track(&k, 7), 3);
	kept_calls__clear(&k);
	cr_assert_eq(k.waiting_cnt, 0);
}

Test(kept_calls, work_that_comes_before_its_launch_answers_it)
{
	struct kept_calls k = {0};

	kept_calls__answered(&k, 7);
	cr_assert_eq(kept_calls__track(&k, 7), 0, "it was not seen yet");
	kept_calls__put(&k, 7, 3, true);
	cr_assert_eq(k.waiting_cnt, 0);
	cr_assert_eq(kept_calls__track(&k, 7), 3);
	kept_calls__clear(&k);
}

Test(kept_calls, a_call_that_came_is_seen_before_it_is_put)
{
	struct kept_calls k = {0};

	cr_assert_not(kept_calls__is_seen(&k, 7));
	cr_assert_eq(kept_calls__answered(&k, 7), 0);
	cr_assert_not(kept_calls__is_seen(&k, 7), "its work alone");
	cr_assert_eq(kept_calls__see(&k, 7), 0);
	cr_assert(kept_calls__is_seen(&k, 7));
	cr_assert_eq(kept_calls__track(&k, 7), 0);
	cr_assert_eq(kept_calls__put(&k, 7, 3, true), 0);
	cr_assert_eq(k.waiting_cnt, 0, "its work came before");
	cr_assert_eq(kept_calls__see(&k, 7), 0);
	cr_assert_eq(kept_calls__track(&k, 7), 3, "it stays put");

	cr_assert_eq(kept_calls__see(&k, 8), 0);
	cr_assert_eq(kept_calls__answered(&k, 8), 0);
	cr_assert_eq(kept_calls__put(&k, 8, 4, true), 0);
	cr_assert_eq(k.waiting_cnt, 0, "its work came between");
	cr_assert_eq(kept_calls__put(&k, 9, KEPT_OUTSIDE, false), 0);
	cr_assert(kept_calls__is_seen(&k, 9));
	kept_calls__clear(&k);
}

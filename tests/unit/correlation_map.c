// SPDX-License-Identifier: BSD-2-Clause
#include "device/correlation_map.h"
#include <criterion/criterion.h>

Test(correlation_map, tells_the_track_of_a_call)
{
	struct correlation_map k = {0};

	cr_assert_eq(correlation_map__track(&k, 7), 0);
	cr_assert_eq(correlation_map__put(&k, 7, 3, false), 0);
	cr_assert_eq(correlation_map__put(&k, 8, KEPT_OUTSIDE, false), 0);
	cr_assert_eq(correlation_map__track(&k, 7), 3);
	cr_assert_eq(correlation_map__track(&k, 8), KEPT_OUTSIDE);
	cr_assert_eq(k.waiting_cnt, 0);
	correlation_map__clear(&k);
	cr_assert_eq(correlation_map__track(&k, 7), 0);
}

Test(correlation_map, a_launch_waits_until_its_first_work_came)
{
	struct correlation_map k = {0};

	correlation_map__put(&k, 7, 3, true);
	correlation_map__put(&k, 8, 3, true);
	cr_assert_eq(k.waiting_cnt, 2);
	correlation_map__has_work(&k, 7);
	correlation_map__has_work(&k, 7); /* a graph has many kernels */
	cr_assert_eq(k.waiting_cnt, 1);
	cr_assert_eq(correlation_map__track(&k, 7), 3);
	correlation_map__clear(&k);
	cr_assert_eq(k.waiting_cnt, 0);
}

Test(correlation_map, work_that_comes_before_its_launch_answers_it)
{
	struct correlation_map k = {0};

	correlation_map__has_work(&k, 7);
	cr_assert_eq(correlation_map__track(&k, 7), 0, "it was not seen yet");
	correlation_map__put(&k, 7, 3, true);
	cr_assert_eq(k.waiting_cnt, 0);
	cr_assert_eq(correlation_map__track(&k, 7), 3);
	correlation_map__clear(&k);
}

Test(correlation_map, a_call_that_came_is_seen_before_it_is_put)
{
	struct correlation_map k = {0};

	cr_assert_not(correlation_map__is_seen(&k, 7));
	cr_assert_eq(correlation_map__has_work(&k, 7), 0);
	cr_assert_not(correlation_map__is_seen(&k, 7), "its work alone");
	cr_assert_eq(correlation_map__see(&k, 7), 0);
	cr_assert(correlation_map__is_seen(&k, 7));
	cr_assert_eq(correlation_map__track(&k, 7), 0);
	cr_assert_eq(correlation_map__put(&k, 7, 3, true), 0);
	cr_assert_eq(k.waiting_cnt, 0, "its work came before");
	cr_assert_eq(correlation_map__see(&k, 7), 0);
	cr_assert_eq(correlation_map__track(&k, 7), 3, "it stays put");

	cr_assert_eq(correlation_map__see(&k, 8), 0);
	cr_assert_eq(correlation_map__has_work(&k, 8), 0);
	cr_assert_eq(correlation_map__put(&k, 8, 4, true), 0);
	cr_assert_eq(k.waiting_cnt, 0, "its work came between");
	cr_assert_eq(correlation_map__put(&k, 9, KEPT_OUTSIDE, false), 0);
	cr_assert(correlation_map__is_seen(&k, 9));
	correlation_map__clear(&k);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Which of the device's lost events are a window's own. */
#include "device/device_losses.h"
#include "common/util.h"
#include <criterion/criterion.h>

static struct device_losses losses;

static void look(uint64_t threads, uint64_t cupti)
{
	const struct shim_facts facts = {.lost_threads = threads, .lost_cupti = cupti};

	device_losses__look(&losses, &facts, 0, 0);
}

static uint64_t told(size_t note_cnt)
{
	json_t *notes = json_array();
	uint64_t lost;

	json_decref(device_losses__json(&losses, "the device's events", notes, &lost));
	cr_assert_eq(json_array_size(notes), note_cnt);
	json_decref(notes);
	return lost;
}

Test(device_losses, of_before_the_window_are_not_its_own)
{
	look(5, 1);
	look(7, 2);
	device_losses__open(&losses, clock__monotonic_ns());
	look(10, 6);
	cr_assert_eq(told(2), 3 + 4);
}

Test(device_losses, of_before_a_look_that_came_later_than_the_opening_are_its_own)
{
	uint64_t open_ns;

	look(5, 0);
	open_ns = clock__monotonic_ns();
	look(7, 0);
	device_losses__open(&losses, open_ns);
	look(8, 0);
	cr_assert_eq(told(1), 3);
}

Test(device_losses, after_the_close_are_its_own_where_they_are_handed_over_late)
{
	look(0, 0);
	device_losses__open(&losses, clock__monotonic_ns());
	look(2, 0);
	device_losses__close(&losses);
	look(9, 5);
	cr_assert_eq(told(2), 2 + 5);
}

Test(device_losses, are_told_once)
{
	look(3, 3);
	cr_assert_eq(told(2), 6);
	look(4, 3);
	device_losses__open(&losses, 0);
	cr_assert_eq(told(1), 1);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The number of processors that a process uses, from readings of its CPU time. */
#include <criterion/criterion.h>
#include "monitor/cpu_use.h"

TestSuite(cpu_use);

#define S 1000000000ull

Test(cpu_use, between_the_latest_two_readings)
{
	struct cpu_use u = {.cpus = -1};

	cpu_use__count(&u, 100 * S, 10 * S);
	cr_expect_lt(u.cpus, 0, "one reading says nothing");
	cpu_use__count(&u, 110 * S, 15 * S);
	cr_expect_float_eq(u.cpus, 2, 1e-9);
	cpu_use__count(&u, 120 * S, 15 * S + S / 2);
	cr_expect_float_eq(u.cpus, 2, 1e-9, "too soon");
	cpu_use__count(&u, 111 * S, 19 * S);
	cr_expect_float_eq(u.cpus, 0.25, 1e-9);
}

Test(cpu_use, of_a_process_that_is_gone_it_is_not_known)
{
	struct cpu_use u = {.cpus = -1};

	cpu_use__count(&u, 100 * S, 10 * S);
	cpu_use__count(&u, 105 * S, 15 * S);
	cpu_use__count(&u, 0, 20 * S);
	cr_expect_lt(u.cpus, 0);
	cpu_use__count(&u, 200 * S, 25 * S);
	cr_expect_lt(u.cpus, 0);
	cpu_use__count(&u, 50 * S, 30 * S);
	cr_expect_lt(u.cpus, 0, "another one has its number");
}

// SPDX-License-Identifier: BSD-2-Clause
/* The queue of data to send, when sending is tried again, and the receivers' answers. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/push_queue.h"
#include "monitor/pushes.h"

TestSuite(monitor_push);

#define SECOND_NS 1000000000ull

static bool add(struct push_queue *q, char name)
{
	struct push_body body = {.data = malloc(1), .len = 1};

	cr_assert(body.data);
	*body.data = name;
	return push_queue__add(q, &body);
}

static void fill(struct push_queue *q)
{
	for (int i = 0; i < PUSH_QUEUE; i++)
		cr_expect_not(add(q, (char)('a' + i)));
}

Test(monitor_push, the_oldest_goes_but_for_the_one_that_is_being_sent)
{
	struct push_queue q = {0};

	fill(&q);
	cr_expect(add(&q, 'x'));
	cr_expect_eq(*q.items[0].data, 'b');
	q.is_sending = true;
	cr_expect(add(&q, 'y'));
	cr_expect_eq(*q.items[0].data, 'b');
	cr_expect_eq(*q.items[1].data, 'd');
	cr_expect_eq(*q.items[PUSH_QUEUE - 1].data, 'y');
	cr_expect_eq(q.cnt, PUSH_QUEUE);
	push_queue__free(&q);
}

Test(monitor_push, tries_are_farther_apart_each_time_up_to_a_minute)
{
	struct push_queue q = {0};
	const uint64_t randoms[] = {0, UINT64_MAX, 123456789123456789ull};

	add(&q, 'a');
	for (unsigned int i = 0; i < 40; i++) {
		const double wait_s = i < 6 ? (double)(1u << i) : 60;

		for (size_t r = 0; r < sizeof(randoms) / sizeof(*randoms); r++) {
			q.tries = i;
			q.is_sending = true;
			push_queue__retry(&q, 7, 0, randoms[r]);
			cr_expect_geq((double)(q.due_ns - 7) / 1e9, 0.75 * wait_s - 1e-6);
			cr_expect_leq((double)(q.due_ns - 7) / 1e9, 1.25 * wait_s + 1e-6);
		}
	}
	cr_expect_not(push_queue__is_due(&q, q.due_ns - 1));
	cr_expect(push_queue__is_due(&q, q.due_ns));
	/* New data must not cause an early try with a receiver that is down. */
	add(&q, 'b');
	cr_expect_not(push_queue__is_due(&q, q.due_ns - 1));
	push_queue__finish(&q);
	cr_expect(push_queue__is_due(&q, 0));
	cr_expect_eq(q.tries, 0);
	push_queue__free(&q);
}

Test(monitor_push, the_receiver_says_when_within_five_minutes)
{
	struct push_queue q = {0};

	add(&q, 'a');
	push_queue__retry(&q, 0, 30, 0);
	cr_expect_eq(q.due_ns, 30 * SECOND_NS);
	push_queue__retry(&q, 0, UINT64_MAX, 0);
	cr_expect_eq(q.due_ns, 300 * SECOND_NS);
	push_queue__free(&q);
}

Test(monitor_push, results_by_status)
{
	static const struct {
		long status;
		enum push_result result;
	} cases[] = {{200, PUSH_OK},	  {202, PUSH_OK},      {204, PUSH_OK},
		     {302, PUSH_REFUSED}, {400, PUSH_REFUSED}, {401, PUSH_REFUSED},
		     {413, PUSH_REFUSED}, {429, PUSH_RETRIED}, {500, PUSH_REFUSED},
		     {502, PUSH_RETRIED}, {503, PUSH_RETRIED}, {504, PUSH_RETRIED},
		     {0, PUSH_REFUSED}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_eq(push_queue__result_of(cases[i].status), cases[i].result, "%ld",
			     cases[i].status);
}

Test(monitor_push, values_that_were_refused_are_told)
{
	static const unsigned char rejects[] = {0x0a, 2, 8, 7}, message[] = {0x0a, 3, 0x12, 1, 'x'},
				   none[] = {0x0a, 2, 8, 0}, other[] = {0x12, 1, 8, 0x0a, 2, 8, 1},
				   *cut = rejects;
	static const unsigned char huge[] = {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					     0xff, 0xff, 0xff, 0x01, 8,	   1};

	cr_expect(push_queue__is_partial(rejects, sizeof(rejects)));
	cr_expect_not(push_queue__is_partial(message, sizeof(message)), "a warning alone");
	cr_expect_not(push_queue__is_partial(none, sizeof(none)));
	cr_expect(push_queue__is_partial(other, sizeof(other)), "behind a field that is not known");
	for (size_t len = 0; len < sizeof(rejects); len++)
		cr_expect_not(push_queue__is_partial(cut, len));
	cr_expect_not(push_queue__is_partial(huge, sizeof(huge)));
}

Test(monitor_push, a_job_is_named_as_the_receiver_wants_it)
{
	struct rank_info rank = {.rank = 3, .uid = 7};
	char query[768], tight[40];

	strcpy(rank.key.name, "a{b=\"c\"}&x y");
	cr_expect(pushes__query(&rank, "h1", 100.2, 103.7, query, sizeof(query)));
	cr_expect_str_eq(
		query, "?name=a_b__c___x_y%7Bhost%3Dh1%2Cuid%3D7%2Crank%3D3%7D&from=100&until=104&"
		       "format=pprof&spyName=proftrace");
	cr_expect_not(pushes__query(&rank, "h1", 1, 2, tight, sizeof(tight)));
}

// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/lifetimes.h"
#include <criterion/criterion.h>

static struct lifetime begin(struct lifetimes *l, uint32_t pid, uint32_t place, uint64_t address,
			     uint64_t bytes)
{
	const struct lifetime begun = {
		.address = address, .pid = pid, .place = place, .bytes = bytes};
	struct lifetime replaced;

	cr_assert_eq(lifetimes__begin(l, &begun, &replaced), 0);
	return replaced;
}

static uint64_t end(struct lifetimes *l, uint32_t pid, uint32_t place, uint64_t address)
{
	const struct lifetime key = {.address = address, .pid = pid, .place = place};

	return lifetimes__end(l, &key).bytes;
}

static void add_bytes(const struct lifetime *alive, void *ctx)
{
	*(uint64_t *)ctx += alive->bytes;
}

Test(lifetimes, an_address_is_of_a_process_and_a_place)
{
	struct lifetimes l = {0};
	uint64_t alive = 0;

	begin(&l, 1, 0, 0x1000, 10);
	begin(&l, 2, 0, 0x1000, 20);
	begin(&l, 1, 4, 0x1000, 30);
	lifetimes__each(&l, add_bytes, &alive);
	cr_expect_eq(alive, 60);
	cr_expect_eq(end(&l, 1, 4, 0x1000), 30);
	cr_expect_eq(end(&l, 1, 4, 0x1000), 0, "it ends once");
	cr_expect_eq(end(&l, 2, 0, 0x1000), 20);
	cr_expect_eq(end(&l, 1, 0, 0x2000), 0);
	cr_expect_eq(end(&l, 1, 0, 0x1000), 10);
	cr_expect_eq(l.cnt, 0);
	lifetimes__free(&l);
}

Test(lifetimes, an_end_that_was_not_seen)
{
	struct lifetimes l = {0};

	cr_expect_eq(begin(&l, 1, 0, 0x1000, 10).bytes, 0);
	cr_expect_eq(begin(&l, 1, 0, 0x1000, 20).bytes, 10, "what was there comes back");
	cr_expect_eq(l.cnt, 1);
	cr_expect_eq(end(&l, 1, 0, 0x1000), 20);
	lifetimes__free(&l);
}

Test(lifetimes, too_many_are_counted)
{
	struct lifetimes l = {0};
	uint64_t alive = 0;

	for (uint64_t i = 0; i < LIFETIMES_MAX + 3; i++)
		begin(&l, 1, 0, i * 64, 1);
	cr_expect_eq(l.forgotten, 3);
	lifetimes__each(&l, add_bytes, &alive);
	cr_expect_eq(alive, LIFETIMES_MAX);
	lifetimes__free(&l);
}

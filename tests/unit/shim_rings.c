// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <sys/mman.h>
#include "device/shim_rings.h"

static struct shim_rings r;

static void make(void)
{
	void *c = mmap(NULL, SHIM_FILE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	cr_assert_neq(c, MAP_FAILED);
	shim_rings__init(&r, c);
}

static void destroy(void)
{
	shim_rings__clear(&r);
	munmap(r.c, SHIM_FILE_BYTES);
}

TestSuite(shim_rings, .init = make, .fini = destroy);

static void call(size_t ring, uint32_t tid, uint64_t end_ns)
{
	const struct shim_call call = {.begin_ns = 1, .end_ns = end_ns};

	r.c->rings[ring].tid = tid;
	shim_put_call(&r.c->rings[ring], shim_calls(r.c, ring), &call);
}

static uint64_t unread(void)
{
	uint64_t cnt = 0;

	for (size_t i = 0; i < SHIM_RINGS; i++)
		cnt += r.c->rings[i].head - r.c->rings[i].tail;
	return cnt;
}

/* The first ring's owner, and its time. */
struct first {
	uint32_t tids[4];
	uint64_t ends_ns[4];
	size_t cnt, others;
};

static int take(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	struct first *f = ctx;

	f->others += ring != 0;
	if (ring)
		return 0;
	cr_assert_lt(f->cnt, 4);
	f->tids[f->cnt] = tid;
	f->ends_ns[f->cnt++] = call->end_ns;
	return 0;
}

Test(shim_rings, few_threads_leave_theirs_to_whoever_reads)
{
	call(0, 1, 2);
	shim_rings__drain(&r);
	cr_expect_eq(unread(), 1);
}

/* A ring changes hands when it is read empty. */
Test(shim_rings, where_threads_come_and_go_rings_are_emptied)
{
	struct first f = {0};

	for (uint32_t i = 0; i < SHIM_RINGS; i++)
		call(i, 100 + i, 10);
	cr_expect(shim_rings__are_few(&r));
	shim_rings__drain(&r);
	cr_expect_eq(unread(), 0);
	call(0, 200, 20); /* another thread's by now */
	shim_rings__drain(&r);
	call(0, 200, 30);
	cr_expect_eq(shim_rings__calls(&r, take, &f), 0);
	cr_expect_eq(f.others, SHIM_RINGS - 1);
	cr_assert_eq(f.cnt, 3);
	cr_expect_eq(f.tids[0], 100);
	cr_expect_eq(f.tids[1], 200);
	cr_expect_eq(f.tids[2], 200);
	cr_expect_eq(f.ends_ns[2], 30);
}

static void name(size_t place, uint64_t key, uint32_t at, const char *text, uint32_t len)
{
	shim_seen_names(r.c)[place] = (struct shim_seen_name){key, at, len};
	memcpy(shim_seen_texts(r.c) + at, text, strlen(text));
}

Test(shim_rings, names_lie_where_their_keys_say_or_behind)
{
	const uint64_t first = 2 * (SHIM_SEEN_NAMES - 1) + 1, second = first + 2 * SHIM_SEEN_NAMES;
	char text[SHIM_SEEN_NAME_MAX + 1];

	name(SHIM_SEEN_NAMES - 1, first, 0, "MatMul", 6);
	name(0, second, SHIM_SEEN_TEXT_BYTES - 3, "Add", 3);
	cr_assert(shim_rings__seen_name(&r, first, text));
	cr_expect_str_eq(text, "MatMul");
	cr_assert(shim_rings__seen_name(&r, second, text));
	cr_expect_str_eq(text, "Add");
	cr_expect_not(shim_rings__seen_name(&r, first + 4 * SHIM_SEEN_NAMES, text));
	cr_expect_not(shim_rings__seen_name(&r, 0, text));
}

/* Nothing that the target wrote is believed. */
Test(shim_rings, a_name_that_is_not_whole_is_none)
{
	static const struct {
		uint32_t at, len;
	} cases[] = {{0, 0},
		     {0, SHIM_SEEN_NAME_MAX + 1},
		     {SHIM_SEEN_TEXT_BYTES - 3, 4},
		     {UINT32_MAX, 4}};
	char text[SHIM_SEEN_NAME_MAX + 1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		shim_seen_names(r.c)[1] = (struct shim_seen_name){3, cases[i].at, cases[i].len};
		cr_expect_not(shim_rings__seen_name(&r, 3, text), "%zu", i);
	}
}

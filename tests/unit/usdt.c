// SPDX-License-Identifier: BSD-2-Clause
/* Notes of USDT probes: a compiler's, from include/proftrace.h, and damaged ones. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"
#include "include/proftrace.h"
#include "target/usdt.h"

/* The test program's own probes. */
static void __attribute__((noinline)) marks(void)
{
	static const proftrace_range range = {"unit", "range"};
	static proftrace_counter counter = {"unit", "counter", 0};

	proftrace_frame_begin(&range);
	proftrace_counter_set(&counter, 5);
	proftrace_counter_add(&counter, -7);
	cr_expect_eq(counter.value, -2);
	proftrace_mark("unit", "mark", 'g');
	proftrace_end(&range);
}

struct found {
	size_t frames, counters, marks, ends, other;
};

static int count(const struct usdt_probe *p, void *ctx)
{
	struct found *f = ctx;
	uint8_t slot = 9;

	cr_expect(p->vaddr && !p->semaphore);
	if (strcmp(p->provider, "proftrace") != 0) {
		f->other++;
		return 0;
	}
	cr_expect(usdt__register(p->args, 0, &slot) && slot == 0, "%s", p->args);
	f->frames += !strcmp(p->name, "frame_begin");
	f->ends += !strcmp(p->name, "range_end");
	f->marks += !strcmp(p->name, "mark");
	if (strcmp(p->name, "counter") != 0)
		return 0;
	f->counters++;
	cr_expect(usdt__register(p->args, 2, &slot) && slot == 2, "%s", p->args);
	cr_expect_not(usdt__register(p->args, 3, &slot));
	return 0;
}

Test(usdt, probes_of_the_header_are_found)
{
	struct found f = {0};
	struct elf_file *elf;

	marks();
	cr_assert_eq(elf_file__open("/proc/self/exe", &elf), 0);
	cr_expect_eq(usdt__each_of(elf, count, &f), 0);
	elf_file__close(elf);
	cr_expect(f.frames == 1 && f.counters == 2 && f.marks == 1 && f.ends == 1);
}

static int stop(const struct usdt_probe *p, void *ctx)
{
	return 7;
}

Test(usdt, a_callback_may_stop)
{
	struct elf_file *elf;

	cr_assert_eq(elf_file__open("/proc/self/exe", &elf), 0);
	cr_expect_eq(usdt__each_of(elf, stop, NULL), 7);
	elf_file__close(elf);
}

/* ---- by hand ---- */

static size_t note(uint8_t *out, uint64_t pc, uint64_t base, uint64_t semaphore, const char *texts,
		   size_t len)
{
	const uint32_t head[] = {8, (uint32_t)(24 + len), 3};
	const uint64_t words[] = {pc, base, semaphore};

	memset(out, 0, 44 + len + 3);
	memcpy(out, head, sizeof(head));
	memcpy(out + 12, "stapsdt", 8);
	memcpy(out + 20, words, sizeof(words));
	memcpy(out + 44, texts, len);
	return (44 + len + 3) & ~(size_t)3;
}

static int keep(const struct usdt_probe *p, void *ctx)
{
	*(struct usdt_probe *)ctx = *p;
	return 0;
}

Test(usdt, prelink_moved_it)
{
	struct usdt_probe p = {0};
	uint8_t bytes[128];
	size_t len = note(bytes, 0x1000, 0x2000, 0x3000,
			  "a\0b\0"
			  "4@%eax",
			  11);

	cr_expect_eq(usdt__each(bytes, len, 0x2100, keep, &p), 0);
	cr_expect(p.vaddr == 0x1100 && p.semaphore == 0x3100);
	cr_expect(!strcmp(p.provider, "a") && !strcmp(p.name, "b") && !strcmp(p.args, "4@%eax"));
	cr_expect_eq(usdt__each(bytes, len, 0, keep, &p), 0);
	cr_expect_eq(p.vaddr, 0x1000);
}

Test(usdt, what_is_damaged_is_passed_over)
{
	struct usdt_probe p = {0};
	uint8_t bytes[256];
	size_t len = note(bytes, 0x1000, 0, 0, "a\0b\0c", 5); /* the last text does not end */

	len += note(bytes + len, 0x1234, 0, 0, "p\0n\0", 5);
	cr_expect_eq(usdt__each(bytes, len, 0, keep, &p), 0);
	cr_expect_eq(p.vaddr, 0x1234);
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *exact = malloc(cut + 1);

		memcpy(exact, bytes, cut);
		cr_expect_eq(usdt__each(exact, cut, 0, keep, &p), 0);
		free(exact);
	}
	memset(bytes, 0xff, 12);
	cr_expect_eq(usdt__each(bytes, len, 0, stop, NULL), 0);
}

Test(usdt, registers)
{
	uint8_t slot = 0;

	cr_expect(usdt__register("8@%rdi -8@%r9", 1, &slot) && slot == 5);
	cr_expect_not(usdt__register("4@%edi", 0, &slot));
	cr_expect_not(usdt__register("8@%rdix", 0, &slot));
	cr_expect_not(usdt__register("8@-8(%rbp)", 0, &slot));
	cr_expect_not(usdt__register("8@%rdi", 1, &slot));
	cr_expect_not(usdt__register("", 0, &slot));
}

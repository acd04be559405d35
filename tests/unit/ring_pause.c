// SPDX-License-Identifier: BSD-2-Clause
/* A callback stops the reading of a ring: what is behind its record stays there. */
#include "capture/ring.h"
#include "ring_feeder.h"

#define PAGE 4096

struct taken {
	char text[64];	/* a letter for each record */
	int at_capital; /* what the callback returns there */
};

static int take(void *ctx, void *data, size_t size)
{
	const struct pt_rec_step *r = data;
	struct taken *t = ctx;
	const char letter = (char)r->step;

	cr_assert_eq(size, sizeof(*r));
	strncat(t->text, &letter, 1);
	return letter >= 'A' && letter <= 'Z' ? t->at_capital : 0;
}

static struct ring_feeder feeder;
static struct taken taken;
static struct ring *ring;

static void begin(void)
{
	const struct ring_limits limits = {PAGE, 4 * PAGE};

	feeder__begin(&feeder);
	taken = (struct taken){.at_capital = RING_PAUSED};
	cr_assert_eq(ring__new(feeder.slot_fd, &limits, take, &taken, &ring), 0);
}

static void end(void)
{
	ring__free(ring);
	feeder__end(&feeder);
}

TestSuite(ring_pause, .init = begin, .fini = end);

static void put(const char *letters)
{
	for (; *letters; letters++)
		feeder__put(&feeder, &(struct pt_rec_step){.step = (uint64_t)*letters});
}

static void expect(int got, int want, const char *text)
{
	cr_expect_eq(got, want, "%d behind \"%s\"", got, taken.text);
	cr_expect_str_eq(taken.text, text);
}

Test(ring_pause, what_is_behind_it_stays)
{
	put("abCdEFg");
	expect(ring__read(ring), RING_PAUSED, "abC");
	expect(ring__go_on(ring), RING_PAUSED, "abCdE");
	expect(ring__go_on(ring), RING_PAUSED, "abCdEF");
	expect(ring__go_on(ring), 0, "abCdEFg");
	expect(ring__read(ring), 0, "abCdEFg");
}

Test(ring_pause, what_comes_meanwhile_is_read_in_the_next_turn)
{
	put("Ab");
	expect(ring__read(ring), RING_PAUSED, "A");
	put("c");
	expect(ring__go_on(ring), 0, "Ab");
	expect(ring__read(ring), 0, "Abc");
	put("D");
	expect(ring__read(ring), RING_PAUSED, "AbcD");
	put("e");
	expect(ring__go_on(ring), 0, "AbcD");
	expect(ring__read(ring), 0, "AbcDe");
}

Test(ring_pause, an_exchanged_ring_is_read_to_its_end_first)
{
	put("aBcDe");
	expect(ring__resize(ring, 2 * PAGE), RING_PAUSED, "aB");
	cr_expect_eq(ring__bytes(ring), 2 * PAGE);
	put("f");
	expect(ring__go_on(ring), RING_PAUSED, "aBcD");
	expect(ring__go_on(ring), 0, "aBcDe");
	expect(ring__read(ring), 0, "aBcDef");
}

/* As after an error, or where no one has gone on. */
Test(ring_pause, any_reading_begins_with_what_is_oldest)
{
	put("aBcDe");
	expect(ring__resize(ring, 2 * PAGE), RING_PAUSED, "aB");
	put("f");
	expect(ring__read(ring), RING_PAUSED, "aBcD");
	expect(ring__resize(ring, 4 * PAGE), 0, "aBcDef");
	cr_expect_eq(ring__bytes(ring), 4 * PAGE);
	put("g");
	expect(ring__read(ring), 0, "aBcDefg");
}

Test(ring_pause, an_error_ends_reading_behind_its_record)
{
	taken.at_capital = -EIO;
	put("aBc");
	expect(ring__read(ring), -EIO, "aB");
	expect(ring__read(ring), 0, "aBc");
}

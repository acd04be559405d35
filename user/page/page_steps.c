// SPDX-License-Identifier: BSD-2-Clause
/* All steps, or groups of them if there are many; and which steps have a timeline. */
#include <string.h>
#include "analysis/step_parts.h"
#include "common/err.h"
#include "page/message_table.h"
#include "common/util.h"
#include "page/page_internal.h"

int page_steps__visit(struct page_steps *s, const struct batch *b)
{
	return b->step ? ARRAY_PUSH(s->items, s->cnt, s->cap, *b->step) : 0;
}

static int by_time(const void *x, const void *y)
{
	const struct step *p = *(const struct step *const *)x, *q = *(const struct step *const *)y;

	if (p->cpu_ns != q->cpu_ns)
		return p->cpu_ns < q->cpu_ns ? -1 : 1;
	return p < q ? -1 : p > q;
}

/* Sorted, the shortest first. NULL: out of memory. */
static const struct step **sorted(const struct page_steps *s)
{
	const struct step **order = calloc(s->cnt + 1, sizeof(*order));

	for (size_t i = 0; order && i < s->cnt; i++)
		order[i] = &s->items[i];
	if (order && s->cnt)
		qsort(order, s->cnt, sizeof(*order), by_time);
	return order;
}

static void choose(const struct page_steps *s, const struct step *step, const char *why,
		   struct chosen_step *out, int *cnt)
{
	const size_t ordinal = (size_t)(step - s->items);

	for (int i = 0; i < *cnt; i++)
		if (out[i].ordinal == ordinal) {
			const size_t len = strlen(out[i].why);

			snprintf(out[i].why + len, sizeof(out[i].why) - len, ", %s", why);
			return;
		}
	out[*cnt].ordinal = ordinal;
	snprintf(out[*cnt].why, sizeof(out[*cnt].why), "%s", why);
	(*cnt)++;
}

static int choose_wanted(const struct page_steps *s, uint64_t wanted, struct chosen_step *out,
			 int *cnt)
{
	for (size_t i = 0; i < s->cnt && !*cnt; i++)
		if (s->items[i].index == wanted)
			choose(s, &s->items[i], "chosen", out, cnt);
	if (*cnt)
		return 0;
	if (!s->cnt)
		return err__set(-EINVAL, MESSAGE_PAGE_STEPS_MISSING, (unsigned long long)wanted);
	return err__set(-EINVAL, MESSAGE_PAGE_STEP_NOT_RECORDED, (unsigned long long)wanted,
			(unsigned long long)s->items[0].index,
			(unsigned long long)s->items[s->cnt - 1].index);
}

int page_steps__choose(const struct page_steps *s, const uint64_t *wanted,
		       struct chosen_step out[TIMELINES_MAX])
{
	auto_free const struct step **order = sorted(s);
	int cnt = 0, err;

	if (!order)
		return -ENOMEM;
	err = wanted ? choose_wanted(s, *wanted, out, &cnt) : 0;
	if (err)
		return err;
	if (!s->cnt)
		return 0;
	choose(s, order[s->cnt - 1], "slowest", out, &cnt);
	choose(s, order[(s->cnt - 1) / 2], "median", out, &cnt);
	choose(s, &s->items[0], "first", out, &cnt);
	return cnt;
}

/* An unknown part is merged with the rest of the step, which comes last. */
static bool has_own_bar(const struct page_steps *s, size_t part)
{
	return !s->timer_only || step_part__is_timed(part);
}

/* ..., mean ns of each phase ...] */
static void write_parts(const struct page_steps *s, const uint64_t *sums, size_t cnt,
			struct text_file *out)
{
	uint64_t rest = 0;

	for (size_t p = 0; p < STEP_PARTS; p++)
		if (has_own_bar(s, p))
			text_file__print(out, ",%llu", (unsigned long long)(sums[p] / cnt));
		else
			rest += sums[p];
	if (s->timer_only)
		text_file__print(out, ",%llu", (unsigned long long)(rest / cnt));
	text_file__put(out, "]", 1);
}

static void write_titles(const struct page_steps *s, struct text_file *out)
{
	const char *comma = "";

	for (size_t p = 0; p < STEP_PARTS; p++) {
		if (!has_own_bar(s, p))
			continue;
		text_file__print(out, "%s\"%s\"", comma, step_parts[p].title);
		comma = ",";
	}
	if (s->timer_only)
		text_file__print(out, "%s\"%s\"", comma, PHASE_UNRECORDED);
}

/* One bar: [first index, steps, mean ns, longest ns, slow ones, mean ns of each phase ...] */
static void write_bar(const struct page_steps *s, const struct step *steps, size_t cnt,
		      uint64_t median, struct text_file *out)
{
	uint64_t sum = 0, max = 0, slow = 0, phase_sums[STEP_PARTS] = {0};
	size_t i = 0;

	do {
		sum += steps[i].cpu_ns;
		max = steps[i].cpu_ns > max ? steps[i].cpu_ns : max;
		slow += (double)steps[i].cpu_ns > STEP_SLOW * (double)median;
		for (size_t p = 0; p < STEP_PARTS; p++)
			phase_sums[p] += steps[i].phase_ns[step_parts[p].kind];
	} while (++i < cnt);
	text_file__print(out, "[%llu,%zu,%llu,%llu,%llu", (unsigned long long)steps[0].index, cnt,
			 (unsigned long long)(sum / cnt), (unsigned long long)max,
			 (unsigned long long)slow);
	write_parts(s, phase_sums, cnt, out);
}

int page_steps__write(const struct page_steps *s, struct text_file *out)
{
	const size_t group = (s->cnt + BARS_MAX - 1) / BARS_MAX;
	uint64_t median;
	int err = steps__median(s->items, s->cnt, STEP_WHOLE, &median);

	if (err)
		return err;
	text_file__print(out,
			 "{\"cnt\":%zu,\"group\":%zu,\"median_ns\":%llu,\"slow\":%.1f,\"phases\":[",
			 s->cnt, group, (unsigned long long)median, STEP_SLOW);
	write_titles(s, out);
	text_file__print(out, "],\"bars\":[");
	for (size_t i = 0; i < s->cnt; i += group) {
		text_file__put(out, ",\n", i ? 2 : 0);
		write_bar(s, &s->items[i], s->cnt - i < group ? s->cnt - i : group, median, out);
	}
	text_file__print(out, "]}");
	return 0;
}

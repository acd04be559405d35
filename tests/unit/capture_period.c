// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/pass_mark.h"
#include "capture/steps/period.h"
#include <criterion/criterion.h>
#include <string.h>

static struct step_period iteration(struct step_call *calls, size_t cnt)
{
	return steps__period(calls, cnt, STEP_UNIT_ITERATION);
}

/* Calls of `rows`, `times` over, with a pause before each repetition. */
static size_t repeat(struct step_call *out, const uint32_t *rows, size_t row_cnt, size_t times)
{
	uint64_t now = 1000;
	size_t cnt = 0;

	for (size_t t = 0; t < times; t++) {
		now += 5000;
		for (size_t i = 0; i < row_cnt; i++, now += 110)
			out[cnt++] = (struct step_call){rows[i], 1, now, now + 100};
	}
	return cnt;
}

Test(period, the_period_opens_after_the_pause)
{
	const uint32_t rows[] = {7, 3, 3, 9, 4};
	struct step_call calls[100];

	cr_expect_eq(iteration(calls, repeat(calls, rows, 5, 10)).op, 7);
}

Test(period, a_row_that_comes_twice_a_period_does_not_open_it)
{
	const uint32_t rows[] = {3, 3, 9, 3};
	struct step_call calls[100];

	cr_expect_eq(iteration(calls, repeat(calls, rows, 4, 10)).op, 9);
}

Test(period, no_period_in_noise)
{
	struct step_call calls[200];
	uint32_t x = 12345;

	for (size_t i = 0; i < 200; i++) {
		x = x * 1103515245 + 12345;
		calls[i] = (struct step_call){1 + (x >> 16) % 5, 1, i * 100, i * 100 + 50};
	}
	cr_expect_eq(iteration(calls, 200).op, 0);
}

Test(period, three_repetitions_are_not_enough)
{
	const uint32_t rows[] = {1, 2, 3};
	struct step_call calls[16];

	cr_expect_eq(iteration(calls, repeat(calls, rows, 3, 3)).op, 0);
}

/* Requests of a server, each after a pause: rows that end with 0. */
static size_t requests(struct step_call *calls, const uint32_t *const kinds[], const int *turns,
		       size_t cnt)
{
	uint64_t now = 1000;
	size_t n = 0;

	for (size_t i = 0; i < cnt; i++) {
		now += 5000;
		for (const uint32_t *row = kinds[turns[i]]; *row; row++, now += 110)
			calls[n++] = (struct step_call){*row, 1, now, now + 100};
	}
	return n;
}

static const uint32_t linear[] = {1, 2, 3, 2, 0}, conv[] = {1, 4, 5, 4, 6, 0};
static const uint32_t *const kinds[] = {linear, conv};

Test(period, what_opens_each_of_two_requests_in_turn_is_told)
{
	const int turns[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1};
	struct step_call calls[100];
	struct step_period period = iteration(calls, requests(calls, kinds, turns, 16));

	cr_expect_neq(period.op, 0);
	cr_expect_neq(period.op, 1);
	cr_expect_eq(period.pausing, 1);
	cr_expect_eq(period.pausing_cnt, 2);
}

Test(period, what_opens_requests_in_no_order_is_told)
{
	const int turns[] = {0, 1, 1, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1};
	struct step_call calls[100];
	struct step_period period = iteration(calls, requests(calls, kinds, turns, 16));

	cr_expect_eq(period.op, 0);
	cr_expect_eq(period.pausing, 1);
	cr_expect_eq(period.pausing_cnt, 0);
}

Test(period, nothing_but_the_step_itself_pauses_in_a_plain_loop)
{
	const uint32_t rows[] = {7, 3, 3, 9, 3};
	const int turns[16] = {0};
	struct step_call calls[100];

	cr_expect_eq(iteration(calls, requests(calls, kinds, turns, 16)).pausing, 0);
	cr_expect_eq(iteration(calls, repeat(calls, rows, 5, 10)).pausing, 0);
}

Test(period, layers_of_one_kind_are_not_requests)
{
	static const uint32_t layers[] = {1, 1, 1, 1, 1, 1, 2, 0};
	const uint32_t *const one_kind[] = {layers};
	const int turns[16] = {0};
	struct step_call calls[200];
	struct step_period period = iteration(calls, requests(calls, one_kind, turns, 16));

	cr_expect_eq(period.op, 2);
	cr_expect_eq(period.pausing, 0);
}

Test(period, many_layers_of_one_kind_are_no_steps)
{
	static const uint32_t layers[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 0};
	const uint32_t *const one_kind[] = {layers};
	const int turns[16] = {0};
	struct step_call calls[300];
	size_t cnt = requests(calls, one_kind, turns, 16);

	cr_expect_eq(iteration(calls, cnt).op, 2);
	/* A tight loop, in which Python needs the most time between the layers. */
	for (size_t i = 0; i < cnt; i++)
		calls[i].end_ns = calls[i].ts_ns = 1000 * i;
	for (size_t i = 0; i < cnt; i++)
		calls[i].end_ns += calls[i].op == 1 ? 500 : 200;
	for (size_t i = 1; i < cnt; i++)
		if (calls[i].op == 2)
			calls[i].ts_ns -= 300;
	cr_expect_eq(iteration(calls, cnt).op, 2);
}

Test(period, requests_that_are_logged_now_and_then_stay_steps)
{
	const int turns[60] = {[11] = 1, [23] = 1, [35] = 1, [47] = 1, [59] = 1};
	static const uint32_t request[] = {1, 2, 3, 0}, logged[] = {1, 2, 3, 4, 0};
	const uint32_t *const either[] = {request, logged};
	struct step_call calls[300];

	cr_expect_eq(iteration(calls, requests(calls, either, turns, 60)).op, 1);
}

/* Spans arrive in order of their end, so inner spans come first. */
Test(period, the_period_opens_at_the_outermost_operator)
{
	struct step_call calls[60];
	size_t cnt = 0;

	for (uint64_t now = 1000; cnt < 60; now += 5000) {
		calls[cnt++] = (struct step_call){5, 1, now + 10, now + 20};
		calls[cnt++] = (struct step_call){6, 1, now + 5, now + 80};
		calls[cnt++] = (struct step_call){7, 1, now, now + 1000};
	}
	cr_expect_eq(iteration(calls, cnt).op, 7);
}

Test(period, the_busiest_thread_makes_the_period)
{
	const uint32_t rows[] = {7, 3, 9};
	struct step_call calls[60];
	size_t cnt = repeat(calls, rows, 3, 10);
	struct step_period period;

	for (size_t i = 0; i < 20; i++, cnt++)
		calls[cnt] =
			(struct step_call){20 + (uint32_t)i % 2, 2, 900 + i * 333, 950 + i * 333};
	period = iteration(calls, cnt);
	cr_expect_eq(period.op, 7);
	cr_expect_eq(period.tid, 1);
}

/* ---- programs that make tokens ---- */

enum op {
	NO_OP,
	LOOKUP,
	CHOICE,
	PROMPT, /* opens a request */
	MASK,	/* in a request's first pass */
	ANSWER, /* ends a request */
	APPEND, /* before a pass */
	NORM,
	LINEAR,
	ATTENTION,
	GELU,
};

/* Answers requests, each by passes over a model of layers. */
struct program {
	unsigned int layers, least, most; /* passes of a request */
	unsigned int lookups, choices;	  /* of a pass */
	bool mask, no_prompt;
	uint64_t pause_ns; /* before a request */
	uint64_t wait_ns;  /* before a pass */
	uint64_t stall_ns; /* once, before the answer to the fourth request */
};

struct made {
	struct step_call *calls;
	size_t cnt, room;
	uint64_t now;
	uint32_t random;
	size_t second; /* index of the second request's first call */
	unsigned int requests;
};

static uint32_t draw(struct made *m)
{
	m->random = m->random * 1103515245 + 12345;
	return m->random >> 16;
}

static void make(struct made *m, enum op op)
{
	const uint8_t mark = op == LOOKUP ? PASS_LOOKUP : op == CHOICE ? PASS_ARGMAX : PASS_NONE;

	m->now += 10 + draw(m) % 20;
	if (m->cnt < m->room)
		m->calls[m->cnt++] = (struct step_call){op, 1, m->now, m->now + 100, mark};
	m->now += 100;
}

static void make_pass(struct made *m, const struct program *p, bool first)
{
	static const enum op layer[] = {NORM,	LINEAR, LINEAR, LINEAR, ATTENTION,
					LINEAR, NORM,	LINEAR, GELU,	LINEAR};

	m->now += p->wait_ns;
	make(m, APPEND);
	for (unsigned int i = 0; i < p->lookups; i++)
		make(m, LOOKUP);
	if (first && p->mask)
		make(m, MASK);
	for (unsigned int i = 0; i < p->layers; i++)
		for (size_t n = 0; n < sizeof(layer) / sizeof(layer[0]); n++)
			make(m, layer[n]);
	make(m, NORM);
	make(m, LINEAR);
	for (unsigned int i = 0; i < p->choices; i++)
		make(m, CHOICE);
}

static void make_request(struct made *m, const struct program *p)
{
	const unsigned int passes = p->least + draw(m) % (p->most - p->least + 1);

	m->now += p->pause_ns;
	if (!p->no_prompt)
		make(m, PROMPT);
	for (unsigned int i = 0; i < passes; i++)
		make_pass(m, p, !i);
	m->requests++;
	if (m->requests == 4)
		m->now += p->stall_ns;
	if (!p->no_prompt)
		make(m, ANSWER);
}

#define ROOM 30000

static const struct made *made(const struct program *p)
{
	static struct step_call calls[ROOM];
	static struct made m;

	m = (struct made){.calls = calls, .room = ROOM, .random = 7};
	while (m.cnt < m.room) {
		make_request(&m, p);
		m.second = m.second ? m.second : m.cnt;
	}
	return &m;
}

/* Returns the opener, wherever the window of `cnt` calls begins within two requests. 0 if it is not
 * always the same operator. */
static uint32_t opener(const struct program *p, size_t cnt, enum step_unit unit)
{
	static struct step_call window[ROOM];
	const struct made *m = made(p);
	uint32_t op = 0;

	for (size_t from = 0; from < 2 * m->second && from + cnt <= m->cnt;
	     from += 1 + m->second / 31) {
		struct step_period period;

		memcpy(window, m->calls + from, cnt * sizeof(*window));
		period = steps__period(window, cnt, unit);
		if (from && period.op != op)
			return 0;
		op = period.op;
	}
	return op;
}

static const size_t windows[] = {800, 2000, 5000, 12000};
#define EACH_WINDOW(w) for (size_t w = 0; w < sizeof(windows) / sizeof(windows[0]); w++)

Test(period, a_token_is_a_step_wherever_the_window_begins)
{
	for (unsigned int most = 8; most <= 128; most *= 4)
		for (unsigned int least = most; least >= most / 8; least /= 8)
			EACH_WINDOW(w)
			{
				const struct program p = {.layers = 2,
							  .least = least,
							  .most = most,
							  .lookups = 1,
							  .choices = 1,
							  .mask = w % 2,
							  .pause_ns = w > 1 ? 3000000 : 0};

				cr_expect_eq(opener(&p, windows[w], STEP_UNIT_ITERATION), LOOKUP,
					     "%u to %u tokens, %zu calls", least, most, windows[w]);
			}
}

Test(period, one_long_pause_opens_no_request)
{
	const struct program p = {.layers = 2,
				  .least = 16,
				  .most = 16,
				  .lookups = 1,
				  .choices = 1,
				  .pause_ns = 3000000,
				  .stall_ns = 2000000000};

	cr_expect_eq(opener(&p, 5000, STEP_UNIT_REQUEST), PROMPT);
	cr_expect_eq(opener(&p, 5000, STEP_UNIT_ITERATION), LOOKUP);
}

Test(period, a_token_is_a_step_of_a_model_with_many_layers)
{
	const struct program p = {.layers = 32, .least = 4, .most = 4, .lookups = 1, .choices = 1};

	EACH_WINDOW(w)
	if (windows[w] > 1500)
		cr_expect_eq(opener(&p, windows[w], STEP_UNIT_ITERATION), LOOKUP);
}

Test(period, tokens_of_several_sequences_are_one_step)
{
	const struct program p = {.layers = 2, .least = 5, .most = 40, .lookups = 1, .choices = 8};

	EACH_WINDOW(w)
	cr_expect_eq(opener(&p, windows[w], STEP_UNIT_ITERATION), LOOKUP);
}

Test(period, of_several_lookups_a_pass_the_choice_is_the_step)
{
	struct program p = {.layers = 2, .least = 5, .most = 40, .lookups = 2, .choices = 1};

	EACH_WINDOW(w)
	cr_expect_eq(opener(&p, windows[w], STEP_UNIT_ITERATION), CHOICE);
	/* The program waits for each pass, as a server waits for a client that reads its tokens. */
	p.wait_ns = 1000000;
	EACH_WINDOW(w)
	cr_expect_eq(opener(&p, windows[w], STEP_UNIT_ITERATION), APPEND);
}

Test(period, of_several_lookups_and_choices_a_pass_what_comes_once_is_the_step)
{
	const struct program p = {.layers = 2, .least = 5, .most = 40, .lookups = 2, .choices = 2};

	EACH_WINDOW(w)
	cr_expect_eq(opener(&p, windows[w], STEP_UNIT_ITERATION), APPEND);
}

Test(period, a_pass_of_many_layers_is_a_step_without_its_marks)
{
	const struct program fixed = {.layers = 12, .least = 6, .most = 6},
			     varying = {.layers = 12, .least = 6, .most = 20};

	cr_expect_neq(opener(&fixed, 2000, STEP_UNIT_ITERATION), 0);
	EACH_WINDOW(w)
	{
		struct program p = w % 2 ? fixed : varying;

		p.wait_ns = 2000; /* Python has more to do there than between layers */
		if (windows[w] > 1500)
			cr_expect_eq(opener(&p, windows[w], STEP_UNIT_ITERATION), APPEND);
	}
}

Test(period, layers_of_an_encoder_are_no_steps)
{
	EACH_WINDOW(w)
	for (unsigned int layers = 12; layers <= 48; layers *= 2)
		for (unsigned int lookups = 0; lookups <= 3; lookups++)
			for (unsigned int choices = 0; choices <= 1; choices++) {
				const struct program p = {.layers = layers,
							  .least = 1,
							  .most = 1,
							  .lookups = lookups,
							  .choices = choices,
							  .pause_ns = w % 2 ? 5000 : 0};
				const struct made *m = made(&p);
				static struct step_call window[ROOM];

				for (size_t from = 0; from < m->second; from += 17) {
					uint32_t op;

					memcpy(window, m->calls + from,
					       windows[w] * sizeof(*window));
					op = steps__period(window, windows[w], STEP_UNIT_ITERATION)
						     .op;
					cr_assert(op < NORM,
						  "%u layers, %u lookups, %zu calls from %zu: %u",
						  layers, lookups, windows[w], from, op);
				}
			}
}

Test(period, requests_can_be_chosen)
{
	EACH_WINDOW(w)
	{
		struct program p = {.layers = 1,
				    .least = 4,
				    .most = w % 2 ? 4 : 12,
				    .lookups = 1,
				    .choices = 1,
				    .mask = true};

		if (windows[w] < 2000)
			continue;
		/* The end of a request is followed at once by the next one. */
		cr_expect_eq(opener(&p, windows[w], STEP_UNIT_REQUEST), ANSWER);
		p.pause_ns = 3000000;
		cr_expect_eq(opener(&p, windows[w], STEP_UNIT_REQUEST), PROMPT);
		p.wait_ns = 100000;
		cr_expect_neq(opener(&p, windows[w], STEP_UNIT_REQUEST), 0);
	}
}

Test(period, requests_that_no_operator_opens_are_not_found)
{
	const struct program p = {
		.layers = 1, .least = 4, .most = 12, .lookups = 1, .choices = 1, .no_prompt = true};

	cr_expect_eq(opener(&p, 5000, STEP_UNIT_REQUEST), 0);
}

Test(period, a_request_of_one_pass_is_one_where_requests_are_chosen)
{
	struct program p = {.layers = 2, .least = 1, .most = 1, .pause_ns = 100000};

	cr_expect_eq(opener(&p, 2000, STEP_UNIT_REQUEST), PROMPT);
	p.layers = 12;
	cr_expect_eq(opener(&p, 2000, STEP_UNIT_REQUEST), PROMPT);
}

Test(period, marks_are_whole_words_of_names)
{
	cr_expect_eq(pass_mark__of("aten::embedding"), PASS_LOOKUP);
	cr_expect_eq(pass_mark__of("embedding dygraph"), PASS_LOOKUP);
	cr_expect_eq(pass_mark__of("Embedding"), PASS_LOOKUP);
	cr_expect_eq(pass_mark__of("aten::argmax.out"), PASS_ARGMAX);
	cr_expect_eq(pass_mark__of("aten::multinomial"), PASS_SAMPLING);
	cr_expect_eq(pass_mark__of("aten::embedding_dense_backward"), PASS_NONE);
	cr_expect_eq(pass_mark__of("position_embedding_type"), PASS_NONE);
	cr_expect_eq(pass_mark__of("aten::linear"), PASS_NONE);
	cr_expect_eq(pass_mark__of(""), PASS_NONE);
}

/* Takes `looks` short logs of `cnt` calls each, spread over the program's run. */
static uint32_t opener_of_looks(const struct program *p, size_t looks, size_t cnt,
				enum step_unit unit)
{
	static struct step_call calls[ROOM];
	const struct made *m = made(p);
	uint64_t now = 0;

	for (size_t i = 0; i < looks; i++) {
		const struct step_call *look = m->calls + i * (m->cnt / looks);

		for (size_t n = 0; n < cnt; n++) {
			struct step_call *call = &calls[i * cnt + n];

			*call = look[n];
			call->ts_ns = look[n].ts_ns - look[0].ts_ns + now;
			call->end_ns = look[n].end_ns - look[0].ts_ns + now;
		}
		now = calls[(i + 1) * cnt - 1].end_ns;
	}
	return steps__period_of_looks(calls, looks * cnt, unit).op;
}

Test(period, passes_of_a_slow_model_are_found_in_several_looks)
{
	const struct program tokens = {
		.layers = 32, .least = 10, .most = 30, .lookups = 1, .choices = 1};
	const struct program images = {.layers = 32, .least = 1, .most = 1};

	for (size_t cnt = 150; cnt < 1000; cnt += 50) {
		cr_expect_eq(opener_of_looks(&tokens, 20, cnt, STEP_UNIT_ITERATION), LOOKUP);
		cr_expect_eq(opener_of_looks(&images, 20, cnt, STEP_UNIT_ITERATION), 0);
	}
}

Test(period, long_requests_are_found_in_several_looks)
{
	const struct program p = {.layers = 1,
				  .least = 20,
				  .most = 40,
				  .lookups = 1,
				  .choices = 1,
				  .pause_ns = 3000000};

	cr_expect_eq(opener_of_looks(&p, 20, 500, STEP_UNIT_REQUEST), PROMPT);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Stacks of Python in a recording, whose they are, and how they read. */
#include <criterion/criterion.h>
#include <string.h>
#include "common/util.h"
#include "model/call_stack.h"
#include "model_synth.h"

#define SITE "/opt/env/lib/python3.11/site-packages/"

/* <module> at train.py:90 calls step, which calls Linear.forward at `line`. */
static uint32_t stack(struct synth *s, uint32_t line)
{
	struct recording_writer *w = s->w;
	uint32_t id = recording_writer__frame(
		w, 0, recording_writer__code(w, "/job/net/train.py", "<module>", 1), 90);

	id = recording_writer__frame(
		w, id, recording_writer__code(w, "/job/net/train.py", "step", 40), line);
	return recording_writer__frame(
		w, id,
		recording_writer__code(w, SITE "torch/nn/modules/linear.py", "Linear.forward", 133),
		134);
}

static void stacked(struct synth *s, enum span_category cat, const char *name, uint64_t begin,
		    uint64_t end, uint32_t id)
{
	struct event e = synth__event(s, s->main, cat, name, begin, end);

	e.stack = id;
	synth__write(s, &e);
}

static void expect_text(const struct call_stacks *c, uint32_t id, unsigned int depth,
			const char *want)
{
	auto_free char *text = call_stacks__text(c, id, depth, ";", false);

	cr_expect_str_eq(text, want);
}

Test(call_stack, frames_are_those_that_were_written)
{
	struct synth s = synth__new("{}");
	const uint32_t first = stack(&s, 41), second = stack(&s, 42);
	struct recording_cursor *cursor;
	struct event e;

	cr_assert_eq(stack(&s, 41), first);
	cr_expect_eq(second, first + 2, "they share what is outside");
	stacked(&s, CAT_OPERATOR, "aten::a", 10, 20, first);
	stacked(&s, CAT_OPERATOR, "aten::b", 20, 30, 0);
	stacked(&s, CAT_OPERATOR, "aten::c", 30, 40, second);
	synth__open(&s, "{}");
	cr_assert_eq(recording__frame_cnt(s.r), 5);
	cr_expect_eq(recording__frame(s.r, second)->line, 134);
	cr_expect_null(recording__frame(s.r, 6));
	cr_assert_eq(recording_cursor__open(s.r, &cursor), 0);
	for (int i = 0; i < 3; i++) {
		const uint32_t want[] = {first, 0, second};

		cr_assert_eq(recording_cursor__next(cursor, &e), 1);
		cr_expect_eq(e.stack, want[i]);
		cr_expect_eq(e.flags, 0);
	}
	recording_cursor__close(cursor);
	synth__free(&s);
}

Test(call_stack, reads_as_the_profiler_prints_it)
{
	struct synth s = synth__new("{}");
	const uint32_t id = stack(&s, 41);
	uint32_t cut = recording_writer__frame(s.w, 0, 0, 0), unread, text;
	struct call_stacks *c;
	char place[64];

	unread = recording_writer__frame(s.w, cut, recording_writer__code(s.w, "", "", 0), 0);
	text = recording_writer__frame(
		s.w, unread,
		recording_writer__code(s.w, "<string>", "f\xc3\xbcr.<locals>.<lambda>", 1), 2);
	synth__open(&s, "{}");
	cr_assert_eq(call_stacks__open(s.r, &c), 0);
	expect_text(c, id, 0,
		    "torch/nn/modules/linear.py(134): forward;train.py(41): step;"
		    "train.py(90): <module>");
	expect_text(c, id, 1, "torch/nn/modules/linear.py(134): forward");
	expect_text(c, text, 0,
		    "<string>(2): <lambda>;(function not read);(outer frames not read)");
	expect_text(c, 0, 0, "");
	expect_text(c, 99, 0, "");
	cr_assert(call_stacks__place(c, id, place, sizeof(place)));
	cr_expect_str_eq(place, "train.py:41", "the user's line, not the library's");
	cr_assert(call_stacks__place(c, text, place, sizeof(place)));
	cr_expect_str_eq(place, "<string>:2");
	cr_expect_not(call_stacks__place(c, cut, place, sizeof(place)));
	cr_expect_str_eq(call_stacks__path(c, "/usr/lib/python3.11/json/decoder.py"),
			 "json/decoder.py");
	cr_expect_str_eq(call_stacks__path(c, "/job/network/x.py"), "/job/network/x.py");
	call_stacks__free(c);
	synth__free(&s);
}

Test(call_stack, a_recording_without_has_none)
{
	struct synth s = synth__new("{}");
	struct call_stacks *c;

	synth__span(&s, s.main, CAT_OPERATOR, "aten::a", 10, 20);
	synth__open(&s, "{}");
	cr_assert_eq(call_stacks__open(s.r, &c), 0);
	cr_expect_null(c);
	expect_text(c, 1, 0, "");
	synth__free(&s);
}

struct lines {
	const struct recording *r;
	FILE *out;
};

static int note_lines(const struct batch *b, void *ctx)
{
	const struct lines *l = ctx;

	for (size_t i = 0; i < b->track_cnt; i++)
		for (const struct span *root = b->tracks[i].roots; root; root = root->next_sibling)
			for (const struct span *p = root; p; p = span__next(p, root)) {
				const struct code_frame *f =
					recording__frame(l->r, span__stack(l->r, p));

				f = f ? recording__frame(l->r, f->parent) : NULL;
				fprintf(l->out, "%s %u\n", span__name(l->r, p), f ? f->line : 0);
			}
	return 0;
}

/* Inside an operator, and what its calls launched: from its line. Not so what is in a range. */
Test(call_stack, is_inherited_from_the_operator)
{
	struct synth s = synth__new("{}");
	const uint32_t in_41 = stack(&s, 41), in_42 = stack(&s, 42), in_43 = stack(&s, 43);
	uint32_t stream = synth__stream(&s, 0, 7);
	static const char want[] = "range 42\n"
				   "aten::linear 41\n"
				   "aten::addmm 41\n"
				   "launch 41\n"
				   "unseen 0\n"
				   "backward 43\n"
				   "Node0 0\n"
				   "aten::mm 0\n"
				   "kernel 41\n";
	char got[1024] = "";
	struct lines lines;
	struct event e;

	synth__launch(&s, s.main, 5, 130, 140);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::addmm", 120, 150);
	stacked(&s, CAT_OPERATOR, "aten::linear", 110, 160, in_41);
	synth__span(&s, s.main, CAT_OPERATOR, "unseen", 165, 170);
	stacked(&s, CAT_USER, "range", 100, 200, in_42);
	synth__span(&s, s.main, CAT_OPERATOR, "aten::mm", 220, 230);
	e = synth__event(&s, s.main, CAT_BACKWARD_NODE, "Node0", 215, 235);
	e.id = 9;
	synth__write(&s, &e);
	stacked(&s, CAT_BACKWARD, "backward", 210, 240, in_43);
	synth__kernel(&s, stream, CAT_KERNEL, "kernel", 5, 150, 180);
	synth__open(&s, "{}");
	lines = (struct lines){s.r, fmemopen(got, sizeof(got), "w")};
	cr_assert_not_null(lines.out);
	cr_expect_eq(model__run(s.r, NULL, note_lines, &lines), 0);
	fclose(lines.out);
	cr_expect_str_eq(got, want);
	synth__free(&s);
}

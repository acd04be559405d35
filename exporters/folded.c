// SPDX-License-Identifier: BSD-2-Clause
/*
 * Folded stacks for flamegraph.pl, inferno, speedscope and similar tools: one line per stack,
 * `thread;phase;operator;operator NANOSECONDS`. The number is self time on the host's threads, or
 * on devices.
 */
#include <string.h>
#include "common/counted.h"
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/util.h"
#include "exporters/parts/event_text.h"
#include "exporters/parts/facts.h"
#include "exporters/exporters.h"
#include "exporters/parts/output.h"
#include "exporters/parts/stacks.h"
#include "exporters/parts/text_file.h"

/* Line ends and semicolons have a meaning in the format, so they are replaced. */
static char *clean(const char *text)
{
	char *copy = strdup(text);

	for (char *c = copy; c && *c; c++)
		*c = *c == ';' ? ':' : (unsigned char)*c < ' ' ? ' ' : *c;
	return copy;
}

struct folded {
	const struct stacks *stacks;
	struct text_file *out;
	char **frames; /* cleaned text, by frame */
	uint32_t frame_cnt;
};

static char *frame_text(const struct stacks *s, uint32_t frame)
{
	const struct track *t = recording__track(s->r, stacks__track(s, frame));
	char label[128];

	if (t)
		track__label(t, label, sizeof(label));
	return clean(t ? label : stacks__text(s, frame));
}

static int make_frames(struct folded *f)
{
	const struct stacks *s = f->stacks;

	f->frame_cnt = s->frame_max;
	f->frames = calloc((size_t)f->frame_cnt + 1, sizeof(*f->frames));
	if (!f->frames)
		return -ENOMEM;
	for (size_t i = 1; i < s->cnt; i++) {
		const uint32_t frame = s->nodes[i].frame;

		if (!f->frames[frame])
			f->frames[frame] = frame_text(s, frame);
		if (!f->frames[frame])
			return -ENOMEM;
	}
	return 0;
}

static void put_stack(struct folded *f, uint32_t node)
{
	const struct stack_node *n = &f->stacks->nodes[node];

	if (n->parent) {
		put_stack(f, n->parent);
		text_file__put(f->out, ";", 1);
	}
	text_file__put(f->out, f->frames[n->frame], strlen(f->frames[n->frame]));
}

static int put_lines(struct folded *f, bool device)
{
	const struct stacks *s = f->stacks;
	int err = make_frames(f);

	for (uint32_t i = 1; i < s->cnt && !err; i++) {
		const uint64_t ns = device ? s->nodes[i].device_ns : s->nodes[i].self_ns;

		if (!ns)
			continue;
		put_stack(f, i);
		text_file__print(f->out, " %llu\n", (unsigned long long)ns);
		err = text_file__error(f->out);
	}
	for (uint32_t i = 0; f->frames && i <= f->frame_cnt; i++)
		free(f->frames[i]);
	free(f->frames);
	return err;
}

static void warn_unprobed(const struct recording *r)
{
	const struct unprobed_sum sum = facts__unprobed_sum(r);
	const struct counted operators = counted(sum.cnt, "operator", "operators");

	if (sum.by_time)
		log__warn(MESSAGE_OPERATORS_UNPROBED_IN_WINDOW, operators.s, sum.ms);
	else
		log__warn(MESSAGE_OPERATORS_UNPROBED_IN_STEP, operators.s, sum.ms);
}

/* A stack with time 0 keeps the sums correct. The format has no comments. */
static int put_unprobed(struct folded *f)
{
	auto_free char *text = facts__unprobed(f->stacks->r);
	auto_free char *line = text ? clean(text) : NULL;

	if (!line)
		return -ENOMEM;
	if (!*line)
		return 0;
	text_file__print(f->out, "(%s) 0\n", line);
	warn_unprobed(f->stacks->r);
	return text_file__error(f->out);
}

static int folded__write(const struct stacks *s, bool device, int level,
			 struct export_result *result)
{
	struct folded f = {.stacks = s};
	int err = text_file__open(result->path, level, &f.out);

	if (err)
		return err;
	err = device ? 0 : put_unprobed(&f);
	if (!err)
		err = put_lines(&f, device);
	result->events = s->spans;
	return text_file__end(f.out, err, &result->bytes);
}

static void warn_empty(const struct stacks *s, bool device)
{
	for (size_t i = 1; i < s->cnt; i++)
		if (device ? s->nodes[i].device_ns : s->nodes[i].self_ns)
			return;
	if (device)
		log__warn(MESSAGE_FOLDED_DEVICE_EMPTY);
	else
		log__warn(MESSAGE_FOLDED_EMPTY);
}

static int folded__run(const struct recording *r, const struct export_opts *opts,
		       struct export_result *result)
{
	const bool device = opts->dialect && !strcmp(opts->dialect, "device");
	struct stacks s;
	int err, level;

	if (opts->dialect && !device && strcmp(opts->dialect, "cpu"))
		return err__set(-EINVAL, MESSAGE_FOLDED_DIALECT_UNKNOWN, opts->dialect);
	*result = (struct export_result){0};
	err = output__choose(r, opts, device ? ".device.folded" : ".folded", 0, &level, result);
	if (err)
		return err;
	err = stacks__collect(r, true, false, &s);
	if (err)
		return err;
	err = folded__write(&s, device, level, result);
	if (!err)
		warn_empty(&s, device);
	if (!err && s.cut)
		log__warn(MESSAGE_STACKS_LIMITED, counted(s.cut, "span", "spans").s);
	stacks__free(&s);
	return err;
}

const struct exporter exporter_folded = {
	.name = "folded",
	.summary = "folded stacks by thread, phase and operator, ns, for flamegraph.pl",
	.dialects = "cpu (default) or device: time of kernels and copies",
	.run = folded__run,
};

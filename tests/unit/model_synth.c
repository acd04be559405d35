// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/util.h"
#include "model_synth.h"
#include "recording_sample.h"

struct synth synth__new(const char *meta_text)
{
	struct synth s = {.path = sample__path()};
	json_t *meta = json_loads(meta_text, 0, NULL);

	cr_assert_not_null(meta);
	cr_assert_eq(recording_writer__create(s.path, meta, &s.w), 0);
	json_decref(meta);
	s.main = synth__thread(&s, 100, 100, "main");
	s.other = synth__thread(&s, 100, 101, "other");
	return s;
}

uint32_t synth__thread(struct synth *s, uint32_t pid, uint32_t tid, const char *name)
{
	const struct track t = {.kind = TRACK_THREAD, .pid = pid, .tid = tid, .name = name};

	return recording_writer__track(s->w, &t);
}

uint32_t synth__stream(struct synth *s, int device, int64_t stream)
{
	const struct track t = {
		.kind = TRACK_DEVICE, .pid = 100, .device = device, .stream = stream};

	return recording_writer__track(s->w, &t);
}

struct event synth__event(struct synth *s, uint32_t track, enum span_category cat, const char *name,
			  uint64_t begin, uint64_t end)
{
	return (struct event){
		.ts_ns = begin,
		.dur_ns = end - begin,
		.id = EVENT_NO_ID,
		.track = track,
		.name = recording_writer__name(s->w, cat, name, NULL),
		.type = EVENT_SPAN,
	};
}

void synth__write(struct synth *s, const struct event *e)
{
	cr_assert_eq(recording_writer__event(s->w, e), 0);
}

void synth__span(struct synth *s, uint32_t track, enum span_category cat, const char *name,
		 uint64_t begin, uint64_t end)
{
	struct event e = synth__event(s, track, cat, name, begin, end);

	synth__write(s, &e);
}

void synth__step(struct synth *s, uint64_t index, uint64_t begin, uint64_t end)
{
	const struct event e = {.ts_ns = begin,
				.dur_ns = end - begin,
				.id = index,
				.track = s->main,
				.type = EVENT_STEP};

	synth__write(s, &e);
}

void synth__launch(struct synth *s, uint32_t track, uint64_t id, uint64_t begin, uint64_t end)
{
	struct event e = synth__event(s, track, CAT_RUNTIME, "launch", begin, end);

	e.id = id;
	synth__write(s, &e);
}

void synth__kernel(struct synth *s, uint32_t track, enum span_category cat, const char *name,
		   uint64_t id, uint64_t begin, uint64_t end)
{
	struct event e = synth__event(s, track, cat, name, begin, end);

	e.type = EVENT_DEVICE;
	e.id = id;
	synth__write(s, &e);
}

void synth__memory(struct synth *s, uint32_t track, uint64_t ts, uint64_t addr, int64_t bytes)
{
	const struct event_memory args = {UINT64_MAX, UINT64_MAX, 0, 0};
	const struct event e = {.ts_ns = ts,
				.id = addr,
				.value = bytes,
				.track = track,
				.type = EVENT_MEMORY,
				.args_len = sizeof(args),
				.args = &args};

	synth__write(s, &e);
}

void synth__open(struct synth *s, const char *summary_text)
{
	json_t *summary = summary_text ? json_loads(summary_text, 0, NULL) : NULL;

	cr_assert(summary || !summary_text);
	cr_assert_eq(recording_writer__close(s->w, summary), 0);
	json_decref(summary);
	s->w = NULL;
	cr_assert_eq(recording__open(s->path, &s->r), 0);
}

void synth__free(struct synth *s)
{
	recording__close(s->r);
	unlink(s->path);
	free(s->path);
}

/* ---- the tree as text ---- */

struct dump {
	const struct recording *r;
	FILE *out;
};

static void dump_span(struct dump *d, const struct span *s, int depth)
{
	fprintf(d->out, "%*s%s %s [%" PRIu64 ",%" PRIu64 ") cpu %" PRIu64 " self %" PRIu64,
		depth * 2, "", span_kind__label(s->kind), span__name(d->r, s), s->ev.ts_ns,
		s->ev.ts_ns + s->ev.dur_ns, s->cpu_ns, s->self_ns);
	if (s->phase != KIND_OTHER)
		fprintf(d->out, " in %s", span_kind__label(s->phase));
	if (s->inferred)
		fprintf(d->out, " inferred");
	if (s->ev.flags)
		fprintf(d->out, " cut%s%s", s->ev.flags & EVENT_CUT_BEGIN ? " begin" : "",
			s->ev.flags & EVENT_CUT_END ? " end" : "");
	if (s->device_ns)
		fprintf(d->out, " device %" PRIu64 " kernel %" PRIu64, s->device_ns, s->kernel_ns);
	if (s->alloc_bytes || s->self_alloc_bytes)
		fprintf(d->out, " bytes %" PRId64 " self %" PRId64, s->alloc_bytes,
			s->self_alloc_bytes);
	if (s->launch)
		fprintf(d->out, " by %s at %" PRIu64, span__name(d->r, s->launch),
			s->launch->ev.ts_ns);
	fputc('\n', d->out);
	for (const struct span *c = s->first_child; c; c = c->next_sibling) {
		cr_expect_eq(c->parent, s);
		dump_span(d, c, depth + 1);
	}
}

static int dump_batch(const struct batch *b, void *ctx)
{
	struct dump *d = ctx;

	if (b->step)
		fprintf(d->out,
			"step %" PRIu64 " [%" PRIu64 ",%" PRIu64 ") cpu %" PRIu64 " D %" PRIu64
			" F %" PRIu64 " B %" PRIu64 " O %" PRIu64 " other %" PRIu64 "\n",
			b->step->index, b->step->ts_ns, b->step->ts_ns + b->step->dur_ns,
			b->step->cpu_ns, b->step->phase_ns[KIND_DATALOADER],
			b->step->phase_ns[KIND_FORWARD], b->step->phase_ns[KIND_BACKWARD],
			b->step->phase_ns[KIND_OPTIMIZATION], b->step->phase_ns[KIND_OTHER]);
	else
		fprintf(d->out, "no step\n");
	for (size_t i = 0; i < b->track_cnt; i++) {
		fprintf(d->out, " track %u\n", b->tracks[i].track->id);
		for (const struct span *s = b->tracks[i].roots; s; s = s->next_sibling)
			dump_span(d, s, 1);
	}
	for (size_t i = 0; i < b->memory_cnt; i++)
		fprintf(d->out, " memory %" PRIu64 " %" PRId64 " %s\n", b->memory[i].ts_ns,
			b->memory[i].value,
			b->memory_spans[i] ? span__name(d->r, b->memory_spans[i]) : "-");
	for (size_t i = 0; i < b->other_cnt; i++)
		fprintf(d->out, " other %" PRIu64 "\n", b->others[i].ts_ns);
	return 0;
}

char *synth__tree(struct synth *s, const struct model_opts *opts)
{
	struct dump d = {.r = s->r};
	char *text;
	size_t len;

	d.out = open_memstream(&text, &len);
	cr_assert_eq(model__run(s->r, opts, dump_batch, &d), 0);
	fclose(d.out);
	return text;
}

char *synth__report(struct synth *s, const struct report_opts *opts)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int err = report__print(s->r, opts, out);

	cr_assert_eq(err, 0, "%s", err__take(err));
	fclose(out);
	return text;
}

void synth__expect(char *got, const char *want)
{
	cr_expect(strcmp(got, want) == 0, "got:\n%s\nwant:\n%s", got, want);
	free(got);
}

/* The number of blanks between columns depends on the other rows, so two blanks stand for any
 * number. */
static char *squeezed(const char *text)
{
	char *copy = calloc(strlen(text) + 1, 1), *end = copy;

	for (const char *c = text; *c; c++)
		if (*c != ' ' || c == text || c[-1] == '\n' || c[-1] != ' ' ||
		    (end - copy < 2 || end[-2] != ' '))
			*end++ = *c;
	return copy;
}

void synth__expect_line(const char *got, const char *line)
{
	auto_free char *text = squeezed(got), *want = squeezed(line);
	size_t len = strlen(want);
	const char *at = text;

	while ((at = strstr(at, want))) {
		if ((at == text || at[-1] == '\n') && (at[len] == '\n' || at[len] == '\r'))
			return;
		at++;
	}
	cr_expect(false, "no line:\n%s\nin:\n%s", want, text);
}

void synth__expect_tree(struct synth *s, const char *want)
{
	synth__open(s, NULL);
	synth__expect(synth__tree(s, NULL), want);
	synth__free(s);
}

char *synth__tables(struct synth *s, const char *tables, const struct report_opts *opts)
{
	struct report_opts copy = *opts;

	copy.tables = tables;
	return synth__report(s, &copy);
}

void synth__expect_lines(struct synth *s, const char *tables, const struct report_opts *opts,
			 size_t cnt, const char *const *lines)
{
	char *text = synth__tables(s, tables, opts);

	for (size_t i = 0; i < cnt; i++)
		synth__expect_line(text, lines[i]);
	free(text);
}

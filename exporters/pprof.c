// SPDX-License-Identifier: BSD-2-Clause
/*
 * pprof's profile.proto, gzip: for each call stack the self time on the host, time on devices, and
 * calls. https://github.com/google/pprof/blob/main/proto/profile.proto
 */
#include <string.h>
#include "common/counted.h"
#include "common/util.h"
#include "exporters/parts/event_text.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/output.h"
#include "common/proto.h"
#include "exporters/parts/stacks.h"
#include "exporters/parts/text_file.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	MAPPING_ID = 1,
	MAPPING_FILE = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
};

/* The first strings of the table. Those of frames follow, then those of comments. */
enum {
	STR_EMPTY,
	STR_CPU,
	STR_DEVICE,
	STR_CALLS,
	STR_NS,
	STR_COUNT,
	STR_THREAD,
	STR_STREAM,
	STR_RANK,
	STR_FIXED
};
static const char *const fixed[STR_FIXED] = {"",      "cpu",	"device", "calls", "nanoseconds",
					     "count", "thread", "stream", "rank"};

#define COMMENTS_MAX 8

struct pprof {
	const struct recording *r;
	const struct stacks *stacks;
	struct text_file *out;
	struct proto p;
	uint32_t *strings; /* index by frame; 0: unused */
	uint32_t *frames;  /* in the order of their strings */
	size_t frame_cnt;
	char rank[24]; /* "": unknown */
	char *comments[COMMENTS_MAX];
	size_t comment_cnt;
};

static int flush(struct pprof *w)
{
	text_file__put(w->out, (char *)w->p.buf, w->p.len);
	w->p.len = 0;
	return w->p.err ? w->p.err : text_file__error(w->out);
}

/* ---- strings ---- */

static int take_frames(struct pprof *w)
{
	const struct stacks *s = w->stacks;
	const size_t max = (size_t)s->frame_max + 1;

	w->strings = calloc(max, sizeof(*w->strings));
	w->frames = calloc(max, sizeof(*w->frames));
	if (!w->strings || !w->frames)
		return -ENOMEM;
	for (size_t i = 1; i < s->cnt; i++) {
		const uint32_t frame = s->nodes[i].frame;

		if (w->strings[frame])
			continue;
		w->strings[frame] = STR_FIXED + (uint32_t)w->frame_cnt;
		w->frames[w->frame_cnt++] = frame;
	}
	return 0;
}

static void put_frame_text(struct pprof *w, uint32_t frame)
{
	const struct track *t = recording__track(w->r, stacks__track(w->stacks, frame));
	char label[128];

	if (t)
		track__label(t, label, sizeof(label));
	proto__string(&w->p, PROFILE_STRING, t ? label : stacks__text(w->stacks, frame));
}

static int put_strings(struct pprof *w)
{
	int err = 0;

	for (size_t i = 0; i < w->comment_cnt; i++)
		proto__varint(&w->p, PROFILE_COMMENT, STR_FIXED + w->frame_cnt + i);
	for (size_t i = 0; i < STR_FIXED; i++)
		proto__string(&w->p, PROFILE_STRING, fixed[i]);
	for (size_t i = 0; i < w->frame_cnt && !err; i++) {
		put_frame_text(w, w->frames[i]);
		err = flush(w);
	}
	for (size_t i = 0; i < w->comment_cnt; i++)
		proto__string(&w->p, PROFILE_STRING, w->comments[i]);
	return err ? err : flush(w);
}

/* ---- facts ---- */

static int add_comment(struct pprof *w, char *text)
{
	if (!text || w->comment_cnt == COMMENTS_MAX) {
		free(text);
		return text ? 0 : -ENOMEM;
	}
	if (*text)
		w->comments[w->comment_cnt++] = text;
	else
		free(text);
	return 0;
}

static char *cut_text(const struct stacks *s)
{
	char *text;

	if (!s->cut)
		return strdup("");
	return asprintf(&text, "too many different stacks: the time of %s is the caller's",
			counted(s->cut, "span", "spans").s) < 0
		       ? NULL
		       : text;
}

static int make_comments(struct pprof *w)
{
	const json_t *rank =
		json_object_get(json_object_get(recording__meta(w->r), "rank"), "rank");
	int err = add_comment(w, facts__title(w->r));

	if (!err)
		err = add_comment(w, strdup("proftrace " PROFTRACE_VERSION));
	if (!err)
		err = add_comment(w, facts__loss(w->r));
	if (!err)
		err = add_comment(w, facts__unprobed(w->r));
	if (!err)
		err = add_comment(w, cut_text(w->stacks));
	if (json_is_integer(rank))
		snprintf(w->rank, sizeof(w->rank), "%lld", (long long)json_integer_value(rank));
	return err;
}

static void put_type(struct proto *p, uint64_t type, uint64_t unit)
{
	const size_t at = proto__begin(p, PROFILE_SAMPLE_TYPE);

	proto__varint(p, TYPE_TYPE, type);
	proto__varint(p, TYPE_UNIT, unit);
	proto__end(p, at);
}

static void put_head(struct pprof *w)
{
	const struct stacks *s = w->stacks;
	const int64_t offset = facts__wall_offset_ns(w->r);
	const size_t at = proto__begin(&w->p, PROFILE_MAPPING);

	/* one for all, because pprof needs a program; its name is the first comment */
	proto__varint(&w->p, MAPPING_ID, 1);
	proto__varint(&w->p, MAPPING_FILE, STR_FIXED + w->frame_cnt);
	proto__varint(&w->p, MAPPING_HAS_FUNCTIONS, 1);
	proto__end(&w->p, at);
	put_type(&w->p, STR_CPU, STR_NS);
	put_type(&w->p, STR_DEVICE, STR_NS);
	put_type(&w->p, STR_CALLS, STR_COUNT);
	proto__varint(&w->p, PROFILE_DEFAULT_TYPE, STR_CPU);
	if (s->first_ns > s->last_ns)
		return;
	if (offset)
		proto__varint(&w->p, PROFILE_TIME_NS, s->first_ns + (uint64_t)offset);
	proto__varint(&w->p, PROFILE_DURATION_NS, s->last_ns - s->first_ns);
}

/* ---- samples ---- */

static void put_label(struct proto *p, uint64_t key, uint64_t text)
{
	const size_t at = proto__begin(p, SAMPLE_LABEL);

	proto__varint(p, LABEL_KEY, key);
	proto__varint(p, LABEL_TEXT, text);
	proto__end(p, at);
}

static void put_sample(struct pprof *w, const struct stack_node *n)
{
	const struct stack_node *nodes = w->stacks->nodes, *at = n;
	const size_t sample = proto__begin(&w->p, PROFILE_SAMPLE);
	size_t list = proto__begin(&w->p, SAMPLE_LOCATION);
	const struct track *t;

	/* from the innermost outwards; the outermost frame is the track */
	for (; at->parent; at = &nodes[at->parent])
		proto__raw_varint(&w->p, at->frame);
	proto__end(&w->p, list);
	list = proto__begin(&w->p, SAMPLE_VALUE);
	proto__raw_varint(&w->p, n->self_ns);
	proto__raw_varint(&w->p, n->device_ns);
	proto__raw_varint(&w->p, n->calls);
	proto__end(&w->p, list);
	t = recording__track(w->r, stacks__track(w->stacks, at->frame));
	put_label(&w->p, t && t->kind == TRACK_DEVICE ? STR_STREAM : STR_THREAD,
		  w->strings[at->frame]);
	if (*w->rank)
		put_label(&w->p, STR_RANK, STR_FIXED + w->frame_cnt + w->comment_cnt);
	proto__end(&w->p, sample);
}

static int put_samples(struct pprof *w)
{
	const struct stacks *s = w->stacks;
	int err = 0;

	for (size_t i = 1; i < s->cnt && !err; i++) {
		const struct stack_node *n = &s->nodes[i];

		if (!n->parent || !(n->self_ns || n->device_ns || n->calls))
			continue;
		put_sample(w, n);
		err = flush(w);
	}
	return err;
}

/* One location and one function per frame; both have its number. */
static int put_functions(struct pprof *w)
{
	int err = 0;

	for (size_t i = 0; i < w->frame_cnt && !err; i++) {
		const uint32_t frame = w->frames[i];
		size_t at, line;

		if (stacks__track(w->stacks, frame))
			continue;
		at = proto__begin(&w->p, PROFILE_LOCATION);
		proto__varint(&w->p, LOCATION_ID, frame);
		proto__varint(&w->p, LOCATION_MAPPING, 1);
		line = proto__begin(&w->p, LOCATION_LINE);
		proto__varint(&w->p, LINE_FUNCTION, frame);
		proto__end(&w->p, line);
		proto__end(&w->p, at);
		at = proto__begin(&w->p, PROFILE_FUNCTION);
		proto__varint(&w->p, FUNCTION_ID, frame);
		proto__varint(&w->p, FUNCTION_NAME, w->strings[frame]);
		proto__end(&w->p, at);
		err = flush(w);
	}
	return err;
}

static int put_all(struct pprof *w)
{
	int err = take_frames(w);

	if (!err)
		err = make_comments(w);
	if (err)
		return err;
	put_head(w);
	err = put_samples(w);
	if (!err)
		err = put_functions(w);
	if (!err)
		err = put_strings(w);
	if (*w->rank)
		proto__string(&w->p, PROFILE_STRING, w->rank);
	return err ? err : flush(w);
}

static int pprof__write(const struct stacks *s, int level, struct export_result *result)
{
	struct pprof w = {.r = s->r, .stacks = s};
	int err = text_file__open(result->path, level, &w.out);

	if (err)
		return err;
	err = put_all(&w);
	result->events = s->spans;
	for (size_t i = 0; i < w.comment_cnt; i++)
		free(w.comments[i]);
	free(w.strings);
	free(w.frames);
	proto__free(&w.p);
	return text_file__end(w.out, err, &result->bytes);
}

static int pprof__run(const struct recording *r, const struct export_opts *opts,
		      struct export_result *result)
{
	int err = output__no_dialect(opts, "pprof"), level;
	struct stacks s;

	*result = (struct export_result){0};
	if (!err)
		err = output__choose(r, opts, ".pb", 1, &level, result);
	if (!err)
		err = stacks__collect(r, true, true, &s);
	if (err)
		return err;
	err = pprof__write(&s, level, result);
	stacks__free(&s);
	return err;
}

const struct exporter exporter_pprof = {
	.name = "pprof",
	.summary = "profile.proto for go tool pprof: CPU time, device time, calls by stack",
	.binary = true,
	.run = pprof__run,
};

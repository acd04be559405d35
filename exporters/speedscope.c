// SPDX-License-Identifier: BSD-2-Clause
/*
 * speedscope's file format, evented: one profile per thread, device stream and lane. The profiles
 * grow in parallel, but follow each other in the file. So they go through a spool.
 */
#include <string.h>
#include "common/util.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/output.h"
#include "exporters/parts/slices.h"
#include "exporters/parts/spool.h"
#include "model/call_stack.h"

#define EVENT_ROOM 80 /* {"type":"O","frame":...,"at":...}, */

/* Frames: name id less one, then the exporter's own. */
enum { FRAME_STEP, FRAME_UNKNOWN, FRAME_LINES /* + id of a Python frame, less one */ };

struct open_slice {
	uint32_t frame;	 /* its own */
	uint32_t lines;	 /* number of Python frames around it, which end with it */
	uint32_t python; /* innermost Python frame so far, 0: none */
};

struct open_frames {
	struct open_slice *slices;
	size_t cnt, cap;
	struct spool_text text;
};

struct speedscope {
	const struct recording *r;
	struct call_stacks *python; /* NULL: the recording has none */
	struct text_file *out;
	struct slices *slices;
	struct spool spool;
	struct open_frames *rows;
	uint32_t row_cnt, name_cnt;
	uint32_t step_row; /* UINT32_MAX: none yet */
	uint64_t events;
};

/* {"name":"train.py(41): forward","file":"/job/train.py","line":41} */
static int put_line(struct speedscope *w, uint32_t id)
{
	const struct code_frame *f = recording__frame(w->r, id);
	const struct code *code = f ? recording__code(w->r, f->code) : NULL;
	auto_free char *text = NULL, *name = NULL;
	auto_free char *file = json__quote(code ? code->file : "");

	if (!file || call_stacks__frame(w->python, id, &text))
		return -ENOMEM;
	name = json__quote(*text ? text : "(name lost)");
	if (!name)
		return -ENOMEM;
	text_file__print(w->out, ",\n{\"name\":%s", name);
	if (code && *code->file)
		text_file__print(w->out, ",\"file\":%s,\"line\":%u", file, f->line);
	text_file__print(w->out, "}");
	return text_file__error(w->out);
}

static int put_frames(struct speedscope *w)
{
	int err = 0;

	static const char *const own[] = {"\"ProfileStep\"", "\"(name lost)\""};

	text_file__print(w->out, "\"shared\":{\"frames\":[\n");
	for (uint32_t id = 1; id <= w->name_cnt; id++) {
		const struct name *n = recording__name(w->r, id);
		auto_free char *quoted = json__quote(n && n->text ? n->text : "(name lost)");

		if (!quoted)
			return -ENOMEM;
		text_file__print(w->out, "{\"name\":%s},\n", quoted);
	}
	text_file__print(w->out, "{\"name\":%s},\n{\"name\":%s}", own[FRAME_STEP],
			 own[FRAME_UNKNOWN]);
	for (uint32_t id = 1; id <= recording__frame_cnt(w->r) && !err; id++)
		err = put_line(w, id);
	text_file__print(w->out, "\n]},\n");
	return err ? err : text_file__error(w->out);
}

static int put_head(struct speedscope *w)
{
	auto_free char *title = facts__title(w->r), *loss = facts__loss(w->r);
	auto_free char *unprobed = facts__unprobed(w->r);
	auto_free char *name = NULL, *quoted = NULL;

	if (!title || !loss || !unprobed)
		return -ENOMEM;
	if (asprintf(&name, "%s%s%s%s%s%s%s", title, *loss ? " (" : "", loss, *loss ? ")" : "",
		     *unprobed ? " (" : "", unprobed, *unprobed ? ")" : "") < 0)
		name = NULL;
	quoted = name ? json__quote(name) : NULL;
	if (!quoted)
		return -ENOMEM;
	text_file__print(w->out,
			 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			 "\"exporter\":\"proftrace@%s\",\n\"name\":%s,\n",
			 PROFTRACE_VERSION, quoted);
	return put_frames(w);
}

/* ---- events ---- */

static struct open_frames *row_of(struct speedscope *w, const struct slice_row *row)
{
	struct open_frames *grown;

	if (row->id < w->row_cnt)
		return &w->rows[row->id];
	grown = realloc(w->rows, ((size_t)row->id + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	memset(grown + w->row_cnt, 0, (row->id + 1 - w->row_cnt) * sizeof(*grown));
	w->rows = grown;
	w->row_cnt = row->id + 1;
	return &grown[row->id];
}

static int put_event(struct speedscope *w, struct open_frames *row, char type, uint32_t frame,
		     uint64_t ts_ns)
{
	char text[EVENT_ROOM], *p = row->text.buf ? TEXT_LIT(text, ",\n") : text;

	p = TEXT_LIT(p, "{\"type\":\"");
	*p++ = type;
	p = text__u64(TEXT_LIT(p, "\",\"frame\":"), frame);
	p = text__u64(TEXT_LIT(p, ",\"at\":"), ts_ns - slices__begin_ns(w->slices));
	*p++ = '}';
	return spool__put(&w->spool, &row->text, text, (size_t)(p - text));
}

static uint32_t frame_of(const struct speedscope *w, const struct event *e)
{
	if (e->type == EVENT_STEP)
		return w->name_cnt + FRAME_STEP;
	return e->name && e->name <= w->name_cnt ? e->name - 1 : w->name_cnt + FRAME_UNKNOWN;
}

static uint32_t line_frame(const struct speedscope *w, uint32_t line)
{
	return w->name_cnt + FRAME_LINES + line - 1;
}

static int open_slice(struct speedscope *w, struct open_frames *row, const struct slice *s)
{
	struct open_slice o = {.frame = frame_of(w, &s->ev)};
	uint32_t lines[CALL_STACK_MAX];
	int err = 0;

	o.python = row->cnt ? row->slices[row->cnt - 1].python : 0;
	o.lines = (uint32_t)event__frames(w->r, &s->ev, o.python, lines);
	if (o.lines)
		o.python = s->ev.stack;
	for (uint32_t i = 0; i < o.lines && !err; i++)
		err = put_event(w, row, 'O', line_frame(w, lines[i]), s->ts_ns);
	if (!err)
		err = ARRAY_PUSH(row->slices, row->cnt, row->cap, o);
	return err ? err : put_event(w, row, 'O', o.frame, s->ts_ns);
}

static int close_slice(struct speedscope *w, struct open_frames *row, uint64_t ts_ns)
{
	const struct open_slice *o = &row->slices[--row->cnt];
	const struct code_frame *f = recording__frame(w->r, o->python);
	int err = put_event(w, row, 'C', o->frame, ts_ns);

	for (uint32_t i = 0; i < o->lines && f && !err; i++) {
		err = put_event(w, row, 'C', line_frame(w, f->id), ts_ns);
		f = recording__frame(w->r, f->parent);
	}
	return err;
}

static int put_slice(struct speedscope *w, const struct slice *s)
{
	struct open_frames *row = row_of(w, s->row);

	if (!row)
		return -ENOMEM;
	if (s->what == SLICE_END)
		return close_slice(w, row, s->ts_ns);
	if (s->what != SLICE_BEGIN)
		return 0;
	if (s->ev.type == EVENT_STEP && w->step_row == UINT32_MAX)
		w->step_row = s->row->id;
	w->events++;
	return open_slice(w, row, s);
}

/* ---- profiles ---- */

static int put_profile(struct speedscope *w, uint32_t id, bool first)
{
	struct spool_text *text = &w->rows[id].text;
	auto_free char *quoted = NULL;
	char name[128];
	int err;

	slice_row__name(slices__row(w->slices, id), name, sizeof(name));
	quoted = json__quote(name);
	if (!quoted)
		return -ENOMEM;
	text_file__print(
		w->out,
		"%s{\"type\":\"evented\",\"name\":%s,\"unit\":\"nanoseconds\","
		"\"startValue\":0,\"endValue\":%llu,\"events\":[\n",
		first ? "" : ",\n", quoted,
		(unsigned long long)(slices__end_ns(w->slices) - slices__begin_ns(w->slices)));
	err = spool__copy(&w->spool, text, w->out);
	text_file__print(w->out, "]}");
	return err;
}

static int put_profiles(struct speedscope *w)
{
	uint32_t cnt = 0, active = 0;
	int err = 0;

	text_file__print(w->out, "\"profiles\":[\n");
	for (uint32_t id = 0; id < w->row_cnt && !err; id++) {
		if (!w->rows[id].text.buf)
			continue;
		active = id == w->step_row ? cnt : active;
		err = put_profile(w, id, !cnt++);
	}
	text_file__print(w->out, "\n],\n\"activeProfileIndex\":%u}\n", active);
	return err;
}

static int put_all(struct speedscope *w)
{
	struct slice s;
	int err = put_head(w);

	while (!err && (err = slices__next(w->slices, &s)) > 0)
		err = put_slice(w, &s);
	return err ? err : put_profiles(w);
}

static int speedscope__write(const struct recording *r, int level, struct export_result *result)
{
	struct speedscope w = {.r = r,
			       .name_cnt = recording__name_cnt(r),
			       .step_row = UINT32_MAX,
			       .spool = {.fd = -1}};
	int err = slices__open(r, &w.slices);

	if (!err)
		err = call_stacks__open(r, &w.python);
	if (!err)
		err = spool__open(result->path, &w.spool);
	if (!err)
		err = text_file__open(result->path, level, &w.out);
	if (!err)
		err = put_all(&w);
	result->events = w.events;
	for (uint32_t i = 0; i < w.row_cnt; i++) {
		free(w.rows[i].slices);
		spool_text__free(&w.rows[i].text);
	}
	free(w.rows);
	spool__close(&w.spool);
	slices__close(w.slices);
	call_stacks__free(w.python);
	return text_file__end(w.out, err, &result->bytes);
}

static int speedscope__run(const struct recording *r, const struct export_opts *opts,
			   struct export_result *result)
{
	int err = output__no_dialect(opts, "speedscope"), level;

	*result = (struct export_result){0};
	if (!err)
		err = output__choose(r, opts, ".speedscope.json", 0, &level, result);
	return err ? err : speedscope__write(r, level, result);
}

const struct exporter exporter_speedscope = {
	.name = "speedscope",
	.summary = "timeline and flame graph per thread and stream for speedscope.app",
	.run = speedscope__run,
};

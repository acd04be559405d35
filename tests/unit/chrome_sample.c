// SPDX-License-Identifier: BSD-2-Clause
#include "chrome_sample.h"
#include <criterion/criterion.h>
#include <string.h>
#include "common/util.h"
#include "exporters/exporter.h"

void made__begin(struct made *s, json_t *meta)
{
	const struct track thread = {
		.kind = TRACK_THREAD, .pid = 10, .tid = 11, .name = "py\"thon"};
	const struct track stream = {.kind = TRACK_DEVICE, .device = 0, .stream = 7};

	*s = (struct made){0};
	strcpy(s->dir, "/tmp/proftrace-chrome-XXXXXX");
	cr_assert_not_null(mkdtemp(s->dir));
	snprintf(s->path, sizeof(s->path), "%s/r.ptrec", s->dir);
	snprintf(s->trace, sizeof(s->trace), "%s/trace.json", s->dir);
	meta = meta ? meta : json_object();
	cr_assert_eq(recording_writer__create(s->path, meta, &s->w), 0);
	json_decref(meta);
	s->thread = recording_writer__track(s->w, &thread);
	s->stream = recording_writer__track(s->w, &stream);
	cr_assert(s->thread && s->stream);
}

uint32_t made__name(struct made *s, enum span_category category, const char *text)
{
	const uint32_t id = recording_writer__name(s->w, category, text, NULL);

	if (!id)
		cr_assert_fail("name %s", text);
	return id;
}

void made__put(struct made *s, const struct event *e)
{
	/* an assertion for each event would be too slow, because Criterion reports each to its
	 * parent */
	if (recording_writer__event(s->w, e))
		cr_assert_fail("event");
}

void made__span(struct made *s, enum span_category category, const char *text, uint64_t begin_ns,
		uint64_t end_ns, uint64_t id)
{
	made__put(s, &(struct event){.type = EVENT_SPAN,
				     .track = s->thread,
				     .name = made__name(s, category, text),
				     .ts_ns = begin_ns,
				     .dur_ns = end_ns - begin_ns,
				     .id = id});
}

void made__step(struct made *s, uint64_t index, uint64_t begin_ns, uint64_t end_ns)
{
	made__put(s, &(struct event){.type = EVENT_STEP,
				     .track = s->thread,
				     .ts_ns = begin_ns,
				     .dur_ns = end_ns - begin_ns,
				     .id = index});
}

void made__device(struct made *s, enum span_category category, const char *text, uint64_t begin_ns,
		  uint64_t end_ns, uint64_t id)
{
	made__put(s, &(struct event){.type = EVENT_DEVICE,
				     .track = s->stream,
				     .name = made__name(s, category, text),
				     .ts_ns = begin_ns,
				     .dur_ns = end_ns - begin_ns,
				     .value = 4096,
				     .id = id});
}

void made__close(struct made *s)
{
	json_t *summary = json_object();

	cr_assert_eq(recording_writer__close(s->w, summary), 0);
	json_decref(summary);
	s->w = NULL;
}

static int export_with(struct made *s, const struct export_opts *opts, char *written)
{
	struct recording *r;
	int err;

	cr_assert_eq(recording__open(s->path, &r), 0);
	err = exporter__find("chrome")->run(r, opts, &s->result);
	recording__close(r);
	if (!err && written)
		strcpy(written, s->result.path);
	return err;
}

int made__export_to(struct made *s, const char *output, int gzip_level, char *written)
{
	return export_with(s, &(struct export_opts){.output = output, .gzip_level = gzip_level},
			   written);
}

json_t *made__export(struct made *s, const char *dialect)
{
	json_error_t why;
	json_t *trace;

	if (s->w)
		made__close(s);
	cr_assert_eq(export_with(s,
				 &(struct export_opts){
					 .output = s->trace, .gzip_level = 0, .dialect = dialect},
				 NULL),
		     0);
	trace = json_load_file(s->trace, JSON_ALLOW_NUL, &why);
	cr_assert_not_null(trace, "line %d: %s", why.line, why.text);
	return trace;
}

void made__remove(struct made *s)
{
	unlink(s->path);
	unlink(s->trace);
	rmdir(s->dir);
}

json_t *trace__find(const json_t *trace, const char *name, const char *ph)
{
	size_t i;
	json_t *e;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e)
	{
		const char *kind = json_string_value(json_object_get(e, "ph"));

		if (!strcmp(json_string_value(json_object_get(e, "name")), name) &&
		    (!ph || !strcmp(kind, ph)))
			return e;
	}
	return NULL;
}

size_t trace__count(const json_t *trace, const char *name)
{
	size_t i, cnt = 0;
	json_t *e;

	json_array_foreach(json_object_get(trace, "traceEvents"), i, e) cnt +=
		!strcmp(json_string_value(json_object_get(e, "name")), name);
	return cnt;
}

double trace__number(const json_t *event, const char *key)
{
	const json_t *n = json_object_get(event, key);

	if (!json_is_number(n))
		cr_assert_fail("no number %s", key);
	return json_number_value(n);
}

const json_t *trace__arg(const json_t *event, const char *key)
{
	return json_object_get(json_object_get(event, "args"), key);
}

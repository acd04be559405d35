// SPDX-License-Identifier: BSD-2-Clause
/* Spans whose name the programs read from the target. */
#include "capture/decode/decoder_internal.h"
#include "bpf/thread_state.h"
#include "capture/decode/long_names.h"
#include "capture/decode/object_names.h"
#include "capture/decode/pending.h"
#include "common/text_char.h"
#include "common/util.h"
#include <ctype.h>
#include <string.h>

/* After the known part of a name. */
#define NAME_CUT_MARK "... (names that begin so)"

static enum span_category class_category(uint32_t name_class, enum span_category otherwise)
{
	switch (name_class) {
	case PT_CLASS_DATALOADER:
		return CAT_DATALOADER;
	case PT_CLASS_OPTIMIZER:
		return CAT_OPTIMIZER;
	case PT_CLASS_ZERO_GRAD:
		return CAT_ZERO_GRAD;
	case PT_CLASS_OPTIMIZER_OP:
		return CAT_OPTIMIZER_OP;
	case PT_CLASS_PROFILER_STEP:
		return CAT_PROFILER_STEP;
	case PT_CLASS_EVALUATION:
		return CAT_EVALUATION;
	default:
		return otherwise;
	}
}

/* Many operators share a probe, so the name decides. A probe with a suffix sees only a part of an
 * operator. */
static enum span_category named_category(const struct decoder *d, const struct planned_probe *probe,
					 uint32_t name_class, const char *text)
{
	const struct framework *f = d->framework;

	if (probe->category == CAT_OPERATOR && f && !probe->name_suffix) {
		if (f->updates_parameters && f->updates_parameters(text))
			return CAT_OPTIMIZER_OP;
		if (f->computes_gradients && f->computes_gradients(text))
			return CAT_BACKWARD_NODE;
		if (f->communicates && f->communicates(text))
			return CAT_COMMUNICATION;
	}
	return class_category(name_class, probe->category);
}

/* schema: see recording_writer__name */
static uint32_t dynamic_name(struct decoder *d, const struct planned_probe *probe,
			     enum span_category category, const char *text, const char *schema)
{
	const char *prefix = probe->name_prefix ? probe->name_prefix : "";
	const char *suffix = probe->name_suffix ? probe->name_suffix : "";
	auto_free char *whole = NULL;

	if (!*prefix && !*suffix)
		return recording_writer__name(d->writer, category, text, schema);
	if (asprintf(&whole, "%s%s%s", prefix, text, suffix) < 0)
		return 0;
	return recording_writer__name(d->writer, category, whole, schema);
}

/* Is the text a path? Memory at the place of a full name may hold something else. */
static bool is_full_name(const char *text)
{
	for (const char *p = text; *p; p++)
		if (!isprint((unsigned char)*p) || *p == '(' || *p == ')')
			return false;
	return strchr(text, '/') != NULL;
}

static bool is_hidden(const struct decoder *d, const struct planned_probe *probe, const char *text)
{
	const struct framework *f = d->framework;

	return probe->category == CAT_PIPELINE && (!f || !f->is_own_work || !f->is_own_work(text));
}

uint64_t decoder__cut_names(const struct decoder *d)
{
	return d->cut_names;
}

uint64_t decoder__not_ended(const struct decoder *d)
{
	return d->not_ended;
}

/* ---- long names ---- */

static struct decoded_name beginning_of(const char *text, size_t len)
{
	struct decoded_name name = {.text = strndup(text, len), .is_cut = true};

	if (name.text)
		text__drop_cut_char(name.text);
	return name;
}

struct decoded_name decoder__name(struct decoder *d, const struct pt_name *name, uint32_t len)
{
	const struct long_name *whole;

	if (len >= PT_NAME_MAX)
		len = PT_NAME_MAX - 1;
	if (!name->key)
		return (struct decoded_name){.text = strndup(name->text, len)};
	whole = d->long_names && name->key >= PT_KEY_FIRST
			? long_names__at(d->long_names, name->key)
			: NULL;
	if (!whole)
		return beginning_of(name->text, len);
	if (whole->is_cut)
		return beginning_of(whole->text, strlen(whole->text));
	return (struct decoded_name){.text = strdup(whole->text)};
}

void decoder__mark_cut(struct decoder *d, struct decoded_name *name)
{
	char *marked;

	if (!name->text || !name->is_cut)
		return;
	d->cut_names++;
	if (asprintf(&marked, "%s" NAME_CUT_MARK, name->text) < 0)
		marked = NULL;
	free(name->text);
	name->text = marked;
}

char *decoder__full_name(struct decoder *d, uint32_t tid, uint64_t ts_ns)
{
	const struct pt_rec_full_name *r = pending__take_full_name(d->pending, tid, ts_ns);
	struct decoded_name name = {0};

	if (r)
		name = decoder__name(d, &r->name, r->len);
	d->cut_names += name.text && name.is_cut;
	if (name.text && !name.is_cut && is_full_name(name.text))
		return name.text;
	free(name.text);
	return NULL;
}

/* ---- spans ---- */

/* Takes over the name's text. Returns 0 without memory. */
static uint32_t name_id(struct decoder *d, const struct planned_probe *probe, uint32_t name_class,
			struct decoded_name *name, const char *full)
{
	const size_t len = name->text ? strlen(name->text) : 0;
	uint32_t id = 0;

	if (name->text && probe->category != CAT_USER && d->framework && d->framework->shorten)
		d->framework->shorten(name->text);
	if (name->text && strlen(name->text) < len)
		name->is_cut = false; /* the missing part would have been shortened away */
	decoder__mark_cut(d, name);
	if (name->text)
		id = dynamic_name(d, probe, named_category(d, probe, name_class, name->text),
				  name->text, full);
	free(name->text);
	return id;
}

int decoder__named_write(struct decoder *d, const struct pt_rec *h, const struct pt_span *span,
			 uint32_t name_class, const struct pt_name *name, uint32_t len)
{
	const struct planned_probe *probe = decoder__row_probe(d, span->probe);
	auto_free char *full = decoder__full_name(d, h->tid, span->ts_ns);
	struct pt_span own = *span;
	struct decoded_name text;

	if (!probe)
		return d->malformed++, 0;
	if (!probe->cfg.link)
		own.vtable = 0; /* an address in the process, without a meaning here */
	decoder__count_hits(d, span->probe, probe->category == CAT_PIPELINE ? 1 : 2);
	d->not_ended += (span->flags & PT_SPAN_NOT_ENDED) != 0;
	text = decoder__name(d, name, len);
	if (text.text && is_hidden(d, probe, text.text)) {
		free(text.text);
		return 0;
	}
	return decoder__span(d, h, &own, name_id(d, probe, name_class, &text, full), EVENT_NO_ID);
}

int decoder__named(struct decoder *d, const struct pt_rec_named *r)
{
	const struct planned_probe *probe = decoder__row_probe(d, r->h.probe);
	struct pt_span span = {.ts_ns = r->ts_ns,
			       .end_ns = r->end_ns,
			       .link = r->link,
			       .stack = r->stack,
			       .kind = PT_KIND_NAMED,
			       .probe = r->h.probe,
			       .end = r->h.end,
			       .flags = (uint16_t)r->flags};

	if (probe)
		decoder__count_hits(d, r->h.probe, 2ull * r->nested);
	return decoder__named_write(d, &r->h, &span, r->name_class, &r->name, r->name_len);
}

/* The name in an object that the library reports. */
static const char *object_text(struct decoder *d, uint32_t pid, const struct planned_probe *probe,
			       uint64_t object)
{
	return object_names__text(d->objects, (pid_t)pid, object + probe->cfg.name_path[1],
				  (enum pt_name_source)probe->cfg.name_source);
}

void decoder__named_meet(struct decoder *d, uint32_t pid, const struct planned_probe *probe,
			 uint64_t object)
{
	object_text(d, pid, probe, object);
}

int decoder__named_hooked(struct decoder *d, const struct pt_rec *h, const struct pt_span *hooked,
			  const struct planned_probe *probe, const char *own, const char *full)
{
	const char *found = own ? own : object_text(d, h->pid, probe, hooked->object);
	struct pt_span span = *hooked;
	struct decoded_name text = {0};

	if (!found)
		return d->malformed++, 0;
	text.text = strdup(found);
	if (full && !is_full_name(full))
		full = NULL;
	span.stack = span.link = 0;
	return decoder__span_write(d, h, &span, name_id(d, probe, PT_CLASS_NONE, &text, full),
				   EVENT_NO_ID, EVENT_UNPROBED);
}

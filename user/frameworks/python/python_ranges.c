// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/python/python_ranges.h"
#include "frameworks/python/python_watch.h"

struct found {
	struct python_watch w;
	uint64_t begin, end, name; /* begin and end: code objects; name: a str object */
};

/* Why they were not found, or NULL. */
static const char *find(struct target *t, const struct python_range_class *c, struct found *f)
{
	const char *why = python_watch__open(t, c->module, c->class, &f->w);

	if (why)
		return why;
	f->begin = python_watch__code(&f->w, c->begin);
	f->end = python_watch__code(&f->w, c->end);
	if (!f->begin || !f->end)
		return "their class has no such functions in Python";
	f->name = python_objects__name(&f->w.o, f->begin, c->name);
	return f->name ? NULL : "their begin does not use the name";
}

static void set_layout(const struct found *f, struct probe_plan *plan)
{
	const struct python_layout *l = &f->w.o.layout;
	struct pt_python *p = &plan->layout.python;

	python_watch__layout(&f->w, plan);
	p->begin_code = f->begin;
	p->end_code = f->end;
	p->name_key = f->name;
	p->frame_locals = l->frame_locals;
	p->type_keys = l->type_keys;
	p->attributes = l->attributes;
	plan->layout.python_str = l->ascii_bytes;
	p->str_text = l->compact_bytes;
}

int python_ranges__plan(struct target *t, const struct python_range_class *c,
			struct probe_plan *plan)
{
	struct planned_probe probe = {.category = CAT_USER, .program = "python_range_begin"};
	struct found f = {0};
	const char *why = find(t, c, &f);
	char what[128];
	int err;

	snprintf(what, sizeof(what), "ranges of %s", c->class);
	if (why)
		return python_watch__missing(t, why, what, plan);
	set_layout(&f, plan);
	err = python_watch__add(&f.w, c->begin, f.begin, 0, &probe, plan);
	if (err)
		return err;
	plan->layout.python.row = probe.row = plan->row_cnt;
	probe.program = "python_range_end";
	return python_watch__add(&f.w, c->end, f.end, 0, &probe, plan);
}

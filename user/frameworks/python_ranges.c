// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/python_ranges.h"
#include "common/err.h"
#include "common/util.h"
#include "target/python_objects.h"
#include <string.h>

struct found {
	struct python_objects o;
	uint64_t begin, end, name; /* code objects, str object */
};

/* The reason why not, or NULL. */
static const char *find(struct target *t, const struct python_range_class *c, struct found *f)
{
	uint64_t module, class;
	int err = python_objects__open(t, &f->o);

	if (err == -ENOTSUP)
		return "the objects of this version of Python are not known";
	if (err)
		return "the interpreter's symbols are not to be had";
	module = python_objects__module(&f->o, c->module);
	if (!module)
		return "their module is not loaded";
	class = python_objects__class_dict(&f->o,
					   python_objects__item(&f->o, module, c->class, NULL));
	f->begin = python_objects__code(&f->o, python_objects__item(&f->o, class, c->begin, NULL));
	f->end = python_objects__code(&f->o, python_objects__item(&f->o, class, c->end, NULL));
	if (!f->begin || !f->end)
		return "their class has no such functions in Python";
	f->name = python_objects__name(&f->o, f->begin, c->name);
	return f->name ? NULL : "their begin does not use the name";
}

static int add(struct probe_plan *plan, const struct python_range_class *c, const struct found *f,
	       const char *method, uint64_t code, const char *program)
{
	char symbol[256];
	const struct planned_probe probe = {
		.group = GROUP_WATCH,
		.lib = f->o.layout.lib,
		.symbol = symbol,
		.watch_address = code + f->o.layout.instructions,
		.program = program,
		.category = CAT_USER,
		.chosen = true,
		.row = plan->layout.python.row,
	};

	snprintf(symbol, sizeof(symbol), "%s.%s.%s", c->module, c->class, method);
	return probe_plan__add(plan, &probe);
}

int python_ranges__plan(struct target *t, const struct python_range_class *c,
			struct probe_plan *plan)
{
	struct pt_python *p = &plan->layout.python;
	struct found f = {0};
	const struct python_layout *l = &f.o.layout;
	const char *why = find(t, c, &f);
	int err;

	if (why)
		return probe_plan__missing(plan, "Python %s: %s; not shown: ranges of %s",
					   t->python ? t->python : "(no version)", why, c->class);
	plan->layout.python_thread = l->thread;
	*p = (struct pt_python){
		.thread_at = f.o.thread_at,
		.begin_code = f.begin,
		.end_code = f.end,
		.name_key = f.name,
		.frame_code = 8 * l->frames.code_word,
		.frame_locals = l->frame_locals,
		.type_keys = l->type_keys,
		.attributes = l->attributes,
		.str_ascii = l->ascii_bytes,
		.str_text = l->compact_bytes,
	};
	err = add(plan, c, &f, c->begin, f.begin, "python_range_begin");
	if (err)
		return err;
	p->row = plan->row_cnt;
	return add(plan, c, &f, c->end, f.end, "python_range_end");
}

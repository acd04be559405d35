// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/python/python_watch.h"
#include "common/err.h"
#include "common/util.h"

const char *python_watch__open(struct target *t, const char *module, const char *class,
			       struct python_watch *w)
{
	int err;
	uint64_t dict;

	*w = (struct python_watch){.module = module, .class = class};
	err = python_objects__open(t, &w->o);
	if (err == -ENOTSUP)
		return "the objects of this version of Python are not known";
	if (err)
		return "the interpreter's symbols are not to be had";
	dict = python_objects__module(&w->o, module);
	w->absent = !dict;
	if (w->absent)
		return "their module is not loaded";
	w->dict = python_objects__class_dict(&w->o, python_objects__item(&w->o, dict, class, NULL));
	return NULL;
}

uint64_t python_watch__code(const struct python_watch *w, const char *method)
{
	return python_objects__code(&w->o, python_objects__item(&w->o, w->dict, method, NULL));
}

int python_watch__missing(const struct target *t, const char *why, const char *what,
			  struct probe_plan *plan)
{
	return probe_plan__missing(plan, "Python %s: %s; not shown: %s",
				   t->python ? t->python : "(no version)", why, what);
}

void python_watch__layout(const struct python_watch *w, struct probe_plan *plan)
{
	const struct python_layout *l = &w->o.layout;

	plan->layout.python_thread = l->thread;
	plan->layout.python = (struct pt_python){
		.thread_at = w->o.thread_at,
		.frame_code = 8 * l->frames.code_word,
	};
}

int python_watch__add(const struct python_watch *w, const char *method, uint64_t code,
		      uint32_t offset, const struct planned_probe *probe, struct probe_plan *plan)
{
	struct planned_probe added = *probe;
	char symbol[256];

	snprintf(symbol, sizeof(symbol), "%s.%s.%s", w->module, w->class, method);
	added.group = GROUP_WATCH;
	added.lib = w->o.layout.lib;
	added.symbol = symbol;
	added.watch_address = python_objects__first_instruction(&w->o, code) + offset;
	added.chosen = true;
	return probe_plan__add(plan, &added);
}

int python_watch__add_optimizer_step(const struct target_lib *lib, const char *name, uint64_t code,
				     uint32_t name_class, const char *told_by,
				     struct probe_plan *plan)
{
	const struct planned_probe probe = {
		.group = GROUP_WATCH,
		.lib = lib,
		.symbol = name,
		.program = OPTIMIZER_STEP_PROGRAM,
		.name = name,
		.category = CAT_OPTIMIZER,
		.writes_alone = true,
		.watch_address = code, /* an object begins with its reference count */
		.told_by = told_by,
		.chosen = true,
		.cfg = {.code = name_class},
	};

	return probe_plan__add(plan, &probe);
}

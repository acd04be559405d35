// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/python/python_loader.h"
#include "common/err.h"
#include "common/util.h"
#include "frameworks/python/python_watch.h"
#include "target/python/python_loop.h"

#define MAX_CODE 4096 /* bytes of the generator's code */

struct found {
	struct python_watch w;
	uint64_t code;
	struct python_loop loop;
};

/* Why it was not found, or NULL. */
static const char *find(struct target *t, const struct python_loader_class *c, struct found *f)
{
	const char *why = python_watch__open(t, c->module, c->class, &f->w);
	uint8_t code[MAX_CODE];
	size_t len;
	int err;

	if (why)
		return why;
	f->code = python_watch__code(&f->w, c->iter);
	len = python_objects__instructions(&f->w.o, f->code, code, sizeof(code));
	if (!len)
		return "its class has no such function in Python";
	err = python_loop__find(f->w.o.layout.minor, code, len, &f->loop);
	if (err == -ENOTSUP)
		return "the instructions of this version of Python are not known";
	return err ? "its function is not the loop that was measured" : NULL;
}

static int add(const struct found *f, const struct python_loader_class *c, uint32_t offset,
	       const char *program, struct probe_plan *plan)
{
	const struct planned_probe probe = {
		.program = program,
		.category = CAT_DATALOADER,
		.name = c->name,
		.row = plan->layout.python.row,
	};
	int err = python_watch__add(&f->w, c->iter, f->code, offset, &probe, plan);

	if (!err && !probe.row)
		plan->layout.python.row = plan->row_cnt;
	return err;
}

bool python_loader__is_to_come(struct target *t, const struct python_loader_class *c)
{
	struct python_watch w;
	const char *why = python_watch__open(t, c->module, c->class, &w);

	return w.absent || (!why && !python_watch__code(&w, c->iter));
}

int python_loader__plan(struct target *t, const struct python_loader_class *c,
			struct probe_plan *plan)
{
	struct found f = {0};
	const char *why = find(t, c, &f);
	int err;

	if (f.w.absent)
		return 0;
	if (why)
		return python_watch__missing(t, why, c->name, plan);
	python_watch__layout(&f.w, plan);
	plan->layout.python.begin_code = f.code;
	err = add(&f, c, f.loop.first, "loader_next_begin", plan);
	if (!err)
		err = add(&f, c, f.loop.again, "loader_next_begin", plan);
	return err ? err : add(&f, c, f.loop.yield, "loader_next_end", plan);
}

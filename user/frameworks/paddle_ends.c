// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/paddle_ends.h"
#include "attach/attach.h"
#include "common/err.h"
#include "common/util.h"
#include "frameworks/paddle_names.h"
#include "frameworks/python/python_methods.h"
#include <stdlib.h>
#include <string.h>

struct ends {
	struct table_scan *scan;
	const struct planned_probe **by_name; /* probes of operators, sorted by name */
	size_t cnt;
	unsigned int lib;
};

static int compare_names(const void *a, const void *b)
{
	const struct planned_probe *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

/* An operator ends where the function returns that Python called. */
static int plan_end(const struct elf_symbol *symbol, void *ctx)
{
	const struct ends *e = ctx;
	char name[320];
	const struct planned_probe key = {.name = name}, *key_at = &key;
	const struct planned_probe *const *op;
	struct planned_probe end;

	if (!symbol->is_function || strchr(symbol->name, '.') ||
	    !paddle_names__python(symbol->name, name, sizeof(name)))
		return 0;
	op = bsearch(&key_at, e->by_name, e->cnt, sizeof(*e->by_name), compare_names);
	if (!op)
		return 0;
	end = **op;
	end.symbol = symbol->name;
	end.vaddr = end.entry = symbol->vaddr;
	end.pointer_hook = POINTER_HOOK_ENCLOSING;
	end.program = NULL;
	end.return_program = "callee_end";
	if (elf_file__offset(e->scan->elfs[e->lib], end.vaddr, &end.offset))
		return 0;
	return probe_plan__add(e->scan->plan, &end);
}

int paddle_ends__plan(struct table_scan *s, unsigned int lib)
{
	struct planned_probe *ops = NULL;
	struct ends e = {.scan = s, .lib = lib};
	size_t cnt = s->plan->cnt;
	int err = 0;

	/* A copy, because the plan moves as it grows. */
	ops = malloc((cnt + 1) * sizeof(*ops));
	e.by_name = calloc(cnt + 1, sizeof(const struct planned_probe *));
	if (!ops || !e.by_name)
		err = -ENOMEM;
	for (size_t i = 0; i < cnt && !err; i++) {
		ops[i] = s->plan->probes[i];
		if (ops[i].pointer_hook == POINTER_HOOK_PART && ops[i].name)
			e.by_name[e.cnt++] = &ops[i];
	}
	if (!err && e.cnt) {
		qsort(e.by_name, e.cnt, sizeof(*e.by_name), compare_names);
		err = elf_file__for_each_prefixed(s->elfs[lib], PADDLE_PYTHON_FUNCTIONS, plan_end,
						  &e);
	}
	free(e.by_name);
	free(ops);
	return err;
}

/* Methods of Tensor that run operators, and functions without a symbol. Operators end with them. */
static bool runs_operators(const char *method)
{
	static const char *const names[] = {
		"__add__",	    "__radd__",		"__sub__",     "__rsub__", "__mul__",
		"__rmul__",	    "__div__",		"__truediv__", "__rdiv__", "__rtruediv__",
		"__floordiv__",	    "__rfloordiv__",	"__pow__",     "__rpow__", "__mod__",
		"__rmod__",	    "__matmul__",	"__rmatmul__", "__gt__",   "__ge__",
		"__lt__",	    "__le__",		"__eq__",      "__ne__",   "clone",
		"_getitem_dygraph", "_setitem_dygraph", "linear",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], method))
			return true;
	return false;
}

#define METHOD_PREFIX "PyMethodDef " /* stands for a symbol */

struct methods {
	struct table_scan *scan;
	unsigned int lib;
};

static int plan_method(const char *name, uint64_t vaddr, void *ctx)
{
	const struct methods *m = ctx;
	struct table_scan *s = m->scan;
	char symbol[128];
	struct planned_probe probe = {
		.group = GROUP_OPERATOR,
		.lib = s->libs[m->lib],
		.symbol = symbol,
		.vaddr = vaddr,
		.entry = vaddr,
		.pointer_hook = POINTER_HOOK_ENCLOSING,
		.program = "caller_entry",
		.return_program = "callee_end",
		.category = CAT_NONE,
	};

	if (!runs_operators(name) || elf_file__offset(s->elfs[m->lib], vaddr, &probe.offset))
		return 0;
	snprintf(symbol, sizeof(symbol), METHOD_PREFIX "%s", name);
	return probe_plan__add(s->plan, &probe);
}

int paddle_ends__plan_methods(struct table_scan *s, unsigned int lib)
{
	struct methods m = {s, lib};
	int err = allowed_returns__add_pattern(&s->plan->returns, METHOD_PREFIX "*",
					       PADDLE_CATCHES_ALL);

	if (!err)
		err = python_methods__each(s->t, s->libs[lib], plan_method, &m);
	if (err != -EIO && err != -EFAULT)
		return err;
	err__take(err);
	return probe_plan__missing(s->plan, "libpaddle.so: cannot read its tables of methods; not "
					    "shown: where operators end that they call");
}

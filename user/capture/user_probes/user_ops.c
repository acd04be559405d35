// SPDX-License-Identifier: BSD-2-Clause
#include "capture/user_probes/user_ops.h"
#include "attach/attach.h"
#include "attach/site.h"
#include "capture/steps/step_probes.h"
#include "capture/user_probes/functions.h"
#include "common/counted.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <string.h>

#define OPS_MAX	  500 /* functions that one option may name */
#define EXITS_MAX 16  /* most exits of a function; spans of functions with more end by inference */

/* ---- --op ---- */

static bool in_section(struct elf_file *elf, const char *name, uint64_t vaddr)
{
	uint64_t begin;
	size_t len;

	return elf_file__section(elf, name, &begin, &len) && vaddr >= begin && vaddr - begin < len;
}

/* Does the jump leave the function? A jump to a part that the compiler split off does not. */
static bool is_tail_call(struct elf_file *elf, uint64_t target)
{
	struct elf_symbol to;

	if (in_section(elf, ".plt", target) || in_section(elf, ".plt.sec", target) ||
	    in_section(elf, ".plt.got", target))
		return true;
	return !elf_file__symbol_at(elf, target, &to) && to.is_function && to.vaddr == target &&
	       !strstr(to.name, ".cold");
}

/* Adds probes at the function's returns, with the entry's row. If an exception leaves the function,
 * no return is hit. The stack pointer of a later hit shows that. */
static int add_exits(struct elf_file *elf, const struct function *f, struct probe_plan *plan,
		     const struct planned_probe *entry)
{
	struct planned_probe probe = *entry;
	struct site_exit exits[EXITS_MAX];
	size_t len;
	const uint8_t *code = elf_file__bytes(elf, f->vaddr, &len);
	int cnt = code && f->size && f->size <= len ? site__exits(code, f->size, exits, EXITS_MAX)
						    : 0;
	int err = 0;

	probe.row = plan->row_cnt;
	probe.program = "call_leave";
	for (int i = 0; i < cnt && !err; i++) {
		if (exits[i].is_jump && !is_tail_call(elf, f->vaddr + (uint64_t)exits[i].target))
			continue;
		probe.vaddr = f->vaddr + exits[i].off;
		probe.offset = f->offset + exits[i].off;
		if (probe.vaddr == entry->vaddr)
			err = probe_plan__missing(
				plan,
				"the end of %s, which only jumps to another function: its time is "
				"that until its thread's next event; --op-returns sees the end, "
				"and kills the program if an exception leaves either",
				f->name);
		else
			err = probe_plan__add(plan, &probe);
	}
	return err;
}

/* Has another option or the framework's table planned the function? Two spans of one call would end
 * each other. */
static bool is_planned(const struct probe_plan *plan, const struct function *f)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (!strcmp(plan->probes[i].symbol, f->symbol) &&
		    !strcmp(plan->probes[i].lib->host_path, f->lib->host_path))
			return true;
	return false;
}

/* Go's runtime moves stacks, and ends the program at an unknown return address. It may also
 * continue a call on another thread. */
static bool is_go(struct elf_file *elf)
{
	return elf_file__whole_section(elf, ".go.buildinfo").bytes;
}

static int refuse_go(const struct function *f)
{
	return err__set(-EINVAL, MESSAGE_FUNCTION_OF_GO, f->name);
}

static int note_go(struct target *t, struct probe_plan *plan, const struct functions *found)
{
	struct elf_file *elf = target__elf(t, found->items[0].lib);

	if (!elf || !is_go(elf))
		return 0;
	return probe_plan__missing(
		plan,
		"true times and counts of Go's functions, such as %s: a call that waited continues "
		"on another thread, where its end may be taken for another call's",
		found->items[0].name);
}

static int add_op(struct target *t, struct probe_plan *plan, const struct function *f, bool returns)
{
	struct elf_file *elf = target__elf(t, f->lib);
	struct planned_probe probe = {
		.group = GROUP_OPERATOR,
		.lib = f->lib,
		.symbol = f->symbol,
		.vaddr = f->vaddr,
		.offset = f->offset,
		.program = "call_entry",
		.name = f->name,
		.category = CAT_FUNCTION,
		.chosen = true,
	};
	int err;

	if (!elf)
		return -EIO;
	if (returns) {
		if (is_go(elf))
			return refuse_go(f);
		probe.return_program = "call_return";
		err = allowed_returns__add_chosen(&plan->returns, f->symbol);
		return err ? err : probe_plan__add(plan, &probe);
	}
	/* the stack is still as at the entry */
	if (planned_probe__slide(elf, f->size, SITE_RSP, &probe))
		return probe_plan__missing(plan, "%s: no instruction of it can carry a probe",
					   f->name);
	err = probe_plan__add(plan, &probe);
	return err ? err : add_exits(elf, f, plan, &probe);
}

static int add_ops(const char *option, const struct text_list *list, bool returns, struct target *t,
		   struct probe_plan *plan)
{
	int err = 0;

	for (size_t i = 0; i < list->cnt && !err; i++) {
		struct functions found;
		size_t shown = 0;

		err = functions__find(t, option, list->items[i], OPS_MAX, &found);
		if (err)
			break;
		log__info(MESSAGE_FUNCTIONS_FOUND, option, list->items[i],
			  counted(found.cnt, "function", "functions").s);
		for (size_t j = 0; j < found.cnt && !err; j++) {
			if (is_planned(plan, &found.items[j]))
				shown++;
			else
				err = add_op(t, plan, &found.items[j], returns);
		}
		if (!err && !returns)
			err = note_go(t, plan, &found);
		if (shown == 1)
			log__info(MESSAGE_FUNCTION_SHOWN_ALREADY, option, list->items[i]);
		else if (shown)
			log__info(MESSAGE_FUNCTIONS_SHOWN_ALREADY, option, list->items[i], shown);
		functions__free(&found);
	}
	return err;
}

/* Adds a probe where C++ catches an exception (a function of the Itanium ABI). The functions that
 * the exception passed have ended there. */
static int add_catch(struct target *t, struct probe_plan *plan)
{
	struct planned_probe probe = {.group = GROUP_OPERATOR,
				      .symbol = "__cxa_begin_catch",
				      .program = "call_unwound",
				      .name = "catch",
				      .category = CAT_NONE,
				      .chosen = true};
	int err = 0;

	for (size_t i = 0; i < t->lib_cnt && !err; i++) {
		struct elf_file *elf = target__elf(t, &t->libs[i]);
		struct elf_symbol found;

		if (!elf || elf_file__symbol(elf, probe.symbol, &found) ||
		    elf_file__offset(elf, found.vaddr, &probe.offset))
			continue;
		probe.lib = &t->libs[i];
		probe.vaddr = found.vaddr;
		probe.cfg.rsp_shift = 0;
		if (!planned_probe__slide(elf, found.size, 0, &probe))
			err = probe_plan__add(plan, &probe);
	}
	return err;
}

/* ---- --step-probe ---- */

/* The entry probe of the same function if --op names it, too; NULL: --op does not. */
static struct planned_probe *op_of(struct probe_plan *plan, const struct planned_probe *step)
{
	for (size_t i = 0; i < plan->cnt; i++) {
		struct planned_probe *probe = &plan->probes[i];

		if (probe->chosen && step_probe__runs(probe, "call_entry") &&
		    !strcmp(probe->symbol, step->symbol) &&
		    !strcmp(probe->lib->host_path, step->lib->host_path))
			return probe;
	}
	return NULL;
}

static int add_step(struct probe_plan *plan, const struct target_lib *lib, const char *symbol,
		    uint64_t vaddr, uint64_t offset)
{
	struct planned_probe probe = {.group = GROUP_STEP,
				      .lib = lib,
				      .symbol = symbol,
				      .vaddr = vaddr,
				      .offset = offset,
				      .program = "step_probe"};
	struct planned_probe *op = op_of(plan, &probe);

	/* The kernel chooses the order of two probes at one place. The call that opens a window
	 * could then be outside of it. So the step's probe does the work of both. */
	if (op) {
		probe.cfg.code = op->row;
		op->program = NULL;
	}

	return probe_plan__add(plan, &probe);
}

/* Looks up a mangled name in all libraries. Returns 1 if a probe was added. */
static int step_by_symbol(const char *symbol, struct target *t, struct probe_plan *plan)
{
	for (size_t i = 0; i < t->lib_cnt; i++) {
		struct elf_file *elf = target__elf(t, &t->libs[i]);
		struct elf_symbol found;
		uint64_t offset;
		int err;

		if (!elf || elf_file__symbol(elf, symbol, &found) ||
		    elf_file__offset(elf, found.vaddr, &offset))
			continue;
		err = add_step(plan, &t->libs[i], symbol, found.vaddr, offset);
		return err ? err : 1;
	}
	return 0;
}

static int several(const char *spec, const struct functions *found)
{
	return err__set(-EINVAL, MESSAGE_STEP_PROBE_AMBIGUOUS, spec, found->cnt,
			found->items[0].name, found->items[1].name);
}

/* The function of an operator, if the name is an operator's name as in our tables. */
static const char *operator_function(const struct framework *f, const char *name, char *out,
				     size_t size)
{
	const size_t len = f && f->operator_prefix ? strlen(f->operator_prefix) : 0;
	const char *place = len ? strstr(f->operator_function, "%s") : NULL;

	if (!place || strncmp(name, f->operator_prefix, len) != 0)
		return name;
	snprintf(out, size, "%.*s%s%s", (int)(place - f->operator_function), f->operator_function,
		 name + len, place + 2);
	for (char *c = out + (place - f->operator_function); *c; c++)
		if (*c == '.')
			*c = '_';
	return out;
}

static int plan_step(const char *spec, struct target *t, struct probe_plan *plan)
{
	struct functions found;
	char anywhere[1024], lib[256];
	const char *glob;
	int err = step_by_symbol(spec, t, plan);

	if (err)
		return err > 0 ? 0 : err;
	/* The library's name may be shortened, as in libtorch_cpu. */
	if (function_spec__split("--step-probe", spec, lib, sizeof(lib), &glob)) {
		err__take(-EINVAL);
		snprintf(anywhere, sizeof(anywhere), "*:%s", spec);
	} else {
		bool whole = !strcmp(lib, "exe") || strpbrk(lib, ".*");

		snprintf(anywhere, sizeof(anywhere), "%s%s:%s", lib, whole ? "" : "*", glob);
	}
	err = functions__find(t, "--step-probe", anywhere, OPS_MAX, &found);
	if (err)
		return err;
	err = found.cnt > 1 ? several(spec, &found)
			    : add_step(plan, found.items[0].lib, found.items[0].symbol,
				       found.items[0].vaddr, found.items[0].offset);
	functions__free(&found);
	return err;
}

static bool is_stepped(struct target *t, const struct planned_probe *probe)
{
	return probe->category == CAT_FUNCTION && planned_probe__site(t, probe) == SITE_STEPPED;
}

/* Counts functions, not probes. The probes of a function follow each other in the plan. */
static size_t count_stepped(struct target *t, const struct probe_plan *plan)
{
	uint32_t latest = 0;
	size_t cnt = 0;

	for (size_t i = 0; i < plan->cnt; i++) {
		if (plan->probes[i].row == latest || !is_stepped(t, &plan->probes[i]))
			continue;
		latest = plan->probes[i].row;
		cnt++;
	}
	return cnt;
}

int user_ops__plan(const struct capture_opts *opts, const struct framework *framework,
		   struct target *t, struct probe_plan *plan)
{
	char function[512];
	int err = add_ops("--op-returns", &opts->ops_returning, true, t, plan);

	if (!err)
		err = add_ops("--op", &opts->ops, false, t, plan);
	if (!err && opts->ops.cnt)
		err = add_catch(t, plan);
	if (!err)
		plan->stepped = count_stepped(t, plan);
	if (!err && opts->step_probe)
		err = plan_step(
			operator_function(framework, opts->step_probe, function, sizeof(function)),
			t, plan);
	return err;
}

/* ---- overloads ---- */

enum { OVERLOADS_NAMED = 6 };

/* Does the overload write to a tensor that the caller passes? Few calls use these overloads. */
static bool is_out(const char *overload)
{
	const size_t len = strlen(overload);

	return len >= 3 && !strcmp(overload + len - 3, "out");
}

/* at::_ops::min_dim::call(...) is aten::min.dim, and its base is "::min_". Returns false for
 * functions of other operators. */
static bool overload_of(const char *function, const char *base, char *out, size_t size)
{
	const char *name = strstr(function, base), *end;

	if (!name)
		return false;
	name += strlen(base);
	end = strstr(name, "::");
	snprintf(out, size, "%.*s", end ? (int)(end - name) : 0, name);
	return *out && !is_out(out);
}

/* A program's headers may turn a call into a call of __FUNCTION. Looks for that function. */
static enum namesakes find_underscored(struct target *t, const char *step_probe, char *out,
				       size_t size)
{
	const char *colon = strrchr(step_probe, ':');
	struct functions found;
	char glob[512];

	if (!colon)
		return NAMESAKES_NONE;
	snprintf(glob, sizeof(glob), "%.*s:__%s", (int)(colon - step_probe), step_probe, colon + 1);
	if (functions__find(t, "--step-probe", glob, OPS_MAX, &found)) {
		err__take(-ENOENT);
		return NAMESAKES_NONE;
	}
	snprintf(out, size, "%s", glob);
	functions__free(&found);
	return NAMESAKES_UNDERSCORED;
}

enum namesakes user_ops__namesakes(const struct framework *framework, const char *step_probe,
				   struct target *t, char *out, size_t size)
{
	const size_t len = strcspn(step_probe, ".");
	char base[256], glob[512], overload[128];
	struct functions found;
	size_t at = 0, cnt = 0;

	*out = '\0';
	snprintf(base, sizeof(base), "%.*s_*", (int)len, step_probe);
	if (operator_function(framework, base, glob, sizeof(glob)) == base)
		return find_underscored(t, step_probe, out, size);
	if (functions__find(t, "--step-probe", glob, OPS_MAX, &found)) {
		err__take(-ENOENT);
		return NAMESAKES_NONE;
	}
	snprintf(base, sizeof(base), "::%.*s_", (int)(len - strlen(framework->operator_prefix)),
		 step_probe + strlen(framework->operator_prefix));
	for (size_t i = 0; i < found.cnt && cnt < OVERLOADS_NAMED && at < size; i++)
		if (overload_of(found.items[i].name, base, overload, sizeof(overload)))
			at += (size_t)snprintf(out + at, size - at, "%s%.*s.%s", cnt++ ? ", " : "",
					       (int)len, step_probe, overload);
	functions__free(&found);
	return cnt ? NAMESAKES_OVERLOADS : NAMESAKES_NONE;
}

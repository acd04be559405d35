// SPDX-License-Identifier: BSD-2-Clause
#include "device/cuda_calls.h"
#include "attach/attach.h"
#include "attach/site.h"
#include "common/util.h"
#include "device/kernels/demangle.h"
#include <string.h>

static const struct library {
	const char *pattern;
	enum span_category category;
} libraries[] = {
	{"libcudart.so*", CAT_RUNTIME},
	{"libcuda.so*", CAT_DRIVER},
};

struct planner {
	struct target *t;
	struct probe_plan *plan;
	const struct target_lib *lib;
	struct elf_file *elf;
	enum span_category category;
	enum probe_group group; /* GROUP_DEVICE or GROUP_LAUNCH */
	size_t first;		/* index of the library's first probe */
};

static bool is_planned(const struct planner *p)
{
	for (size_t i = 0; i < p->plan->cnt; i++)
		if (p->plan->probes[i].group == p->group &&
		    !strcmp(p->plan->probes[i].lib->host_path, p->lib->host_path))
			return true;
	return false;
}

/* Functions without _v2 have 32-bit addresses and sizes. They exist for programs of CUDA 3, and
 * their arguments lie elsewhere. */
static bool is_obsolete(const struct planner *p, const struct cuda_call *call, const char *symbol)
{
	uint8_t class = call->cfg.call_class;
	struct elf_symbol newer;
	char name[160];

	if (p->category != CAT_DRIVER || class == PT_CALL_OTHER || class == PT_CALL_LAUNCH ||
	    class == PT_CALL_SYNC || strstr(symbol, "_v"))
		return false;
	snprintf(name, sizeof(name), "%s_v2", call->name);
	return !elf_file__symbol(p->elf, name, &newer);
}

/* Two names of one address need one probe. */
static bool has_address(const struct planner *p, uint64_t vaddr)
{
	for (size_t i = p->first; i < p->plan->cnt; i++)
		if (p->plan->probes[i].vaddr == vaddr)
			return true;
	return false;
}

/* Does the function only jump to another function of the table? The other's probe sees its
 * calls. */
static bool is_forwarder(const struct planner *p, const struct elf_symbol *s)
{
	size_t len;
	const uint8_t *code = elf_file__bytes(p->elf, s->vaddr, &len);
	int64_t to = code ? site__jumps_to(code, s->size && s->size < len ? s->size : len) : 0;
	struct elf_symbol other;

	return to && !elf_file__symbol_at(p->elf, s->vaddr + (uint64_t)to, &other) &&
	       other.vaddr == s->vaddr + (uint64_t)to && cuda_call__find(other.name);
}

static int plan_symbol(const struct elf_symbol *s, void *ctx)
{
	struct planner *p = ctx;
	struct planned_probe probe = {
		.group = p->group,
		.lib = p->lib,
		.symbol = s->name,
		.vaddr = s->vaddr,
		.program = "device_launch",
		.category = p->category,
	};
	const struct cuda_call *call;
	int err;

	if (!s->is_function || (s->name[0] != 'c' && s->name[0] != '_'))
		return 0;
	call = cuda_call__find(s->name);
	if (!call || is_obsolete(p, call, s->name) || has_address(p, s->vaddr) ||
	    is_forwarder(p, s) || elf_file__offset(p->elf, s->vaddr, &probe.offset))
		return 0;
	if (p->group == GROUP_LAUNCH && !PT_CALL_GIVES_WORK(call->cfg.call_class))
		return 0;
	if (p->group == GROUP_DEVICE) {
		probe.program = "device_call_entry";
		probe.return_program = "device_call_return";
		err = allowed_returns__add_pattern(&p->plan->returns, s->name,
						   "C function of CUDA: throws nothing");
		if (err)
			return err;
	}
	probe.cfg.call = call->cfg;
	probe.name = call->name + strspn(call->name, "_");
	return probe_plan__add(p->plan, &probe);
}

static int plan_library(struct target *t, const struct library *library, enum probe_group group,
			struct probe_plan *plan)
{
	struct planner p = {.t = t,
			    .plan = plan,
			    .lib = target__find_lib(t, library->pattern),
			    .category = library->category,
			    .group = group,
			    .first = plan->cnt};
	int err;

	if (!p.lib || is_planned(&p))
		return 0;
	p.elf = target__elf(t, p.lib);
	if (!p.elf)
		return -EIO;
	err = elf_file__for_each_symbol(p.elf, plan_symbol, &p);
	return err ? err : plan->cnt > p.first;
}

bool cuda_calls__complete(const struct probe_plan *plan)
{
	size_t found[CAT_CNT] = {0}, complete = 0;

	for (size_t i = 0; i < plan->cnt; i++)
		if (plan->probes[i].group == GROUP_DEVICE)
			found[plan->probes[i].category]++;
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++)
		complete += found[libraries[i].category] > 0;
	return complete == ARRAY_SIZE(libraries);
}

static int plan_libraries(struct target *t, enum probe_group group, struct probe_plan *plan)
{
	int added = 0;

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		int n = plan_library(t, &libraries[i], group, plan);

		if (n < 0)
			return n;
		added += n;
	}
	return added;
}

int cuda_calls__plan(struct target *t, struct probe_plan *plan)
{
	return plan_libraries(t, GROUP_DEVICE, plan);
}

int cuda_calls__plan_launches(struct target *t, struct probe_plan *plan)
{
	return plan_libraries(t, GROUP_LAUNCH, plan);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/torch/torch_dispatch.h"
#include "frameworks/torch/torch_boxed.h"
#include "frameworks/torch/torch_ops.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int plan_sites(struct table_scan *s, unsigned int lib, const struct planned_probe *entry,
		      const char *program, const uint64_t *vaddrs, int cnt)
{
	struct planned_probe site = *entry;

	site.program = program;
	site.row = s->plan->probes[s->plan->cnt - 1].row; /* the row of the function's entry */
	for (int i = 0; i < cnt; i++) {
		int err;

		site.vaddr = vaddrs[i];
		if (elf_file__offset(s->elfs[lib], site.vaddr, &site.offset))
			continue;
		err = probe_plan__add(s->plan, &site);
		if (err)
			return err;
	}
	return 0;
}

static int plan_typed(struct table_scan *s, unsigned int lib, const struct torch_op *op)
{
	struct planned_probe probe = {
		.group = GROUP_INNER,
		.lib = s->libs[lib],
		.symbol = op->symbol,
		.vaddr = op->entry_vaddr,
		.program = s->opts->record_shapes ? "call_entry_args" : "call_entry",
		.name = op->name,
		.schema = op->schema,
		.category = CAT_OPERATOR,
		.cfg = {.arg_cnt = op->args.read_cnt,
			.flags = op->args.result,
			.code = op->args.result_offset},
	};
	int err;

	memcpy(probe.cfg.arg_slot, op->args.slot, sizeof(probe.cfg.arg_slot));
	memcpy(probe.cfg.arg_kind, op->args.kind, sizeof(probe.cfg.arg_kind));
	memcpy(probe.cfg.arg_index, op->args.index, sizeof(probe.cfg.arg_index));
	if (elf_file__offset(s->elfs[lib], probe.vaddr, &probe.offset))
		return 0;
	err = probe_plan__add(s->plan, &probe);
	return err ? err
		   : plan_sites(s, lib, &probe, op->args.result ? "call_site_result" : "call_site",
				op->end_vaddrs, op->end_cnt);
}

static int plan_boxed_copy(struct table_scan *s, unsigned int lib, const struct torch_boxed *boxed,
			   enum pt_name_source string_abi)
{
	struct planned_probe probe = {
		.group = GROUP_INNER,
		.lib = s->libs[lib],
		.symbol = boxed->symbol,
		.vaddr = boxed->entry_vaddr,
		.program = "boxed_entry",
		.category = CAT_OPERATOR,
		.cfg = {.name_reg = boxed->handle_reg,
			.key_reg = boxed->stack_reg,
			.name_source = string_abi},
	};
	int err;

	if (elf_file__offset(s->elfs[lib], probe.vaddr, &probe.offset))
		return 0;
	err = probe_plan__add(s->plan, &probe);
	return err ? err
		   : plan_sites(s, lib, &probe, "call_site", boxed->end_vaddrs, boxed->end_cnt);
}

enum pt_name_source torch_dispatch__string_abi(const struct probe_plan *plan)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (!strcmp(plan->probes[i].program, "range_enter"))
			return plan->probes[i].cfg.name_source;
	return PT_NAME_CXX11;
}

static int plan_boxed(struct table_scan *s, unsigned int lib)
{
	enum pt_name_source abi = torch_dispatch__string_abi(s->plan);
	struct torch_boxed_list boxed = {NULL, 0};
	int err = s->elfs[lib] ? torch_boxed__find(s->elfs[lib], &boxed) : 0;

	for (size_t i = 0; i < boxed.cnt && !err; i++)
		err = plan_boxed_copy(s, lib, &boxed.items[i], abi);
	free(boxed.items);
	return err;
}

int torch_dispatch__plan(struct table_scan *s, unsigned int cpu, unsigned int python)
{
	struct torch_ops *ops;
	int err = s->elfs[cpu] ? torch_ops__load(s->elfs[cpu], &ops) : -ENOENT;

	if (err == -ENOENT)
		return probe_plan__missing(s->plan,
					   "libtorch_cpu.so: no at::_ops symbols; not shown: "
					   "dispatched operators");
	if (err)
		return err;
	for (size_t i = 0; i < ops->cnt && !err; i++)
		err = plan_typed(s, cpu, &ops->ops[i]);
	torch_ops__free(ops);
	err = err ? err : plan_boxed(s, cpu);
	return err ? err : plan_boxed(s, python);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every dispatched operator of a libtorch_cpu.so: its begin and ends, its schema, and where its
 * tensors are. All names, schemas and places are read from the file.
 */
#ifndef PROFTRACE_TORCH_OPS_H
#define PROFTRACE_TORCH_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "frameworks/torch/torch_schema.h"
#include "frameworks/torch/torch_sites.h"
#include "target/elf_file.h"

/* the function at::_ops::X::call */
struct torch_op {
	const char *name;     /* "aten::add"; "aten::add_Tensor" if no schema was found */
	const char *overload; /* "Tensor", empty if none (or no schema) */
	const char *schema; /* "aten::add.Tensor(Tensor self, ...) -> Tensor"; NULL if not found */
	const char *symbol; /* mangled; valid while the file is open */
	uint64_t entry_vaddr;
	uint64_t end_vaddrs[TORCH_MAX_ENDS]; /* each is a jcc whose bytes were checked */
	int end_cnt;			     /* 0: the end is inferred from the stack pointer */
	struct torch_arg_plan args;	     /* no tensors without a schema */
};

struct torch_ops {
	struct torch_op *ops; /* sorted by entry_vaddr */
	size_t cnt;
	size_t schema_cnt, end_cnt;    /* number of operators that have a schema, and ends */
	struct torch_ops_arena *arena; /* owns the names and schemas */
};

/* 0 or a negative errno with err__set (-ENOENT: no operators, so no libtorch_cpu). The file must
 * stay open while symbols are used. */
int torch_ops__load(struct elf_file *cpu, struct torch_ops **out);
void torch_ops__free(struct torch_ops *ops);

/*
 * Name of an autograd node as torch.profiler writes it behind "autograd::engine::evaluate_function:
 * ". It is made from the name of the type_info of its vtable or, for nodes written in Python, from
 * tp_name of its class (either may be NULL). "N5torch8autograd9generated14AddmmBackward0E" is
 * "AddmmBackward0", "N5torch8autograd14AccumulateGradE" is "torch::autograd::AccumulateGrad".
 * Caller frees; NULL if both are NULL or memory is short.
 */
char *torch_node_name(const char *type_info, const char *type_obj_name);

/**
 * torch_node_of_apply() - the type of node that a function runs
 * @symbol:    mangled, such as
 *             "_ZN5torch8autograd9generated14AddmmBackward05applyEOSt6vectorIN2at6TensorESaIS4_EE"
 * @type_info: receives the name in its type_info: "N5torch8autograd9generated14AddmmBackward0E"
 * @size:      bytes at @type_info
 *
 * False if the symbol is no node's apply().
 */
bool torch_node_of_apply(const char *symbol, char *type_info, size_t size);

#endif

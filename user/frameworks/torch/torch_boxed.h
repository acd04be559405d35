/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls of operators by name: custom operators, torch.ops, TorchScript. All pass through
 * c10::Dispatcher::callBoxed, an inline function. libtorch_cpu.so and libtorch_python.so both have
 * copies of it. If it is exported (before PyTorch 2.9 or so), the loader binds both libraries to
 * one of the copies.
 */
#ifndef PROFTRACE_TORCH_BOXED_H
#define PROFTRACE_TORCH_BOXED_H

#include <stddef.h>
#include <stdint.h>
#include "frameworks/torch/torch_sites.h"
#include "target/elf_file.h"

/* A copy of callBoxed(const OperatorHandle &, Stack *). *(handle) is the OperatorDef. It begins
 * with the operator's name, a std::string. */
struct torch_boxed {
	const char *symbol; /* mangled, valid while the file is open */
	uint64_t entry_vaddr;
	uint64_t end_vaddrs[TORCH_MAX_ENDS];
	int end_cnt;
	uint8_t handle_reg, stack_reg; /* argument registers: 0 rdi, 1 rsi, 2 rdx */
};

struct torch_boxed_list {
	struct torch_boxed *items;
	size_t cnt;
};

/* The library's copies, perhaps none. 0 or a negative errno. Free the items. */
int torch_boxed__find(struct elf_file *elf, struct torch_boxed_list *out);

#endif

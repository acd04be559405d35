/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernels that a library registers with the CUDA runtime when it is loaded, read from its code.
 * It calls __cudaRegisterFunction(handle, stub, device, name, ...) and, since CUDA 13,
 * __cudaGetKernel(&variable, stub). The arguments are constants in the file.
 */
#ifndef PROFTRACE_KERNEL_REGISTRY_H
#define PROFTRACE_KERNEL_REGISTRY_H

#include "target/elf_file.h"

struct registered_kernel {
	uint64_t stub;	  /* address in the file of the host stub that launches the kernel */
	const char *name; /* mangled; valid while the file is open */
};

struct kernel_variable {
	uint64_t variable; /* address of the stub's variable for the kernel's handle */
	uint64_t stub;
};

struct kernel_registry {
	struct registered_kernel *kernels; /* sorted by stub */
	size_t kernel_cnt, kernel_cap;
	struct kernel_variable *variables;
	size_t variable_cnt, variable_cap;
};

/* 0 or -ENOMEM. Empty for a file that registers no kernels through its PLT. Reads all of the code,
 * which takes 0.1 s for PyTorch. */
int kernel_registry__read(struct elf_file *elf, struct kernel_registry *out);
void kernel_registry__free(struct kernel_registry *r);

/* NULL: no kernel has this stub. */
const char *kernel_registry__name(const struct kernel_registry *r, uint64_t stub);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a library tells the CUDA runtime about its kernels when it is loaded, read from its code: the
 * calls of __cudaRegisterFunction(handle, stub, device, name, ...) and, since CUDA 13, of
 * __cudaGetKernel(&variable, stub), whose arguments are constants of the file.
 */
#ifndef PROFTRACE_KERNEL_REGISTRY_H
#define PROFTRACE_KERNEL_REGISTRY_H

#include "target/elf_file.h"

struct registered_kernel {
	uint64_t stub;	  /* address in the file of the function that launches it */
	const char *name; /* mangled; valid while the file is open */
};

struct kernel_variable {
	uint64_t variable; /* where the stub keeps the kernel's handle */
	uint64_t stub;
};

struct kernel_registry {
	struct registered_kernel *kernels; /* by stub */
	size_t kernel_cnt, kernel_cap;
	struct kernel_variable *variables;
	size_t variable_cnt, variable_cap;
};

/* 0 or -ENOMEM; empty for a file that registers no kernels through its PLT. Looks at all of the
 * code, 0.1 s for PyTorch's. */
int kernel_registry__read(struct elf_file *elf, struct kernel_registry *out);
void kernel_registry__free(struct kernel_registry *r);

/* NULL: no kernel has this stub. */
const char *kernel_registry__name(const struct kernel_registry *r, uint64_t stub);

#endif

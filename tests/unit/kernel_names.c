// SPDX-License-Identifier: BSD-2-Clause
#include "device/kernels/kernel_names.h"
#include "device/kernels/kernel_registry.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void expect_name(const char *stub, const char *kernel)
{
	char *name = kernel_name__of_stub(stub);

	cr_expect_str_eq(name, kernel);
	free(name);
}

Test(kernel_names, a_stub_is_named_after_its_kernel)
{
	/* the kernel's own name is that of the function that calls the stub */
	expect_name("_Z3addPfPf", "_Z3addPfPf");
	/* the stub's own arguments come after the counted name */
	expect_name("_ZL24__device_stub__Z3addPfPfRKfS_", "_Z3addPfPf");
	expect_name("_Z24__device_stub__Z3addPfPfPfS_", "_Z3addPfPf");
	/* extern "C" */
	expect_name("_Z19__device_stub__scalPf", "scal");
	/* a count that cannot be */
	expect_name("_ZL99999__device_stub__Z3addPf", "_Z3addPf");
}

/* TORCH_LIB names the directory with PyTorch's libraries, of a CUDA build or not. */
static struct elf_file *open_kernels(void)
{
	const char *dir = getenv("TORCH_LIB");
	struct elf_file *f = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/libtorch_cuda_linalg.so", dir ? dir : "");
	if (access(path, R_OK) != 0)
		cr_skip_test("no CUDA build of PyTorch in TORCH_LIB");
	cr_assert_eq(elf_file__open(path, &f), 0, "%s", path);
	return f;
}

/* Optimised and unoptimised code in one library. */
Test(kernel_registry, each_variable_of_a_stub_has_its_kernel)
{
	struct elf_file *f = open_kernels();
	struct kernel_registry r;
	struct elf_symbol s;

	cr_assert_eq(kernel_registry__read(f, &r), 0);
	cr_expect_gt(r.kernel_cnt, 100);
	cr_expect_geq(r.variable_cnt, r.kernel_cnt);
	for (size_t i = 0; i < r.variable_cnt; i++) {
		cr_assert_eq(elf_file__symbol_at(f, r.variables[i].variable, &s), 0);
		cr_expect(strstr(s.name, "__handle"), "%s", s.name);
		cr_expect(kernel_registry__name(&r, r.variables[i].stub), "%s", s.name);
	}
	kernel_registry__free(&r);
	elf_file__close(f);
}

Test(kernel_registry, a_program_without_kernels_has_none)
{
	struct kernel_registry r;
	struct elf_file *f;

	cr_assert_eq(elf_file__open("/proc/self/exe", &f), 0);
	cr_expect_eq(kernel_registry__read(f, &r), 0);
	cr_expect_eq(r.kernel_cnt, 0);
	cr_expect_null(kernel_registry__name(&r, 0));
	kernel_registry__free(&r);
	elf_file__close(f);
}

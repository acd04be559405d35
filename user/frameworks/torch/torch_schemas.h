/* SPDX-License-Identifier: BSD-2-Clause */
/* The schema texts of a libtorch_cpu.so, found in its read-only data, for lookup by operator. */
#ifndef PROFTRACE_TORCH_SCHEMAS_H
#define PROFTRACE_TORCH_SCHEMAS_H

#include "frameworks/torch/torch_schema.h"

struct torch_schemas;

/* Reads the bytes once; they must outlive the result. 0 or -ENOMEM. */
int torch_schemas__scan(const uint8_t *rodata, size_t len, struct torch_schemas **out);
void torch_schemas__free(struct torch_schemas *s);
size_t torch_schemas__cnt(const struct torch_schemas *s);

/*
 * The schema of at::_ops::<name>: name is "add_Tensor" for add.Tensor, params the mangled
 * parameters of its call(). 0 and *out, or -ENOENT. It also finds schemas that the linker merged
 * into the end of a longer one ("real" in "view_as_real").
 */
int torch_schemas__find(const struct torch_schemas *s, const char *name, size_t len,
			const char *params, struct torch_schema *out);

#endif

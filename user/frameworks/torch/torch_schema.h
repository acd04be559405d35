/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PyTorch operator schemas, as native_functions.yaml writes them and the binary carries them:
 * "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor". From the text follows
 * where the C++ function at::_ops::add_Tensor::call finds each argument (System V x86-64 ABI).
 */
#ifndef PROFTRACE_TORCH_SCHEMA_H
#define PROFTRACE_TORCH_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "bpf/probe_cfg.h"

/* A piece of the schema text; not NUL-terminated. */
struct text_span {
	const char *p;
	size_t len;
};

struct torch_schema {
	struct text_span name;	   /* "aten::add" or "add", as written */
	struct text_span overload; /* "Tensor", empty if none */
	struct text_span args;	   /* between the parentheses */
	struct text_span returns;  /* after the arrow */
	bool prefixed;		   /* name has a namespace */
};

/* Splits a schema; -EINVAL if the text is not one. Only pointers into text are kept. */
int torch_schema__parse(const char *text, size_t len, struct torch_schema *s);

/* The arguments that a probe at the entry of `call` can read, in the form of
 * struct pt_probe_cfg: slots 0..5 are rdi..r9, 6.. words on the stack above the return address. */
struct torch_arg_plan {
	uint8_t read_cnt; /* at most PT_MAX_ARGS */
	uint8_t slot[PT_MAX_ARGS];
	uint8_t kind[PT_MAX_ARGS];  /* enum pt_arg_kind */
	uint8_t index[PT_MAX_ARGS]; /* argument's position, '*' not counted */
	uint8_t arg_cnt;	       /* arguments of any type that were placed */
	bool sret;		       /* rdi holds the address of the result */
	uint8_t result;		       /* PT_RESULT_*: what rdi leads to; 0: no tensor */
	uint32_t result_offset;	       /* bytes behind rdi at which it lies */
	bool complete; /* false: a type was not known, it and what follows are left out */
};
/* mangled_params ("RKNS_6TensorES4_b") tells what goes by address; NULL if not known. own_optional:
 * the library has c10::optional, as before 2.2, which makes an optional list no larger than a list.
 */
void torch_schema__plan(const struct torch_schema *s, const char *mangled_params, bool own_optional,
			struct torch_arg_plan *plan);

/*
 * Does a mangled parameter list have the schema's arguments: as many, and
 * bool, float and int where the schema says so? Tells schemas of equal name apart.
 */
bool torch_schema__fits(const struct torch_schema *s, const char *mangled_params);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * PyTorch operator schemas, as in native_functions.yaml and in the binary: "aten::add.Tensor(Tensor
 * self, Tensor other, *, Scalar alpha=1) -> Tensor". The text shows where the C++ function
 * at::_ops::add_Tensor::call finds each argument (System V x86-64 ABI).
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
	bool prefixed;		   /* the name has a namespace */
};

/* Splits a schema. -EINVAL if the text is none. Keeps only pointers into text. */
int torch_schema__parse(const char *text, size_t len, struct torch_schema *s);

/* The arguments that a probe at the entry of `call` can read, in the form of struct pt_probe_cfg.
 * Slots 0..5 are rdi..r9; 6 and more are stack words above the return address. */
struct torch_arg_plan {
	uint8_t read_cnt; /* at most PT_MAX_ARGS */
	uint8_t slot[PT_MAX_ARGS];
	uint8_t kind[PT_MAX_ARGS];  /* number of the argument, not counting '*' */
	uint8_t index[PT_MAX_ARGS]; /* arguments of any type whose place is known */
	uint8_t arg_cnt;	       /* arguments of any type that were placed */
	bool sret;		       /* rdi holds the address of the result */
	uint8_t result;		       /* PT_RESULT_*: what rdi points to; 0: no tensor */
	uint32_t result_offset;	       /* its offset in bytes from rdi */
	bool complete; /* false: an argument had an unknown type, so it and the later ones are
			  left out */
};
/* mangled_params ("RKNS_6TensorES4_b") shows which arguments are passed by address. NULL: unknown.
 * own_optional: the library has c10::optional (before 2.2), in which an optional list is no larger
 * than a list. */
void torch_schema__plan(const struct torch_schema *s, const char *mangled_params, bool own_optional,
			struct torch_arg_plan *plan);

/*
 * Does a mangled parameter list fit the schema's arguments: the number, and bool, float and int
 * where the schema has them? Tells schemas of the same name apart.
 */
bool torch_schema__fits(const struct torch_schema *s, const char *mangled_params);

#endif

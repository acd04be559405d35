/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Floating point operations of operators, by the formulas of torch.profiler's with_flops
 * (torch/csrc/profiler/util.cpp). There are formulas for products of matrices, conv2d, add and mul.
 * A multiplication and an addition are two operations.
 */
#ifndef PROFTRACE_FLOPS_H
#define PROFTRACE_FLOPS_H

#include "recording/recording.h"

enum flops_state {
	FLOPS_NONE,    /* the operator has no formula */
	FLOPS_UNKNOWN, /* it has a formula, but the call's arguments are not all recorded or do
			  not fit it */
	FLOPS_KNOWN,
};

enum flops_formula {
	FORMULA_NONE,
	FORMULA_CONV2D,
	FORMULA_MM,
	FORMULA_ADDMM,
	FORMULA_BMM,
	FORMULA_BADDBMM,
	FORMULA_ELEMENTWISE,
};

enum flops_formula flops__formula(const char *op);

/* Operations of one call. defaults: arguments after the last recorded one have their default
 * values. */
enum flops_state flops__of(enum flops_formula formula, const struct event *call, bool defaults,
			   uint64_t *flops);

#endif

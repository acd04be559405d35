/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of torch.distributed's collectives. */
#ifndef PROFTRACE_TORCH_COLLECTIVES_H
#define PROFTRACE_TORCH_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The operator that a method of c10d::ProcessGroup dispatches, made from the mangled name, as
 * torch.profiler writes it ("c10d::allreduce_"). False: it dispatches none.
 */
bool torch_collective__operator(const char *symbol, char *op, size_t size);

/* The name that torch.profiler writes after the backend ("gloo:all_reduce"), by c10d::OpType;
 * static text. */
const char *torch_collective__name(uint64_t code);

#endif

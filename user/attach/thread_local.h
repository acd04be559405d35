/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_THREAD_LOCAL_H
#define PROFTRACE_THREAD_LOCAL_H

#include <stddef.h>
#include <stdint.h>

/* What a function passes to __tls_get_addr, and where from its result it reads. */
struct thread_local_use {
	int64_t index; /* of the tls_index, from code[0]: the module, then an offset */
	int32_t shift; /* to be added to that offset */
};

/*
 * The thread-local variable that a function reads first and returns, by its instructions: general
 * and local dynamic model. -ENOENT: it is no such function. Architecture: x86-64
 * (thread_local_x86.c).
 */
int thread_local__use(const uint8_t *code, size_t len, struct thread_local_use *use);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_THREAD_LOCAL_H
#define PROFTRACE_THREAD_LOCAL_H

#include <stddef.h>
#include <stdint.h>

/* The argument of a function's call of __tls_get_addr, and what it reads from the result. */
struct thread_local_use {
	int64_t index; /* distance from code[0] of the tls_index, which is a module and an offset */
	int32_t shift; /* to be added to that offset */
};

/*
 * The thread-local variable that a function reads first and returns, found in its instructions
 * (general and local dynamic model). -ENOENT: it is no such function. Architecture: x86-64
 * (thread_local_x86.c).
 */
int thread_local__use(const uint8_t *code, size_t len, struct thread_local_use *use);

#endif

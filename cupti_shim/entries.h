/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * entries_x86.c: the code that hooked pointers lead to. It has one entry per function for the life
 * of the process. An entry calls trampoline.c at the begin and at the end of a call.
 */
#ifndef PROFTRACE_ENTRIES_H
#define PROFTRACE_ENTRIES_H

#include <stdint.h>

void *entries__at(uint32_t function);
uint32_t entries__index(const void *entry); /* SHIM_FUNCTIONS: it is no entry */

#endif

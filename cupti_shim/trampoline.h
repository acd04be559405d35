/* SPDX-License-Identifier: BSD-2-Clause */
/* trampoline.c: notes the calls that come by way of an entry (entries.h). */
#ifndef PROFTRACE_TRAMPOLINE_H
#define PROFTRACE_TRAMPOLINE_H

#include "cupti_shim/protocol.h"

/* What the file wants is noted from now on. index[i]: of shim_functions()[i] here, SHIM_FUNCTIONS:
 * there is no room for it. */
void trampoline__begin(struct shim_control *c, uint32_t *index);
/* Tells of the calls that have not returned. */
void trampoline__put_open(struct shim_control *c);
/* What noting a call takes, about. */
uint64_t trampoline__cost_ns(void);

/* Where a function's entry leads to; NULL: nowhere yet. */
void *trampoline__original(uint32_t function);
/* It is called by Python, as an object's function. */
bool trampoline__is_method(uint32_t function);

/* ---- for entries_x86.c ---- */

struct way {
	void *to;
	uint64_t through; /* 0: a jump; else a call, with so many words less one of its stack */
};
/* At the very begin of a function. registers: those of arguments, in their order; sp: at the return
 * address. Behind those lie kept ones, KEPT_WORDS from the first: rbx, rbp, r12 to r15. */
#define KEPT_WORDS 8
struct way trampoline__enter(uint32_t function, const uint64_t *registers, uintptr_t sp);
/* Behind a call, with the same. */
void trampoline__leave(uint32_t function, uintptr_t sp);

/* Their personality: an exception, or what ends the thread, leaves the innermost of those calls. */
int trampoline__on_unwind(int version, int actions, uint64_t class, void *exception, void *context);

/* names.c: what calls are named by, told as keys of shim_seen_names(). */
void names__begin(const struct shim_control *c);
/* Of the std::string there; SHIM_NO_NODE: it is empty, or longer than names are. */
uint64_t names__own(uint64_t string);
/* What the caller calls it, of a function's begin as trampoline__enter() has it; 0: nothing that is known. */
uint64_t names__callers(const uint64_t *registers, uintptr_t sp);

/* Of what several threads look at, as a whole. */
#define READ(field)	    __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define WRITE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* A word of the program's memory, which must be there. */
static inline uint64_t word_at(uint64_t object, uint64_t offset)
{
	return *(const uint64_t *)(uintptr_t)(object + offset);
}

#endif

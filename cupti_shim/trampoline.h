/* SPDX-License-Identifier: BSD-2-Clause */
/* trampoline.c: notes calls that come through an entry (entries.h). */
#ifndef PROFTRACE_TRAMPOLINE_H
#define PROFTRACE_TRAMPOLINE_H

#include "cupti_shim/protocol.h"

/* From now on notes calls of the file's functions. index[i] is the number here of
 * shim_functions()[i]; SHIM_FUNCTIONS: there is no room for it. */
void trampoline__begin(struct shim_control *c, uint32_t *index);
/* Writes a record for each call that has not returned. */
void trampoline__put_open(struct shim_control *c);
/* Estimated time that recording a call takes. */
uint64_t trampoline__cost_ns(void);

/* The original function behind an entry; NULL: the entry is unused. */
void *trampoline__original(uint32_t function);
/* Does Python call it as a method of an object? */
bool trampoline__is_method(uint32_t function);

/* ---- for entries_x86.c ---- */

struct way {
	void *to;
	uint64_t through; /* 0: jump there; otherwise call it, and copy through - 1 words of the
			     stack */
};
/* Call it at the begin of a function. registers: those of the arguments, in order, then from
 * KEPT_WORDS on rbx, rbp, r12 to r15. sp: points to the return address. */
#define KEPT_WORDS 8
struct way trampoline__enter(uint32_t function, const uint64_t *registers, uintptr_t sp);
/* Call it when the function has returned, with the same values. */
void trampoline__leave(uint32_t function, uintptr_t sp);

/* The personality routine of common's frame: an exception, or the end of the thread, leaves the
 * thread's innermost call. */
int trampoline__on_unwind(int version, int actions, uint64_t class, void *exception, void *context);

/* names.c: names of calls, as keys of shim_seen_names(). */
void names__begin(const struct shim_control *c);
/* Key of the std::string at this address; SHIM_NO_NODE: it is empty or too long. */
uint64_t names__own(uint64_t string);
/* Key of the caller's name for the call, from the arguments of trampoline__enter(); 0: unknown. */
uint64_t names__callers(const uint64_t *registers, uintptr_t sp);

/* One access to a field that several threads use. */
#define READ(field)	    __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define WRITE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* A word of the program's memory, which must be mapped. */
static inline uint64_t word_at(uint64_t object, uint64_t offset)
{
	return *(const uint64_t *)(uintptr_t)(object + offset);
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * USDT probes of a file: notes that sys/sdt.h and include/proftrace.h put into .note.stapsdt.
 * Format: the SystemTap wiki, UserSpaceProbeImplementation.
 */
#ifndef PROFTRACE_USDT_H
#define PROFTRACE_USDT_H

#include "target/elf_file.h"

struct usdt_probe {
	const char *provider, *name, *args; /* valid while the notes are */
	uint64_t vaddr;			    /* of the instruction, as linked */
	uint64_t semaphore;		    /* address of a counter that guards it, 0: none */
};

/* Calls cb for each probe in the notes; skips malformed ones. notes_base: the address of
 * .stapsdt.base (0: unknown), which shows how far prelink moved the file. Stops at the first
 * non-zero result of cb and returns it. */
int usdt__each(const uint8_t *notes, size_t len, uint64_t notes_base,
	       int (*cb)(const struct usdt_probe *p, void *ctx), void *ctx);

/* The same for a file. */
int usdt__each_of(struct elf_file *elf, int (*cb)(const struct usdt_probe *p, void *ctx),
		  void *ctx);

/* The slot of the integer register (0..5 for rdi rsi rdx rcx r8 r9) that holds argument number
 * `idx`, if the argument is a whole register such as "8@%rdi". Otherwise false. */
bool usdt__register(const char *args, unsigned int idx, uint8_t *slot);

#endif

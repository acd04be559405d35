/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries whose code a process runs from other memory than the file's mapping. Tools that copy
 * code to huge pages do that. A uprobe is only inserted into pages of its file (valid_vma in
 * kernel/events/uprobes.c), so it never hits there.
 */
#ifndef PROFTRACE_COPIED_TEXT_H
#define PROFTRACE_COPIED_TEXT_H

#include "target/mapping.h"

struct copied_text {
	struct mapping lib;   /* first mapping of the latest file */
	struct elf_file *elf; /* the ELF file of lib, or NULL */
	bool is_opened;
	char *path;	 /* first library found, or NULL; caller frees */
	size_t cnt;	 /* number of libraries found */
	bool is_counted; /* lib is among them */
};

/* Call it for each mapping of t, in order. 0 or -ENOMEM. */
int copied_text__see(struct copied_text *c, const struct target *t, const struct mapping *m);
void copied_text__close(struct copied_text *c);

#endif

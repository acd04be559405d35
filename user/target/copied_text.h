/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Libraries whose code a process runs from other memory than the file's mapping, as tools that
 * remap text to huge pages leave it. A uprobe is put on pages of its file only (valid_vma in
 * kernel/events/uprobes.c): it never hits there.
 */
#ifndef PROFTRACE_COPIED_TEXT_H
#define PROFTRACE_COPIED_TEXT_H

#include "target/mapping.h"

struct copied_text {
	struct mapping lib;   /* the first mapping of the file passed last */
	struct elf_file *elf; /* of it, or NULL */
	bool is_opened;
	char *path;	 /* first library found, or NULL; caller frees */
	size_t cnt;	 /* of libraries found */
	bool is_counted; /* lib is among them */
};

/* To be called for each mapping of t, in order; 0 or -ENOMEM. */
int copied_text__see(struct copied_text *c, const struct target *t, const struct mapping *m);
void copied_text__close(struct copied_text *c);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of this directory share. No other file includes it. */
#ifndef PROFTRACE_TARGET_PRIV_H
#define PROFTRACE_TARGET_PRIV_H

#include "target/target.h"

/* An opened file, kept by the place of its mapping. */
struct kept_elf {
	char *host_path;
	struct elf_file *file;
};

struct target_priv {
	struct target pub; /* first, so pointers to both convert */
	struct kept_elf *elfs;
	size_t elf_cnt, elf_cap;
};

/* "/proc/PID/<entry>", long enough for each entry that we read. */
struct proc_path {
	char s[64];
};
struct proc_path proc_path(pid_t pid, const char *entry);

/* target_now.c: the error -ESRCH with err__set. */
int target__no_process(pid_t pid);

/* Makes a list that ends with NULL from texts that each end with a NUL. Empty texts at the end are
 * dropped. A NUL must follow the text. Free the list also after -ENOMEM. */
int target_argv__split(const char *text, size_t len, char ***argv);

/* Does the process have a thread whose name fits? */
bool target_threads__any(pid_t pid, bool (*fits)(const char *comm));

/* target_libs.c: lists the executable mappings of pid. 0 or a negative errno with err__set. Sets
 * t->unreadable. */
int target_libs__read(struct target *t, struct target_lib **libs, size_t *cnt);
void target_libs__free(struct target_lib *libs, size_t cnt);

/* target_python.c: "3.11.7", "3.10" or NULL; caller frees. */
char *target_python__version(struct target *t);

#endif

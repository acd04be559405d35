/* SPDX-License-Identifier: BSD-2-Clause */
/* Are /proc and /sys mounted where we read them? */
#ifndef PROFTRACE_MOUNTS_H
#define PROFTRACE_MOUNTS_H

#include <sys/types.h>

/* Is `proc` (/proc) mounted, and do its numbers mean the same processes as ours? 0, or with
 * err__set -ENOENT: it is not mounted; -EXDEV: it belongs to another pid namespace. */
int mounts__check_proc(const char *proc);

/* Why the kernel's types (BTF) cannot be read in `sys` (/sys). */
const char *mounts__why_no_btf(const char *sys);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Names in objects of the target that live as long as the target. Each is read once. */
#ifndef PROFTRACE_OBJECT_NAMES_H
#define PROFTRACE_OBJECT_NAMES_H

#include "bpf/probe_cfg.h"
#include <stdint.h>
#include <sys/types.h>

struct object_names;

struct object_names *object_names__new(void);
void object_names__free(struct object_names *n);

/* The string at that address, owned by n. NULL: it cannot be read, or no memory. */
const char *object_names__text(struct object_names *n, pid_t pid, uint64_t address,
			       enum pt_name_source source);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Which followed processes are helpers of the interpreter and no workers of a loader. */
#ifndef PROFTRACE_HELPERS_H
#define PROFTRACE_HELPERS_H

#include <jansson.h>
#include <sys/types.h>
#include "target/helper_process.h"

struct helper_list {
	struct helper {
		pid_t pid;
		enum helper_kind kind;
	} *items; /* also ended ones: the window may have seen them */
	size_t cnt, cap;
};

/* Looks what the process runs now, and forgets an earlier process with the same id. Returns 0 or -ENOMEM. */
int helpers__note(struct helper_list *list, pid_t pid);
/* Returns [{"pid", "kind"}], or NULL if there are no helpers. Then forgets helpers that have ended. */
json_t *helpers__take(struct helper_list *list);

#endif

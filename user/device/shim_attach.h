/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the library into a running process, or wakes the library that is there. */
#ifndef PROFTRACE_SHIM_ATTACH_H
#define PROFTRACE_SHIM_ATTACH_H

#include "device/cupti_find.h"
#include "device/shim_link.h"
#include "inject/inject.h"

struct shim_attached {
	struct cupti_found cupti;
	struct inject_result inject;
	uint64_t took_ns;
};

/*
 * cupti: a libcupti to prefer, NULL: none; functions_alone: none is needed; user_stop: the user wants an
 * end, once it is not 0. 0 and *out (to be freed), or a negative errno with
 * err__set, of cupti__find() and inject__load() and:
 * -EBUSY   another proftrace records the process
 * -EPROTO  it has the library of another version of proftrace
 * After an error the process is as it was, but for the library's text if it could be loaded.
 */
int shim__attach(struct target *t, const char *cupti, bool functions_alone,
		 const volatile sig_atomic_t *user_stop, struct shim_link **out, struct shim_attached *facts);

/* Would that work, as far as reading shows? The process is not touched. Errors are as above. */
int shim__may_attach(struct target *t, const char *cupti, struct shim_attached *facts);

#endif

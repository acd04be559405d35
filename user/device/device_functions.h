/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the target that the library sees, by their numbers in the shared file. Their calls
 * become spans. Zeroed at first: none. */
#ifndef PROFTRACE_DEVICE_FUNCTIONS_H
#define PROFTRACE_DEVICE_FUNCTIONS_H

#include "bpf/events.h"
#include "device/shim_link.h"

struct device_functions {
	struct wanted_function {
		uint8_t kind; /* enum shim_function_kind; 0: not wanted */
		bool named;
	} *of;
	size_t cnt;
	uint64_t python_node;
	struct began {
		uint64_t ns;
		uint32_t function;
	} *began; /* begins of counted calls */
	size_t began_cnt, began_cap;
};

int device_functions__set(struct device_functions *f, const struct shim_functions *functions);
void device_functions__drop(struct device_functions *f, size_t function);
void device_functions__clear(struct device_functions *f);

/* Makes a span of a call, cut to the window. The row of the span's probe is the function's number.
 * False: the call is outside, or of no known function. */
bool device_functions__span(const struct device_functions *f, const struct shim_call *call,
			    uint64_t open_ns, uint64_t close_ns, struct pt_span *span);

/* Is the call of a wanted function? */
bool device_functions__has(const struct device_functions *f, const struct shim_call *call);

/* Do the library's calls of this function carry names? The call's node and type are their keys. */
bool device_functions__has_name(const struct device_functions *f, const struct shim_call *call);

int device_functions__count(struct device_functions *f, const struct shim_call *call);
/* How many calls of each function (SHIM_FUNCTIONS) began in [from_ns, to_ns); they are forgotten
 * then. To be freed, or NULL. */
uint64_t *device_functions__counted(struct device_functions *f, uint64_t from_ns, uint64_t to_ns);

#endif

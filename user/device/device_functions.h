/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions of the target that the library in it sees, by their numbers in the file that both
 * share: their calls as spans. Zeroed at first: none. */
#ifndef PROFTRACE_DEVICE_FUNCTIONS_H
#define PROFTRACE_DEVICE_FUNCTIONS_H

#include "bpf/events.h"
#include "device/shim_link.h"

struct device_functions {
	struct wanted_function {
		uint8_t kind; /* enum shim_function_kind, 0: not wanted */
		bool named;
	} *of;
	size_t cnt;
	uint64_t python_node;
	struct began {
		uint64_t ns;
		uint32_t function;
	} *began; /* calls that were counted */
	size_t began_cnt, began_cap;
};

int device_functions__set(struct device_functions *f, const struct shim_functions *functions);
void device_functions__drop(struct device_functions *f, size_t function);
void device_functions__clear(struct device_functions *f);

/* The call as a span, cut to the window, its function's number as the probe's row; false: it lies
 * outside, or is of none of them. */
bool device_functions__span(const struct device_functions *f, const struct shim_call *call,
			    uint64_t open_ns, uint64_t close_ns, struct pt_span *span);

/* It is of one that is wanted. */
bool device_functions__has(const struct device_functions *f, const struct shim_call *call);

/* Names are told of it: the call's node and type are their keys. */
bool device_functions__has_name(const struct device_functions *f, const struct shim_call *call);

int device_functions__count(struct device_functions *f, const struct shim_call *call);
/* How many of each function, of SHIM_FUNCTIONS, began in [from_ns, to_ns), to be freed, or NULL;
 * they are forgotten. */
uint64_t *device_functions__counted(struct device_functions *f, uint64_t from_ns, uint64_t to_ns);

#endif

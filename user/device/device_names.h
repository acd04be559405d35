/* SPDX-License-Identifier: BSD-2-Clause */
/* Names that the library in the target sent, by key, and their ids in the current recording. */
#ifndef PROFTRACE_DEVICE_NAMES_H
#define PROFTRACE_DEVICE_NAMES_H

#include "cupti_shim/protocol.h"
#include "recording/recording.h"

struct device_names;

struct device_names *device_names__new(void);
void device_names__free(struct device_names *n);
/* Forgets the ids, because a new writer begins. */
void device_names__forget_ids(struct device_names *n);

/* Keeps the name in readable form: a kernel's name demangled, a function's without its version. */
int device_names__learn(struct device_names *n, const struct shim_name *name);
/* The key's id in the writer. 0: the key is unknown, or the writer failed. */
uint32_t device_names__id(struct device_names *n, struct recording_writer *w, uint64_t key);
/* Does the key belong to a function that launches kernels or a graph? */
bool device_names__is_launch(const struct device_names *n, uint64_t key);
/* What a function has waited for when it returns, whatever its arguments are. */
enum wait_kind {
	WAIT_NONE, /* or unknown */
	WAIT_CONTEXT,
	WAIT_OWN_COPY, /* for its own copy from a device to the host */
};
enum wait_kind device_names__wait(const struct device_names *n, uint64_t key);

#endif

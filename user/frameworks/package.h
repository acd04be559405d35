/* SPDX-License-Identifier: BSD-2-Clause */
/* A Python package as installed: what its own files say. */
#ifndef PROFTRACE_FRAMEWORKS_PACKAGE_H
#define PROFTRACE_FRAMEWORKS_PACKAGE_H

#include "target/target.h"

/*
 * The text that a file of the package assigns to a variable (`NAME = 'text'`), empty if there is
 * none. The package's directory lies `up` levels above the library: 2 for
 * torch/lib/libtorch_cpu.so. A package that was replaced after the process started says nothing of
 * what the process has mapped: then the text is empty, too. NULL, or why it is empty.
 */
const char *package__text(const struct target *t, const struct target_lib *lib, int up,
			  const char *file, const char *variable, char *out, size_t size);

#endif

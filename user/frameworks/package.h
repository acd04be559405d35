/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of an installed Python package say. */
#ifndef PROFTRACE_FRAMEWORKS_PACKAGE_H
#define PROFTRACE_FRAMEWORKS_PACKAGE_H

#include "target/target.h"

/*
 * The text that a file of the package assigns to a variable (`NAME = 'text'`). Empty if there is
 * none, or if the package was replaced after the process started. The package's directory is `up`
 * levels above the library: 2 for torch/lib/libtorch_cpu.so. Returns NULL, or why the text is
 * empty.
 */
const char *package__text(const struct target *t, const struct target_lib *lib, int up,
			  const char *file, const char *variable, char *out, size_t size);

#endif

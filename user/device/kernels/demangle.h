/* SPDX-License-Identifier: BSD-2-Clause */
/* Readable names of device code and of API functions. */
#ifndef PROFTRACE_DEMANGLE_H
#define PROFTRACE_DEMANGLE_H

#include <stddef.h>

/* The readable form of a kernel's name, which may be mangled. Caller frees; NULL: out of memory. */
char *kernel_name__readable(const char *mangled);

/* The function's name without its version and stream suffixes: "cudaLaunchKernel" for
 * "cudaLaunchKernel_ptsz_v7000". */
void api_name__plain(const char *name, char *out, size_t size);

#endif

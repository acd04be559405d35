/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of device code and of API functions, as people write them. */
#ifndef PROFTRACE_DEMANGLE_H
#define PROFTRACE_DEMANGLE_H

#include <stddef.h>

/* A kernel's name as a C++ compiler mangled it, or a plain one. Caller frees; NULL: no memory. */
char *kernel_name__readable(const char *mangled);

/* The function's name without what tells its versions and stream variants apart
 * ("cudaLaunchKernel_ptsz_v7000" is "cudaLaunchKernel"). */
void api_name__plain(const char *name, char *out, size_t size);

#endif

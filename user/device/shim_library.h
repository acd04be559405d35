/* SPDX-License-Identifier: BSD-2-Clause */
/* The library that goes into the target, as a file. */
#ifndef PROFTRACE_SHIM_LIBRARY_H
#define PROFTRACE_SHIM_LIBRARY_H

#define SHIM_LIBRARY_NAME "libproftrace_cupti.so"

/* Its path: beside this program, or where it is installed. NULL with err__set if it is nowhere;
 * valid for the life of the program. */
const char *shim_library__path(void);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The file of the library that goes into the target. */
#ifndef PROFTRACE_SHIM_LIBRARY_H
#define PROFTRACE_SHIM_LIBRARY_H

#define SHIM_LIBRARY_NAME "libproftrace_cupti.so"

/* Its path: beside this program, or where it is installed. NULL with err__set if it is missing;
 * valid until the program ends. */
const char *shim_library__path(void);

#endif

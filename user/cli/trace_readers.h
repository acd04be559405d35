/* SPDX-License-Identifier: BSD-2-Clause */
/* Which readers cannot use the Chrome trace of a GPU job as it is, and what to do then. */
#ifndef PROFTRACE_TRACE_READERS_H
#define PROFTRACE_TRACE_READERS_H

#include "exporters/exporter.h"

/* Prints a hint, unless --quiet. recording: its path; dialect NULL: the default. Sources:
 * torch_tb_profiler 0.4.3, HTA 0.5.0 and 0.6.1; doc/reference/trace.md. */
void trace_readers__describe(const char *recording, const char *dialect,
			     const struct export_result *result);

#endif

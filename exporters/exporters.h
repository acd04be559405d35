/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the registry. Each is defined in its own file. */
#ifndef PROFTRACE_EXPORTERS_H
#define PROFTRACE_EXPORTERS_H

#include "exporters/exporter.h"

extern const struct exporter exporter_chrome;
extern const struct exporter exporter_folded;
extern const struct exporter exporter_speedscope;
extern const struct exporter exporter_perfetto;
extern const struct exporter exporter_pprof;
extern const struct exporter exporter_sqlite;
extern const struct exporter exporter_jsonl;
extern const struct exporter exporter_csv;
extern const struct exporter exporter_cuda_profiler;
extern const struct exporter exporter_paddle_proto;
extern const struct exporter exporter_gpu_memory_profile;

#endif

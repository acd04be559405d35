/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the gpu_ranges of a recording, with one look at each event. */
#ifndef PROFTRACE_GPU_COLLECTOR_H
#define PROFTRACE_GPU_COLLECTOR_H

#include "exporters/parts/gpu_ranges.h"

/* Takes events in the recording's order. Its memory is for ranges, and for launches that are not
 * complete. */
struct gpu_collector;

/* *out is NULL if no device was recorded. 0 or -ENOMEM. */
int gpu_collector__new(const struct recording *r, struct gpu_collector **out);
/* ctx: the collector. 0 or -ENOMEM. */
int gpu_collector__see(void *ctx, const struct event *e);
/* Moves what was found into *out. 0 or -ENOMEM. */
int gpu_collector__finish(struct gpu_collector *c, struct gpu_ranges *out);
void gpu_collector__free(struct gpu_collector *c);

#endif

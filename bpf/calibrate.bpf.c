// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* The smallest programs that a probe can run, for measuring the cost of the probe alone. */
#include "maps.bpf.h"

/* Hits of calibrate_count. It shows whether a link reaches every thread. */
__u64 calibrate_hits = 0;

SEC("uprobe")
int calibrate_empty(void *ctx)
{
	return 0;
}

SEC("uprobe")
int calibrate_empty_return(void *ctx)
{
	return 0;
}

SEC("uprobe")
int calibrate_count(void *ctx)
{
	__sync_fetch_and_add(&calibrate_hits, 1);
	return 0;
}

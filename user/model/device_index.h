/* SPDX-License-Identifier: BSD-2-Clause */
/* Where in a recording the device events of a launch lie; not a door. */
#ifndef PROFTRACE_DEVICE_INDEX_H
#define PROFTRACE_DEVICE_INDEX_H

#include "recording/recording.h"

/* A launch: correlation ids are of one process. */
struct launch_key {
	uint64_t id;
	uint32_t pid;
};

/*
 * At most 20 MiB, and 2 KiB per chunk. Ids are indexed in blocks of 64. Blocks that share a place
 * in the table make more chunks be searched; they hide none.
 */
struct device_index {
	const struct recording *r;
	struct index_block {
		uint32_t first, last;	    /* chunks with device events of it, if devices */
		uint32_t devices, launches; /* events of it */
	} *blocks;
	struct index_chunk {
		uint64_t first;	       /* number of its first device event in the recording */
		uint32_t cnt;	       /* device events in it */
		uint32_t filter, bits; /* Bloom filter of their blocks: first word, size */
	} *chunks;
	size_t chunk_cnt;
	uint64_t *filters;
	size_t filter_cnt, filter_cap; /* words */
	uint64_t device_cnt;
};

/* Reads the whole recording once. 0 or a negative errno; free in either case. */
int device_index__build(struct device_index *x, const struct recording *r);
void device_index__free(struct device_index *x);

/* False: no launch with this id is in the recording. */
bool device_index__may_have_launch(const struct device_index *x, struct launch_key key);
/* Device events per launch, on the average of the block. */
uint32_t device_index__expect(const struct device_index *x, struct launch_key key);
/* The first chunk from `from` on that may have device events of the launch; chunk_cnt: none. */
size_t device_index__chunk(const struct device_index *x, struct launch_key key, size_t from);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Where in a recording the device events of a launch lie. Only for the model. */
#ifndef PROFTRACE_DEVICE_INDEX_H
#define PROFTRACE_DEVICE_INDEX_H

#include "recording/recording.h"

/* A launch. Correlation ids belong to one process. */
struct launch_key {
	uint64_t id;
	uint32_t pid;
};

/*
 * At most 20 MiB, and 2 KiB per chunk. Ids are indexed in blocks of 64. If blocks share a place in
 * the table, more chunks are searched, but none is missed.
 */
struct device_index {
	const struct recording *r;
	struct index_block {
		uint32_t first, last;	    /* if devices: the chunks with its device events */
		uint32_t devices, launches; /* number of its events */
	} *blocks;
	struct index_chunk {
		uint64_t first;	       /* recording-wide number of its first device event */
		uint32_t cnt;	       /* its number of device events */
		uint32_t filter, bits; /* Bloom filter of its blocks: first word, and size */
	} *chunks;
	size_t chunk_cnt;
	uint64_t *filters;
	size_t filter_cnt, filter_cap; /* in words */
	uint64_t device_cnt;
};

/* Reads the whole recording once. 0 or a negative errno; free after either. */
int device_index__build(struct device_index *x, const struct recording *r);
void device_index__free(struct device_index *x);

/* False: the recording has no launch with this id. */
bool device_index__may_have_launch(const struct device_index *x, struct launch_key key);
/* Average number of device events per launch in the launch's block. */
uint32_t device_index__expect(const struct device_index *x, struct launch_key key);
/* The first chunk from `from` on that may have device events of the launch. chunk_cnt: there is
 * none. */
size_t device_index__chunk(const struct device_index *x, struct launch_key key, size_t from);

#endif

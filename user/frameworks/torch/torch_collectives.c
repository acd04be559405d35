// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/torch/torch_collectives.h"
#include "common/util.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define METHOD_PREFIX "_ZN4c10d12ProcessGroup"

/* The names of all versions, sorted. */
static const struct dispatched {
	const char *method, *op;
} dispatched[] = {
	{"_allgather_base", "_allgather_base_"},
	{"_reduce_scatter_base", "_reduce_scatter_base_"},
	{"all_gather_single", "_allgather_base_"},
	{"all_gather_single_coalesced", "allgather_into_tensor_coalesced_"},
	{"all_to_all_single", "alltoall_base_"},
	{"allgather", "allgather_"},
	{"allgather_coalesced", "allgather_coalesced_"},
	{"allgather_into_tensor_coalesced", "allgather_into_tensor_coalesced_"},
	{"allreduce", "allreduce_"},
	{"allreduce_coalesced", "allreduce_coalesced_"},
	{"alltoall", "alltoall_"},
	{"alltoall_base", "alltoall_base_"},
	{"barrier", "barrier"},
	{"broadcast", "broadcast_"},
	{"gather", "gather_"},
	{"gather_single", "gather_into_tensor_"},
	{"monitoredBarrier", "monitored_barrier_"},
	{"recv", "recv_"},
	{"recvAnysource", "recv_any_source_"},
	{"reduce", "reduce_"},
	{"reduce_scatter", "reduce_scatter_"},
	{"reduce_scatter_single", "_reduce_scatter_base_"},
	{"reduce_scatter_single_coalesced", "reduce_scatter_tensor_coalesced_"},
	{"reduce_scatter_tensor_coalesced", "reduce_scatter_tensor_coalesced_"},
	{"scatter", "scatter_"},
	{"send", "send"},
};

static int compare_methods(const void *key, const void *item)
{
	return strcmp(key, ((const struct dispatched *)item)->method);
}

bool torch_collective__operator(const char *symbol, char *op, size_t size)
{
	const char *name = symbol + strlen(METHOD_PREFIX);
	const struct dispatched *found;
	char method[64];
	unsigned long len;

	if (strncmp(symbol, METHOD_PREFIX, strlen(METHOD_PREFIX)) != 0)
		return false;
	len = strtoul(name, (char **)&name, 10);
	if (!len || len >= sizeof(method) || strlen(name) <= len || name[len] != 'E')
		return false;
	snprintf(method, sizeof(method), "%.*s", (int)len, name);
	found = bsearch(method, dispatched, ARRAY_SIZE(dispatched), sizeof(dispatched[0]),
			compare_methods);
	if (found)
		snprintf(op, size, "c10d::%s", found->op);
	return found != NULL;
}

const char *torch_collective__name(uint64_t code)
{
	static const char *const names[] = {
		"broadcast",	  "all_reduce",
		"all_reduce", /* coalesced */
		"reduce",	  "all_gather",
		"all_gather", /* base */
		"all_gather", /* coalesced */
		"gather",	  "scatter",
		"reduce_scatter", "all_to_all", /* base */
		"all_to_all",	  "send",
		"recv",		  "recv",	    /* from any source */
		"barrier",	  "reduce_scatter", /* base */
		"coalesced",	  "sparse_all_reduce",
	};

	return code < ARRAY_SIZE(names) ? names[code] : "collective";
}

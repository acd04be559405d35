// SPDX-License-Identifier: BSD-2-Clause
/* Functions whose parameters changed later, with their parameters in CUDA 11 and 12. */
#include "driver.h"
#include <string.h>

#undef cuGetProcAddress
#undef cuStreamGetCaptureInfo

static CUresult get_proc_address(const char *symbol, void **function, int version, cuuint64_t flags)
{
	return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

SIM_EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int version,
				     cuuint64_t flags)
{
	return get_proc_address(symbol, function, version, flags);
}

static CUresult capture_info_1(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
	return cuStreamGetCaptureInfo_v3(stream, status, id, NULL, NULL, NULL, NULL);
}

SIM_EXPORT CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
					   cuuint64_t *id)
{
	return capture_info_1(stream, status, id);
}

CUresult dr_cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
				      cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
				      size_t *cnt)
{
	return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, NULL, cnt);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
				   CUgraph *graph, const CUgraphNode **nodes, size_t *cnt);

/* Returns the function that a program of this version means by the name. */
void *sim_entry_older(const char *name, int version)
{
	static const struct {
		const char *name;
		int until;
		void *function;
	} older[] = {
		{"cuGetProcAddress", 12000, (void *)get_proc_address},
		{"cuStreamGetCaptureInfo", 11030, (void *)capture_info_1},
		{"cuStreamGetCaptureInfo", 12030, (void *)cuStreamGetCaptureInfo_v2},
	};

	for (size_t i = 0; i < sizeof(older) / sizeof(*older); i++)
		if (version < older[i].until && !strcmp(name, older[i].name))
			return older[i].function;
	return NULL;
}

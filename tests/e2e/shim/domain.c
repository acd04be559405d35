// SPDX-License-Identifier: BSD-2-Clause
/* NVTX ranges of the domain "loader", for a job in Python: torch.cuda.nvtx has the default domain.
 */
#include <nvtx3/nvToolsExt.h>

static nvtxDomainHandle_t domain;

void domain_push(const char *name)
{
	const nvtxEventAttributes_t named = {.version = NVTX_VERSION,
					     .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					     .messageType = NVTX_MESSAGE_TYPE_ASCII,
					     .message.ascii = name};

	if (!domain)
		domain = nvtxDomainCreateA("loader");
	nvtxDomainRangePushEx(domain, &named);
}

void domain_pop(void)
{
	nvtxDomainRangePop(domain);
}

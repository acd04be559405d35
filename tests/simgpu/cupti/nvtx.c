// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVTX ranges and marks as marker records: the program names this library in NVTX_INJECTION64_PATH,
 * and the NVTX in it calls InitializeInjectionNvtx2() at its first use, and never if that was
 * before.
 */
#include "fake.h"
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define DEPTH 256

static _Atomic uint32_t next_id = 1;
/* A thread's open ranges, of all domains: each domain has a stack of its own, which these
 * interleave. */
static __thread struct {
	uint32_t id;
	const char *domain; /* NULL: the default one */
} opened[DEPTH];
static __thread int open_cnt;

static void record(CUpti_ActivityFlag flag, uint32_t id, const char *domain, const char *name)
{
	CUpti_ActivityMarker2 r;

	if (!fake_kind(CUPTI_ACTIVITY_KIND_MARKER))
		return;
	memset(&r, 0, sizeof(r));
	r.kind = CUPTI_ACTIVITY_KIND_MARKER;
	r.flags = flag;
	r.timestamp = fake_clock();
	r.id = id;
	r.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
	r.objectId.pt.processId = (uint32_t)getpid();
	r.objectId.pt.threadId = fake_thread_id();
	r.name = name ? fake_keep_name(name) : NULL;
	r.domain = domain;
	fake_append(&r, sizeof(r));
}

static const char *message(const nvtxEventAttributes_t *attributes)
{
	return attributes->messageType == NVTX_MESSAGE_TYPE_ASCII ? attributes->message.ascii : "?";
}

static uint32_t begin(const char *domain, const char *name)
{
	uint32_t id = next_id++;

	record(CUPTI_ACTIVITY_FLAG_MARKER_START, id, domain, name);
	return id;
}

static int depth(const char *domain)
{
	int cnt = 0;

	for (int i = 0; i < open_cnt; i++)
		cnt += opened[i].domain == domain;
	return cnt;
}

static int push_in(const char *domain, const char *name)
{
	if (open_cnt == DEPTH)
		return -1;
	opened[open_cnt].domain = domain;
	opened[open_cnt++].id = begin(domain, name);
	return depth(domain) - 1;
}

static int pop_in(const char *domain)
{
	int i = open_cnt - 1;

	while (i >= 0 && opened[i].domain != domain)
		i--;
	if (i < 0)
		return -1;
	record(CUPTI_ACTIVITY_FLAG_MARKER_END, opened[i].id, domain, NULL);
	memmove(&opened[i], &opened[i + 1], (size_t)(--open_cnt - i) * sizeof(opened[0]));
	return depth(domain);
}

/* ---- the default domain ---- */

static int push(const char *name)
{
	return push_in(NULL, name);
}

static int push_attributes(const nvtxEventAttributes_t *attributes)
{
	return push(message(attributes));
}

static int pop(void)
{
	return pop_in(NULL);
}

static nvtxRangeId_t range_start(const char *name)
{
	return begin(NULL, name);
}

static void range_end(nvtxRangeId_t id)
{
	record(CUPTI_ACTIVITY_FLAG_MARKER_END, (uint32_t)id, NULL, NULL);
}

static void mark(const char *name)
{
	record(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, next_id++, NULL, name);
}

/* ---- domains of the program's own: the handle is the name ---- */

static nvtxDomainHandle_t domain_create(const char *name)
{
	return (nvtxDomainHandle_t)fake_keep_name(name);
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	return push_in((const char *)domain, message(attributes));
}

static int domain_pop(nvtxDomainHandle_t domain)
{
	return pop_in((const char *)domain);
}

static nvtxRangeId_t domain_range_start(nvtxDomainHandle_t domain,
					const nvtxEventAttributes_t *attributes)
{
	return begin((const char *)domain, message(attributes));
}

static void domain_range_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
	record(CUPTI_ACTIVITY_FLAG_MARKER_END, (uint32_t)id, (const char *)domain, NULL);
}

static void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
	record(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, next_id++, (const char *)domain,
	       message(attributes));
}

/* 1: taken, as NVTX expects it. */
SIM_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
	const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
	NvtxFunctionTable table;
	unsigned int size;

	if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) ||
	    size <= NVTX_CBID_CORE_RangePop)
		return 0;
	*table[NVTX_CBID_CORE_MarkA] = (NvtxFunctionPointer)mark;
	*table[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)range_start;
	*table[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)range_end;
	*table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)push;
	*table[NVTX_CBID_CORE_RangePushEx] = (NvtxFunctionPointer)push_attributes;
	*table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)pop;
	if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) &&
	    size > NVTX_CBID_CORE2_DomainCreateA) {
		*table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)domain_create;
		*table[NVTX_CBID_CORE2_DomainMarkEx] = (NvtxFunctionPointer)domain_mark;
		*table[NVTX_CBID_CORE2_DomainRangeStartEx] =
			(NvtxFunctionPointer)domain_range_start;
		*table[NVTX_CBID_CORE2_DomainRangeEnd] = (NvtxFunctionPointer)domain_range_end;
		*table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)domain_push;
		*table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)domain_pop;
	}
	sim_truth_note("cupti", "NVTX attached");
	return 1;
}

SIM_EXPORT int InitializeInjectionNvtx(NvtxGetExportTableFunc_t get_table)
{
	return 0;
}

SIM_EXPORT int InitializeInjectionNvtxExtension(void *module)
{
	return 0;
}

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
static __thread uint32_t open_ids[DEPTH];
static __thread int depth;

static void record(CUpti_ActivityFlag flag, uint32_t id, const char *name)
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
	fake_append(&r, sizeof(r));
}

static uint32_t begin(const char *name)
{
	uint32_t id = next_id++;

	record(CUPTI_ACTIVITY_FLAG_MARKER_START, id, name);
	return id;
}

static const char *message(const nvtxEventAttributes_t *attributes)
{
	return attributes->messageType == NVTX_MESSAGE_TYPE_ASCII ? attributes->message.ascii : "?";
}

static int push(const char *name)
{
	if (depth == DEPTH)
		return -1;
	open_ids[depth] = begin(name);
	return depth++;
}

static int push_attributes(const nvtxEventAttributes_t *attributes)
{
	return push(message(attributes));
}

static int pop(void)
{
	if (!depth)
		return -1;
	record(CUPTI_ACTIVITY_FLAG_MARKER_END, open_ids[--depth], NULL);
	return depth;
}

static nvtxRangeId_t range_start(const char *name)
{
	return begin(name);
}

static void range_end(nvtxRangeId_t id)
{
	record(CUPTI_ACTIVITY_FLAG_MARKER_END, (uint32_t)id, NULL);
}

static void mark(const char *name)
{
	record(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, next_id++, name);
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

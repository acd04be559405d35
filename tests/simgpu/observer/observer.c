// SPDX-License-Identifier: BSD-2-Clause
/*
 * An ordinary CUPTI client, loaded by CUDA_INJECTION64_PATH or by hand (call
 * InitializeInjection()). When the process exits it writes the activities to OBSERVER_OUT.PID, in
 * the truth log's columns and one of details.
 */
#include <cupti.h>
#include "cupti/kernel_record.h"
#include <cuda_runtime_api.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (256 << 10)

static FILE *out;
static unsigned long enter_cnt, exit_cnt;
static CUpti_SubscriberHandle subscriber;

static uint64_t monotonic(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void requested(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*bytes = BUFFER_BYTES;
	*max_records = 0;
	*buffer = aligned_alloc(8, BUFFER_BYTES);
}

static void row(const char *kind, uint32_t dev, uint32_t stream, uint64_t start, uint64_t end,
		uint32_t correlation, uint64_t bytes, uint32_t graph, const char *name,
		const char *details, ...)
{
	va_list args;

	fprintf(out, "%s\t%u\t%u\t%lu\t%lu\t%u\t%lu\t%u\t%s\t", kind, dev, stream, start, end,
		correlation, bytes, graph, name);
	va_start(args, details);
	vfprintf(out, details, args);
	va_end(args);
	fputc('\n', out);
}

static const char *copy_name(uint8_t kind)
{
	static const char *const names[] = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

	return kind < sizeof(names) / sizeof(*names) ? names[kind] : "?";
}

static void print_call(const CUpti_ActivityAPI *r, CUpti_CallbackDomain domain)
{
	const char *name = "?";

	cuptiGetCallbackName(domain, r->cbid, &name);
	row(domain == CUPTI_CB_DOMAIN_RUNTIME_API ? "runtime" : "driver", 0, 0, r->start, r->end,
	    r->correlationId, 0, 0, name, "returns %u", r->returnValue);
}

static void print_record(const CUpti_Activity *record)
{
	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
		const cupti_kernel_record *r = (const void *)record;

		row("kernel", r->deviceId, r->streamId, r->start, r->end, r->correlationId, 0,
		    r->graphId, r->name, "context %u", r->contextId);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY: {
		const CUpti_ActivityMemcpy6 *r = (const void *)record;

		row("memcpy", r->deviceId, r->streamId, r->start, r->end, r->correlationId,
		    r->bytes, r->graphId, copy_name(r->copyKind),
		    "context %u, memory %u to %u, flags %u", r->contextId, r->srcKind, r->dstKind,
		    r->flags);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMCPY2: {
		const CUpti_ActivityMemcpyPtoP4 *r = (const void *)record;

		row("memcpy", r->deviceId, r->streamId, r->start, r->end, r->correlationId,
		    r->bytes, r->graphId, copy_name(r->copyKind),
		    "context %u, memory %u to %u, flags %u", r->contextId, r->srcKind, r->dstKind,
		    r->flags);
		break;
	}
	case CUPTI_ACTIVITY_KIND_MEMSET: {
		const CUpti_ActivityMemset4 *r = (const void *)record;

		row("memset", r->deviceId, r->streamId, r->start, r->end, r->correlationId,
		    r->bytes, r->graphId, "memset", "context %u, memory %u, flags %u", r->contextId,
		    r->memoryKind, r->flags);
		break;
	}
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		print_call((const void *)record, CUPTI_CB_DOMAIN_RUNTIME_API);
		break;
	case CUPTI_ACTIVITY_KIND_DRIVER:
		print_call((const void *)record, CUPTI_CB_DOMAIN_DRIVER_API);
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
		const CUpti_ActivitySynchronization2 *r = (const void *)record;

		row("sync", 0, r->streamId, r->start, r->end, r->correlationId, 0, 0, "-",
		    "context %u, type %u, %s event", r->contextId, r->type,
		    r->cudaEventId == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? "no" : "an");
		break;
	}
	default:
		row("other", 0, 0, 0, 0, 0, 0, 0, "-", "kind %u", record->kind);
	}
}

static void completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
		      size_t valid_bytes)
{
	CUpti_Activity *record = NULL;

	(void)context;
	(void)stream;
	(void)bytes;
	while (cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
		print_record(record);
	free(buffer);
}

static void called(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		   const void *callback_data)
{
	const CUpti_CallbackData *data = callback_data;

	(void)userdata;
	(void)domain;
	(void)cbid;
	if (data->callbackSite == CUPTI_API_ENTER)
		__atomic_add_fetch(&enter_cnt, 1, __ATOMIC_RELAXED);
	else
		__atomic_add_fetch(&exit_cnt, 1, __ATOMIC_RELAXED);
}

static void at_exit(void)
{
	size_t dropped = 0;

	cuptiActivityFlushAll(1);
	cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
	fprintf(out, "callbacks\t%lu\t%lu\n", enter_cnt, exit_cnt);
	fprintf(out, "dropped\t%zu\n", dropped);
	fclose(out);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
	static const CUpti_ActivityKind kinds[] = {
		CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
		CUPTI_ACTIVITY_KIND_MEMCPY2,	       CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_RUNTIME,	       CUPTI_ACTIVITY_KIND_DRIVER,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
	};
	const char *prefix = getenv("OBSERVER_OUT");
	char path[4096];

	snprintf(path, sizeof(path), "%s.%d", prefix ? prefix : "observer", (int)getpid());
	out = fopen(path, "w");
	if (!out)
		return 0;
	cuptiSubscribe(&subscriber, (CUpti_CallbackFunc)called, NULL);
	cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
	cuptiActivityRegisterTimestampCallback(monotonic);
	cuptiActivityRegisterCallbacks(requested, completed);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		cuptiActivityEnable(kinds[i]);
	atexit(at_exit);
	return 1;
}

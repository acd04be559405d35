// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_functions.h"
#include "bpf/thread_state.h"
#include "common/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int device_functions__set(struct device_functions *f, const struct shim_functions *functions)
{
	struct wanted_function *of = calloc(SHIM_FUNCTIONS, sizeof(*of));

	if (!of)
		return -ENOMEM;
	device_functions__clear(f);
	f->of = of;
	f->cnt = functions->function_cnt;
	f->python_node = functions->python_node;
	for (size_t i = 0; i < f->cnt; i++)
		of[i] = (struct wanted_function){(uint8_t)functions->functions[i].kind,
						 functions->functions[i].name_at};
	return 0;
}

void device_functions__drop(struct device_functions *f, size_t function)
{
	f->of[function].kind = 0;
}

void device_functions__clear(struct device_functions *f)
{
	free(f->of);
	free(f->began);
	memset(f, 0, sizeof(*f));
}

static uint8_t kind_of(const struct device_functions *f, const struct shim_call *call)
{
	return call->api < f->cnt ? f->of[call->api].kind : 0;
}

bool device_functions__has(const struct device_functions *f, const struct shim_call *call)
{
	return kind_of(f, call);
}

bool device_functions__has_name(const struct device_functions *f, const struct shim_call *call)
{
	return kind_of(f, call) && f->of[call->api].named;
}

bool device_functions__span(const struct device_functions *f, const struct shim_call *call,
			    uint64_t open_ns, uint64_t close_ns, struct pt_span *span)
{
	const uint8_t kind = kind_of(f, call);

	if (!kind || kind == SHIM_FUNCTION_ENCLOSING || call->end_ns <= open_ns ||
	    call->begin_ns >= close_ns)
		return false;
	*span = (struct pt_span){.ts_ns = call->begin_ns,
				 .end_ns = call->end_ns,
				 .probe = call->api,
				 .kind = PT_KIND_STATIC,
				 .end = PT_END_RETURN,
				 .seq = call->node};
	if (call->begin_ns < open_ns) {
		span->ts_ns = open_ns;
		span->flags |= PT_SPAN_CUT_BEGIN;
	}
	if (call->end_ns > close_ns) {
		span->end_ns = close_ns;
		span->flags |= PT_SPAN_CUT_END;
	}
	if (call->flags & SHIM_CALL_LEFT)
		span->end = PT_END_INFERRED;
	if (kind == SHIM_FUNCTION_RETURNING) {
		span->kind = PT_KIND_NAMED;
		span->object = call->type;
	}
	if (kind == SHIM_FUNCTION_CALL || kind == SHIM_FUNCTION_RETURNING ||
	    call->flags & SHIM_CALL_RETURNED)
		return true;
	span->end = PT_END_INFERRED;
	if (kind != SHIM_FUNCTION_NODE)
		return true;
	span->kind = PT_KIND_NODE;
	span->vtable = call->flags & SHIM_CALL_OBJECT ? f->python_node : call->type;
	span->type_obj = call->flags & SHIM_CALL_OBJECT ? call->type : 0;
	return true;
}

int device_functions__count(struct device_functions *f, const struct shim_call *call)
{
	return ARRAY_PUSH(f->began, f->began_cnt, f->began_cap,
			  ((struct began){call->begin_ns, call->api}));
}

uint64_t *device_functions__counted(struct device_functions *f, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t *cnt = calloc(SHIM_FUNCTIONS, sizeof(*cnt));

	for (size_t i = 0; i < f->began_cnt && cnt; i++)
		if (f->began[i].ns >= from_ns && f->began[i].ns < to_ns &&
		    f->began[i].function < SHIM_FUNCTIONS)
			cnt[f->began[i].function]++;
	free(f->began);
	f->began = NULL;
	f->began_cnt = f->began_cap = 0;
	return cnt;
}

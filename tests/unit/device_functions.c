// SPDX-License-Identifier: BSD-2-Clause
/* Function calls that the library in the target saw, as spans. */
#include "device/device_functions.h"
#include "bpf/thread_state.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <stdlib.h>

enum { CALL, NODE, AROUND, PART, RETURNING, CNT };

static const struct shim_function list[CNT] = {
	[CALL] = {.kind = SHIM_FUNCTION_CALL},		 [NODE] = {.kind = SHIM_FUNCTION_NODE},
	[AROUND] = {.kind = SHIM_FUNCTION_ENCLOSING},	 [PART] = {.kind = SHIM_FUNCTION_PART},
	[RETURNING] = {.kind = SHIM_FUNCTION_RETURNING},
};
static struct device_functions functions;
static struct pt_span span;

static void begin(void)
{
	const struct shim_functions f = {
		.functions = list, .function_cnt = CNT, .python_node = 0xabc};

	cr_assert_eq(device_functions__set(&functions, &f), 0);
}

static void end(void)
{
	device_functions__clear(&functions);
}

TestSuite(device_functions, .init = begin, .fini = end);

static struct shim_call call_of(uint16_t function, uint64_t begin_ns, uint64_t end_ns)
{
	return (struct shim_call){.begin_ns = begin_ns,
				  .end_ns = end_ns,
				  .api = function,
				  .domain = SHIM_FUNCTION,
				  .node = 5,
				  .type = 0x123};
}

static bool is_span(uint16_t function, uint64_t begin_ns, uint64_t end_ns)
{
	const struct shim_call call = call_of(function, begin_ns, end_ns);

	return device_functions__span(&functions, &call, 100, 200, &span);
}

Test(device_functions, a_call)
{
	cr_assert(is_span(CALL, 110, 120));
	cr_assert_eq(span.ts_ns, 110);
	cr_assert_eq(span.end_ns, 120);
	cr_assert_eq(span.probe, CALL);
	cr_assert_eq(span.kind, PT_KIND_STATIC);
	cr_assert_eq(span.end, PT_END_RETURN);
	cr_assert_eq(span.seq, 5);
	cr_assert_eq(span.flags, 0);
}

Test(device_functions, cut_at_the_edges_of_the_window)
{
	cr_assert(is_span(CALL, 90, 210));
	cr_assert_eq(span.ts_ns, 100);
	cr_assert_eq(span.end_ns, 200);
	cr_assert_eq(span.flags, PT_SPAN_CUT_BEGIN | PT_SPAN_CUT_END);
	cr_assert_not(is_span(CALL, 90, 100));
	cr_assert_not(is_span(CALL, 200, 210));
}

Test(device_functions, a_node_lasts_until_another)
{
	struct shim_call call = call_of(NODE, 110, 120);

	cr_assert(is_span(NODE, 110, 120));
	cr_assert_eq(span.kind, PT_KIND_NODE);
	cr_assert_eq(span.end, PT_END_INFERRED);
	cr_assert_eq(span.vtable, 0x123);
	cr_assert_eq(span.type_obj, 0);
	call.flags = SHIM_CALL_OBJECT;
	cr_assert(device_functions__span(&functions, &call, 100, 200, &span));
	cr_assert_eq(span.vtable, 0xabc);
	cr_assert_eq(span.type_obj, 0x123);
}

Test(device_functions, what_is_none_of_them)
{
	cr_assert_not(is_span(CNT, 110, 120));
	device_functions__drop(&functions, CALL);
	cr_assert_not(is_span(CALL, 110, 120));
	cr_assert(is_span(NODE, 110, 120));
}

Test(device_functions, are_counted_by_their_begin)
{
	const uint64_t begins[] = {99, 100, 150, 199, 200};
	uint64_t *cnt;

	for (size_t i = 0; i < ARRAY_SIZE(begins); i++) {
		const struct shim_call call = call_of(NODE, begins[i], 300);

		cr_assert_eq(device_functions__count(&functions, &call), 0);
	}
	cnt = device_functions__counted(&functions, 100, 200);
	cr_assert_eq(cnt[NODE], 3);
	cr_assert_eq(cnt[CALL], 0);
	free(cnt);
	cnt = device_functions__counted(&functions, 0, UINT64_MAX);
	cr_assert_eq(cnt[NODE], 0, "they are forgotten");
	free(cnt);
}

Test(device_functions, what_is_around_others_has_no_span)
{
	cr_assert(!is_span(AROUND, 110, 120));
}

Test(device_functions, a_part_ends_with_what_is_around_it_or_somewhere_before_the_next)
{
	struct shim_call call = call_of(PART, 110, 120);

	cr_assert(device_functions__span(&functions, &call, 100, 200, &span));
	cr_assert_eq(span.kind, PT_KIND_STATIC);
	cr_assert_eq(span.end, PT_END_INFERRED);
	call.flags = SHIM_CALL_RETURNED;
	cr_assert(device_functions__span(&functions, &call, 100, 200, &span));
	cr_assert_eq(span.end, PT_END_RETURN);
}

Test(device_functions, one_that_is_named_by_an_object)
{
	struct shim_call call = call_of(RETURNING, 110, 120);

	cr_assert(device_functions__has(&functions, &call));
	cr_assert(device_functions__span(&functions, &call, 100, 200, &span));
	cr_assert_eq(span.kind, PT_KIND_NAMED);
	cr_assert_eq(span.type_obj, 0x123);
	cr_assert_eq(span.end, PT_END_RETURN);
	call.flags = SHIM_CALL_LEFT; /* by an exception */
	cr_assert(device_functions__span(&functions, &call, 100, 200, &span));
	cr_assert_eq(span.end, PT_END_INFERRED);
	device_functions__drop(&functions, RETURNING);
	cr_assert(!device_functions__has(&functions, &call));
}

// SPDX-License-Identifier: BSD-2-Clause
/* Full names of operators: from the ring to tables, trace and exports. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/long_names.h"
#include "capture/decode/decoder.h"
#include "common/util.h"
#include "frameworks/mindspore_names.h"
#include "model_synth.h"

#define CONV1 "Default/network-WithLossCell/conv1-Conv2d/Conv2D-op1"
#define CONV2 "Default/network-WithLossCell/conv2-Conv2d/Conv2D-op12"

extern const struct framework framework_mindspore;

static struct planned_probe launches[] = {
	{.row = 1, .group = GROUP_OPERATOR, .category = CAT_OPERATOR, .program = "named_entry"},
	{.row = 2, .group = GROUP_STEP, .category = CAT_SCRIPT, .program = "named_entry"},
	{.row = 3, .group = GROUP_STEP, .category = CAT_USER, .program = "named_entry"},
};
static const struct probe_plan plan = {
	.probes = launches, .cnt = ARRAY_SIZE(launches), .row_cnt = ARRAY_SIZE(launches)};

static int full_name(struct decoder *d, const char *text, uint64_t begin, uint32_t len)
{
	struct pt_rec_full_name r = {.h = {.kind = PT_REC_FULL_NAME, .pid = 100, .tid = 100},
				     .ts_ns = begin,
				     .len = len};

	snprintf(r.name.text, sizeof(r.name.text), "%s", text);
	return decoder__record(d, &r, sizeof(r));
}

static void long_named(struct decoder *d, uint32_t row, const char *name, uint64_t key,
		       uint64_t begin, uint64_t end)
{
	struct pt_rec_named r = {.h = {.kind = PT_REC_NAMED_SPAN,
				       .size = sizeof(r),
				       .probe = row,
				       .pid = 100,
				       .tid = 100},
				 .ts_ns = begin,
				 .end_ns = end,
				 .name_len = (uint32_t)strlen(name)};

	memcpy(r.name.text, name, strlen(name));
	r.name.key = key;
	cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
}

static void named(struct decoder *d, uint32_t row, const char *name, uint64_t begin, uint64_t end)
{
	long_named(d, row, name, PT_KEY_NONE, begin, end);
}

static void launch(struct decoder *d, const char *name, uint64_t begin, uint64_t end)
{
	named(d, 1, name, begin, end);
}

static void launch_in_full(struct decoder *d, const char *name, const char *full, uint64_t begin,
			   uint64_t end)
{
	cr_assert_eq(full_name(d, full, begin, (uint32_t)strlen(full)), 0);
	launch(d, name, begin, end);
}

static struct decoder *decoder(struct synth *s, struct target **self)
{
	static const struct pt_passes passes;
	struct decoder *d;

	cr_assert_eq(target__open(getpid(), self), 0);
	d = decoder__new(*self, &framework_mindspore, &plan, &passes);
	cr_assert(d);
	decoder__set_writer(d, s->w);
	return d;
}

static void close_all(struct synth *s, struct decoder *d, struct target *self)
{
	cr_expect_eq(decoder__malformed(d), 0);
	decoder__free(d);
	target__close(self);
	synth__step(s, 0, 0, 100);
	synth__open(s, "{}");
}

static void expect_row(struct synth *s, const char *table, size_t row, const char *full,
		       json_int_t calls, json_int_t total_ns)
{
	char *text = synth__tables(
		s, table, &(struct report_opts){.style.format = TABLE_JSON, .style.unit = UNIT_NS});
	json_t *json = json_loads(text, 0, NULL);
	const json_t *got =
		json_array_get(json_object_get(json_object_get(json, table), "rows"), row);

	if (full)
		cr_expect_str_eq(json_string_value(json_object_get(got, "op_full_name")), full);
	cr_expect_str_eq(json_string_value(json_object_get(got, "op_type")), "Conv2D");
	cr_expect_eq(json_integer_value(json_object_get(got, "occurrences")), calls);
	cr_expect_eq(json_integer_value(json_object_get(got, "total_ns")), total_ns);
	json_decref(json);
	free(text);
}

Test(full_names, are_rows_of_the_detail_and_of_one_type)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct target *self;
	struct decoder *d = decoder(&s, &self);

	launch_in_full(d, "Conv2D", CONV1, 0, 10);
	launch_in_full(d, "Conv2D", CONV2, 10, 40);
	launch_in_full(d, "Conv2D", CONV1, 40, 60);
	launch(d, "Conv2D", 60, 65);
	close_all(&s, d, self);
	expect_row(&s, "op_type", 0, NULL, 4, 65);
	expect_row(&s, "op_detail", 0, CONV1, 2, 30);
	expect_row(&s, "op_detail", 1, CONV2, 1, 30);
	expect_row(&s, "op_detail", 2, "Conv2D", 1, 5); /* not known in full */
	synth__free(&s);
}

static void conv(struct synth *s, const char *full, uint64_t launch, uint64_t begin)
{
	struct event e = synth__event(s, s->main, CAT_OPERATOR, "Conv2D", begin, begin + 10);

	e.name = recording_writer__name(s->w, CAT_OPERATOR, "Conv2D", full);
	synth__launch(s, s->main, launch, begin + 2, begin + 4);
	synth__write(s, &e);
	synth__kernel(s, synth__stream(s, 0, 7), CAT_KERNEL, "implicit_gemm", launch, begin + 12,
		      begin + 18);
}

Test(full_names, are_what_activities_are_asked_for_by)
{
	struct report_opts opts = {.tables = "activity,op_detail", .style.unit = UNIT_NS};
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	char *text;

	conv(&s, CONV1, 1, 10);
	conv(&s, CONV2, 2, 40);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, "{}");
	opts.only = "*conv2-Conv2d*";
	text = synth__report(&s, &opts);
	cr_expect_not_null(strstr(text, "implicit_gemm     Kernel  Default...2d/Conv2D-op12"), "%s",
			   text);
	cr_expect_null(strstr(text, "Conv2d/Conv2D-op1 "), "%s", text);
	free(text);
	opts.only = "Conv2D"; /* the type */
	text = synth__report(&s, &opts);
	cr_expect_not_null(strstr(text, CONV1), "%s", text);
	free(text);
	synth__free(&s);
}

/* The bytes at a name's place may be anything. */
Test(full_names, what_is_no_path_is_none)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct target *self;
	struct decoder *d = decoder(&s, &self);

	launch_in_full(d, "Conv2D", "Conv2D", 0, 10);
	launch_in_full(d, "Conv2D", "a/\xc3\x28", 10, 20);
	launch_in_full(d, "Conv2D", "a/b(int c)", 20, 30);
	close_all(&s, d, self);
	for (uint32_t id = 0; id <= recording__name_cnt(s.r) + 1; id++)
		cr_expect_null(recording__full_name(s.r, id));
	synth__free(&s);
}

Test(full_names, a_record_that_is_cut_is_malformed)
{
	struct synth s = synth__new("{}");
	struct target *self;
	struct decoder *d = decoder(&s, &self);
	const struct pt_rec_full_name r = {.h = {.kind = PT_REC_FULL_NAME}};

	cr_expect_eq(full_name(d, CONV1, 0, PT_NAME_MAX), 0, "a length beyond it is cut");
	cr_expect_eq(decoder__record(d, &r, sizeof(r) - 8), 0);
	cr_expect_eq(decoder__malformed(d), 1);
	decoder__free(d);
	target__close(self);
	synth__open(&s, "{}");
	synth__free(&s);
}

Test(full_names, a_signature_is_none)
{
	struct synth s = synth__new("{}");
	uint32_t signature = recording_writer__name(s.w, CAT_OPERATOR, "aten::f",
						    "aten::f(str s=\"a/b\") -> Tensor"),
		 full = recording_writer__name(s.w, CAT_OPERATOR, "Conv2D", CONV1);

	synth__open(&s, "{}");
	cr_expect_null(recording__full_name(s.r, signature));
	cr_expect_str_eq(recording__full_name(s.r, full), CONV1);
	synth__free(&s);
}

/* mov rax, [rsi+0x58]; cmp qword [rax-0x18], 0 as in 2.10, and by rdi as in 2.7 */
Test(full_names, where_a_node_has_its_own)
{
	uint8_t code[] = {0x41, 0x57, 0x48, 0x8b, 0x46, 0x58, 0x48, 0x83,
			  0x78, 0xe8, 0x00, 0x90, 0x90, 0x90, 0x90, 0x90};

	cr_expect_eq(mindspore_names__offset(code, sizeof(code)), 0x58);
	code[8] = 0x7f;
	cr_expect_eq(mindspore_names__offset(code, sizeof(code)), -ENOENT);
	code[4] = 0x7e;
	cr_expect_eq(mindspore_names__offset(code, sizeof(code)), 0x58);
	code[9] = 0xf0;
	cr_expect_eq(mindspore_names__offset(code, sizeof(code)), -ENOENT);
	cr_expect_eq(mindspore_names__offset(code, 4), -ENOENT);
}

/* The first byte of a character is the last that the kernel's side had room for, and the rest was
 * not read. */
Test(full_names, a_name_that_is_cut_ends_with_a_whole_character)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	struct target *self;
	struct decoder *d = decoder(&s, &self);
	char name[PT_NAME_MAX] = "", *text;

	for (size_t i = 0; i + 1 < sizeof(name); i++)
		name[i] = i % 2 ? '\xb6' : '\xc3';
	launch(d, "short", 5, 8);
	cr_expect_eq(decoder__cut_names(d), 0);
	long_named(d, 1, name, PT_KEY_UNREAD, 10, 20);
	cr_expect_eq(decoder__cut_names(d), 1);
	close_all(&s, d, self);
	text = synth__tables(&s, "operator", &(struct report_opts){.style.format = TABLE_CSV});
	cr_expect(strstr(text, "\u00f6\u00f6... (names that begin so),"), "%s", text);
	free(text);
	synth__free(&s);
}

/* The text after a graph's name is cut off, whether it fits or not. A range keeps its program's
 * name. */
Test(full_names, of_graphs_are_without_paths_and_of_ranges_as_they_are)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	char path[PT_NAME_MAX] = "mindspore.nn.optim.adam.construct./usr/lib";
	struct target *self;
	struct decoder *d = decoder(&s, &self);
	char *tree;

	memset(path + strlen(path), 'x', sizeof(path) - 1 - strlen(path));
	long_named(d, 2, path, PT_KEY_FULL, 0, 10);
	named(d, 3, "stage.2.forward", 20, 30);
	cr_expect_eq(decoder__cut_names(d), 0);
	memset(path, 'x', sizeof(path) - 1);
	long_named(d, 3, path, PT_KEY_FULL, 40, 50);
	cr_expect_eq(decoder__cut_names(d), 1);
	close_all(&s, d, self);
	tree = synth__tree(&s, NULL);
	cr_expect_not_null(strstr(tree, "Script mindspore.nn.optim.adam.construct ["), "%s", tree);
	cr_expect_not_null(strstr(tree, "UserDefined stage.2.forward ["), "%s", tree);
	free(tree);
	synth__free(&s);
}

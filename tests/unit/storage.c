// SPDX-License-Identifier: BSD-2-Clause
/* Tests the purposes of a device's memory, from the ring's records to the table and MXNet's csv. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bpf/thread_state.h"
#include "capture/decode/decoder.h"
#include "capture/decode/long_names.h"
#include "common/util.h"
#include "exporters/exporter.h"
#include "frameworks/framework.h"
#include "model_synth.h"

TestSuite(storage);

extern const struct framework framework_mxnet;

enum { ROW_STORAGE = 1, ROW_MEMORY };

static struct planned_probe probes[] = {
	{.row = ROW_STORAGE, .group = GROUP_MEMORY, .category = CAT_STORAGE},
	{.row = ROW_MEMORY, .group = GROUP_MEMORY, .category = CAT_ALLOCATION},
};
static const struct probe_plan plan = {.probes = probes, .cnt = 2, .row_cnt = 2};

#define UNIQUE "0a1b2c3d_0123_4567_89ab_0123456789ab_"

static const struct pt_long_name weight = {
	.domain_len = 9, .len = 43, .text = "net:conv:" UNIQUE "weight"};

static void named(struct decoder *d, uint64_t ts_ns, uint64_t addr, uint64_t taken, bool reused,
		  const char *name)
{
	struct pt_rec_storage r = {.h = {.kind = PT_REC_STORAGE,
					 .size = sizeof(r),
					 .probe = ROW_STORAGE,
					 .pid = 100,
					 .tid = 100},
				   .ts_ns = ts_ns,
				   .addr = addr,
				   .taken = taken,
				   .reused = reused,
				   .name_len = name ? (uint32_t)strlen(name) : 20,
				   .name.key = name ? 0 : PT_KEY_FIRST};

	if (name)
		memcpy(r.name.text, name, strlen(name));
	cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
}

static void memory(struct decoder *d, uint64_t ts_ns, uint64_t addr, int64_t bytes, int device)
{
	struct pt_rec_memory r = {.h = {.kind = PT_REC_MEMORY,
					.size = sizeof(r),
					.probe = ROW_MEMORY,
					.pid = 100,
					.tid = 100},
				  .ts_ns = ts_ns,
				  .addr = addr,
				  .bytes = bytes,
				  .total_allocated = UINT64_MAX,
				  .total_reserved = UINT64_MAX,
				  .device_type = device >= 0,
				  .device_index = device < 0 ? 0 : device};

	cr_assert_eq(decoder__record(d, &r, sizeof(r)), 0);
}

/* Allocations and frees by the driver. */
static void driver(struct synth *s, uint64_t ts_ns, uint64_t addr, int64_t bytes)
{
	const struct event_memory args = {UINT64_MAX, UINT64_MAX, 1, 0};
	const struct event e = {
		.type = EVENT_MEMORY,
		.ts_ns = ts_ns,
		.id = addr,
		.value = bytes,
		.track = s->main,
		.name = recording_writer__name(s->w, CAT_ALLOCATION, "Device", NULL),
		.args = &args,
		.args_len = sizeof(args)};

	synth__write(s, &e);
}

/* Allocations: a parameter that stays, a batch that is freed, one on another device, one on the
 * host, and one from before the window. MXNet's profiler is off from 90 on: one is freed to the
 * pool, one to the driver, and one reuses the driver's memory. */
static void record(struct synth *s, struct decoder *d)
{
	named(d, 10, 0x1000, 4096, false, "<unk>:::unknown");
	memory(d, 11, 0x1000, 4000, 0);
	named(d, 12, 0x1000, 0, false, NULL);
	named(d, 20, 0x2000, 512, true, "net:::data");
	memory(d, 21, 0x2000, 100, 0);
	memory(d, 30, 0x2000, -100, 0);
	named(d, 40, 0x2000, 512, true, "net:::data");
	memory(d, 41, 0x2000, 200, 0);
	named(d, 50, 0x3000, 1024, false, "net:::data");
	memory(d, 51, 0x3000, 1024, 1);
	memory(d, 60, 0x4000, 64, -1);
	named(d, 61, 0x4000, 0, false, "net:::host");
	memory(d, 70, 0x9000, -8, 0);
	named(d, 80, 0x8000, 0, false, "net:::before");
	driver(s, 90, 0x5000, 8192);
	memory(d, 91, 0x5000, 5000, 0);
	named(d, 92, 0x5000, 0, false, "net:::pool");
	memory(d, 93, 0x5000, -5000, 0);
	driver(s, 94, 0x6000, 8192);
	memory(d, 95, 0x6000, 6000, 0);
	named(d, 96, 0x6000, 0, false, "net:::gone");
	memory(d, 97, 0x6000, -6000, 0);
	driver(s, 98, 0x6000, -8192);
	memory(d, 99, 0x7000, 7000, 0);
	named(d, 100, 0x7000, 0, false, "net:::old");
}

static struct synth recorded(void)
{
	struct synth s = synth__new("{\"process\": {\"pid\": 100}}");
	const struct pt_passes passes = {0};
	struct long_names *names = long_names__new(-1, 0, NULL);
	struct decoder *d = decoder__new(NULL, &framework_mxnet, &plan, &passes);

	cr_assert(d && names);
	cr_assert_eq(long_names__put(names, PT_KEY_FIRST, &weight), 0);
	decoder__set_long_names(d, names);
	decoder__set_writer(d, s.w);
	record(&s, d);
	cr_expect_eq(decoder__malformed(d), 0);
	decoder__free(d);
	long_names__free(names);
	synth__open(&s, "{}");
	return s;
}

Test(storage, a_row_is_what_a_name_holds_on_a_device)
{
	static const struct report_opts opts = {.tables = "storage,counters"};
	struct synth s = recorded();
	char *text = synth__report(&s, &opts);

	synth__expect_line(text,
			   "net:conv:weight                                0        3.91 KiB     "
			   "4.00 KiB       1                 1           0            0");
	synth__expect_line(text,
			   "net:data                                       1        1.00 KiB     "
			   "1.00 KiB       1                 1           0            0");
	synth__expect_line(
		text, "net:data                                       0           200 B        "
		      "512 B       1                 2           1            2");
	synth__expect_line(
		text, "net:old                                        0        6.84 KiB            "
		      "-       1                 1           0            1");
	synth__expect_line(
		text, "net:pool                                       0             0 B          "
		      "0 B       0                 1           1            0");
	cr_expect(strstr(text, "1 free of what was allocated before the window"), "%s", text);
	cr_expect(strstr(text, "No counter and no mark of the user"), "%s", text);
	free(text);
	synth__free(&s);
}

Test(storage, the_csv_is_as_mxnet_writes_it)
{
	struct synth s = recorded();
	char path[] = "/tmp/proftrace-storage.XXXXXX";
	const int fd = mkstemp(path);
	const struct export_opts opts = {.output = path, .gzip_level = 0};
	struct export_result result;
	auto_free char *text = NULL;

	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(exporter__find("gpu-memory-profile")->run(s.r, &opts, &result), 0);
	text = file__read(path, NULL);
	unlink(path);
	cr_assert(text != NULL);
	cr_expect_str_eq(text, "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\","
			       "\"Reuse?\"\n"
			       "\"net:conv:weight\",\"4000\",\"0\",\"4096\",\"0\"\n"
			       "\"net:data\",\"200\",\"0\",\"512\",\"1\"\n"
			       "\"net:data\",\"1024\",\"1\",\"1024\",\"0\"\n"
			       "\"net:old\",\"7000\",\"0\",\"\",\"1\"\n"
			       "\"net:pool\",\"5000\",\"0\",\"8192\",\"0\"\n");
	cr_expect_eq(result.events, 5);
	synth__free(&s);
}

Test(storage, a_version_without_scopes_says_so)
{
	static const struct report_opts opts = {.tables = "storage"};
	struct synth s =
		synth__new("{\"runtime\": {\"framework\": \"mxnet\", \"version\": \"1.9.1\"}}");
	char *text;

	synth__memory(&s, s.main, 10, 0x1000, 64);
	synth__open(&s, "{}");
	text = synth__report(&s, &opts);
	cr_expect(strstr(text, "this version of MXNet has no profiler scopes"), "%s", text);
	free(text);
	synth__free(&s);
}

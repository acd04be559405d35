// SPDX-License-Identifier: BSD-2-Clause
/* Whole exports of committed recordings. Binary formats are compared as text. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>
#include "common/err.h"
#include "common/util.h"
#include "exporters/exporter.h"
#include "golden.h"
#include "proto_text.h"
#include "sqlite_text.h"

static const struct golden {
	const char *recording, *format, *dialect, *file, *config;
} goldens[] = {
	{"gpu", "chrome", NULL, "gpu.chrome.json", NULL},
	{"gpu", "chrome", "tb", "gpu.chrome_tb.json", NULL},
	{"more", "chrome", NULL, "more.chrome.json", NULL},
	{"cpu", "folded", NULL, "cpu.folded", NULL},
	{"gpu", "folded", NULL, "gpu.folded", NULL},
	{"simgpu", "folded", "device", "simgpu.device.folded", NULL},
	{"gpu", "speedscope", NULL, "gpu.speedscope.json", NULL},
	{"gpu", "csv", NULL, "gpu.rows.csv", NULL},
	{"cut", "jsonl", NULL, "cut.rows.jsonl", NULL},
	{"gpu", "cuda-profiler", NULL, "gpu.cuda.log", NULL},
	{"simgpu", "cuda-profiler", "csv", "simgpu.cuda.csv",
	 "gpustarttimestamp,gridsize,threadblocksize,dynsmemperblock,stasmemperblock,regperthread,"
	 "memtransfersize,memtransferdir,memtransferhostmemtype,cacheconfigrequested"},
	{"gpu", "perfetto", NULL, "gpu.perfetto.txt", NULL},
	{"cut", "perfetto", NULL, "cut.perfetto.txt", NULL},
	{"gpu", "pprof", NULL, "gpu.pprof.txt", NULL},
	{"cut", "pprof", NULL, "cut.pprof.txt", NULL},
	{"gpu", "paddle-proto", NULL, "gpu.paddle_proto.txt", NULL},
	{"cut", "paddle-proto", NULL, "cut.paddle_proto.txt", NULL},
	{"pytorch", "chrome", NULL, "pytorch.chrome.json", NULL},
	{"pytorch", "folded", NULL, "pytorch.folded", NULL},
	{"pytorch", "speedscope", NULL, "pytorch.speedscope.json", NULL},
	{"pytorch", "pprof", NULL, "pytorch.pprof.txt", NULL},
	{"pytorch", "sqlite", NULL, "pytorch.sqlite.txt", NULL},
	{"mindspore", "chrome", "tb", "mindspore.chrome_tb.json", NULL},
	{"mindspore", "perfetto", NULL, "mindspore.perfetto.txt", NULL},
	{"mxnet", "csv", NULL, "mxnet.rows.csv", NULL},
	{"mxnet", "jsonl", NULL, "mxnet.rows.jsonl", NULL},
	{"paddle", "paddle-proto", NULL, "paddle.paddle_proto.txt", NULL},
	{"simgpu", "cuda-profiler", NULL, "simgpu.cuda.log", NULL},
	{"annotated", "chrome", NULL, "annotated.chrome.json", NULL},
	{"annotated", "perfetto", NULL, "annotated.perfetto.txt", NULL},
	{"ddp0", "chrome", NULL, "ddp0.chrome.json", NULL},
	{"stacks", "folded", NULL, "stacks.folded", NULL},
	{"stacks", "pprof", NULL, "stacks.pprof.txt", NULL},
	{"waits", "sqlite", NULL, "waits.sqlite.txt", NULL},
	{"gpu", "sqlite", NULL, "gpu.sqlite.txt", NULL},
	{"cut", "sqlite", NULL, "cut.sqlite.txt", NULL},
};

/* ---- binary formats as text ---- */

static char *proto_file(const char *path, const struct proto_field *fields)
{
	static unsigned char data[1 << 16];
	gzFile f = gzopen(path, "rb"); /* reads uncompressed files too */
	int len = gzread(f, data, sizeof(data));

	cr_assert(len > 0 && (size_t)len < sizeof(data), "%s: %d bytes", path, len);
	gzclose(f);
	return proto_text(data, (size_t)len, fields);
}

static char *text_of(const char *path, const char *format)
{
	static const struct {
		const char *format;
		const struct proto_field *fields;
	} protos[] = {
		{"perfetto", proto_perfetto},
		{"pprof", proto_pprof},
		{"paddle-proto", proto_paddle},
	};

	if (strcmp(format, "sqlite") == 0)
		return sqlite_text(path);
	for (size_t i = 0; i < ARRAY_SIZE(protos); i++)
		if (strcmp(format, protos[i].format) == 0)
			return proto_file(path, protos[i].fields);
	return file__read(path, NULL);
}

static int export_to(const struct golden *g, const char *output, struct export_result *result)
{
	const struct export_opts opts = {
		.output = output, .dialect = g->dialect, .gzip_level = -1, .config = g->config};
	struct recording *r = golden__open(g->recording);
	int err = exporter__find(g->format)->run(r, &opts, result);

	recording__close(r);
	return err;
}

Test(export_golden, files_are_as_committed)
{
	for (size_t i = 0; i < ARRAY_SIZE(goldens); i++) {
		char written[] = "/tmp/proftrace-export-XXXXXX";
		const char *const committed = goldens[i].file;
		auto_free char *text = NULL;
		struct export_result result;
		struct stat st;

		close(mkstemp(written));
		cr_assert_eq(export_to(&goldens[i], written, &result), 0, "%s", err__take(-1));
		text = text_of(written, goldens[i].format);
		cr_assert_eq(stat(written, &st), 0);
		unlink(written);
		golden__expect(text, committed);
		cr_expect_null(strstr(text, "(malformed)"), "%s", committed);
		cr_expect_eq(result.bytes, (uint64_t)st.st_size, "%s", committed);
	}
}

Test(export_golden, a_wrong_dialect_is_named)
{
	for (const struct exporter *const *e = exporters__all(); *e; e++) {
		const struct golden g = {"cpu", (*e)->name, "nosuch", NULL, NULL};
		struct export_result result;

		cr_expect_eq(export_to(&g, "/nonexistent/x", &result), -EINVAL, "%s", (*e)->name);
		cr_expect_not_null(strstr(err__take(-1), "unknown dialect 'nosuch'"));
	}
}

Test(export_golden, default_names_are_by_host_and_pid)
{
	char dir[] = "/tmp/proftrace-export-XXXXXX";

	cr_assert_not_null(mkdtemp(dir));
	for (const struct exporter *const *e = exporters__all(); *e; e++) {
		const struct golden g = {"gpu", (*e)->name, NULL, NULL, NULL};
		struct export_result result;

		if (!strcmp((*e)->name, "gpu-memory-profile"))
			continue; /* the recording has no scopes; see storage.c */
		cr_expect_eq(export_to(&g, dir, &result), 0, "%s: %s", (*e)->name, err__take(-1));
		cr_expect_not_null(strstr(result.path, "/node7_4242."), "%s", result.path);
		cr_expect_gt(result.events, 0);
		unlink(result.path);
	}
	cr_expect_eq(rmdir(dir), 0, "nothing else was left");
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The csv of MXNet 2's GPU memory profiler, gpu_memory_profile-pid_PID.csv. A line is a block that
 * was given out and did not return to the driver, by name. The pool also holds blocks that no array
 * uses. src/profiler/storage_profiler.cc, DumpProfile.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "common/counted.h"
#include "common/csv_cell.h"
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/util.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/output.h"
#include "exporters/parts/text_file.h"
#include "model/storage_log.h"

struct kept {
	struct storage_block block;
	const char *name;
};

struct profile {
	const struct recording *r;
	struct storage_log log;
	struct kept *kept;
	size_t cnt, cap;
	uint64_t unknown; /* blocks of unknown actual size */
};

static int read_events(struct profile *p)
{
	struct recording_cursor *c;
	struct event e;
	int err = recording_cursor__open(p->r, &c), added = 0;

	if (err)
		return err;
	while (!added && (err = recording_cursor__next(c, &e)) > 0)
		added = storage_log__add(&p->log, p->r, &e);
	recording_cursor__close(c);
	return added ? added : err;
}

static int keep_block(const struct storage_block *b, void *ctx)
{
	struct profile *p = ctx;
	const struct name *n = recording__name(p->r, b->name);
	const struct kept h = {*b, n && n->text ? n->text : "(name lost)"};

	if (!b->kept)
		return 0;
	p->unknown += b->taken_bytes == STORAGE_UNKNOWN;
	return ARRAY_PUSH(p->kept, p->cnt, p->cap, h);
}

/* The original has no meaningful order for lines of one name. */
static int by_name(const void *x, const void *y)
{
	const struct kept *p = x, *q = y;
	const int names = strcmp(p->name, q->name);

	if (names)
		return names;
	if (p->block.device != q->block.device)
		return p->block.device < q->block.device ? -1 : 1;
	if (p->block.requested_bytes != q->block.requested_bytes)
		return p->block.requested_bytes < q->block.requested_bytes ? -1 : 1;
	return 0;
}

static void put_bytes(struct text_file *out, uint64_t bytes)
{
	if (bytes == STORAGE_UNKNOWN)
		text_file__put(out, ",\"\"", 3);
	else
		text_file__print(out, ",\"%" PRIu64 "\"", bytes);
}

/* Each value is quoted, as in the original. */
static void put_lines(const struct profile *p, bool raw, struct text_file *out)
{
	text_file__print(out, "\"Attribute Name\",\"Requested Size\",\"Device\",\"Actual Size\","
			      "\"Reuse?\"\n");
	for (size_t i = 0; i < p->cnt; i++) {
		const struct storage_block *b = &p->kept[i].block;

		csv_cell__write_quoted(p->kept[i].name, raw, text_file__put_on_line, out);
		put_bytes(out, b->requested_bytes);
		text_file__print(out, ",\"%d\"", b->device);
		put_bytes(out, b->taken_bytes);
		text_file__print(out, ",\"%d\"\n", b->reused);
	}
}

static int gpu_memory_profile__run(const struct recording *r, const struct export_opts *opts,
				   struct export_result *result)
{
	struct profile p = {.r = r};
	struct text_file *out = NULL;
	auto_free char *loss = facts__loss(r);
	int level, err = output__no_dialect(opts, "gpu-memory-profile");

	*result = (struct export_result){0};
	if (!err && !recording__has_category(r, CAT_STORAGE))
		err = err__set(-EINVAL, MESSAGE_GPU_MEMORY_SCOPES_MISSING);
	if (!err)
		err = output__choose(r, opts, ".gpu_memory.csv", 0, &level, result);
	if (!err)
		err = read_events(&p);
	if (!err)
		err = storage_log__each(&p.log, keep_block, &p);
	if (!err && p.cnt)
		qsort(p.kept, p.cnt, sizeof(*p.kept), by_name);
	if (!err)
		err = text_file__open(result->path, level, &out);
	if (!err) {
		put_lines(&p, opts->raw_csv, out);
		result->events = p.cnt;
		err = text_file__end(out, text_file__error(out), &result->bytes);
	}
	if (!err && p.unknown)
		log__warn(MESSAGE_GPU_MEMORY_SIZES_MISSING,
			  counted(p.unknown, "block", "blocks").s);
	if (!err && loss && *loss)
		log__warn(MESSAGE_GPU_MEMORY_LOSS_LEFT_OUT, loss);
	free(p.kept);
	storage_log__free(&p.log);
	return err;
}

const struct exporter exporter_gpu_memory_profile = {
	.name = "gpu-memory-profile",
	.summary = "MXNet 2's gpu_memory_profile-pid_PID.csv: what a device's memory is held for",
	.run = gpu_memory_profile__run,
};

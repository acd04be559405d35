// SPDX-License-Identifier: BSD-2-Clause
/* The Chrome trace in Kineto's dialect. doc/reference/trace.md says what its readers need, and
 * why. */
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/util.h"
#include "exporters/parts/facts.h"
#include "exporters/chrome/chrome_limit.h"
#include "exporters/chrome/chrome_writer.h"
#include "exporters/exporter.h"
#include "exporters/exporters.h"
#include "exporters/parts/gpu_collector.h"
#include "exporters/parts/output.h"

#define GZIP_LEVEL_DEFAULT 1

/* ---- what stands before the events ---- */

/* Wall-clock time of the trace's 0, in nanoseconds. */
static int64_t base_time_ns(const struct recording *r, uint64_t base_us)
{
	const json_t *clock = json_object_get(recording__meta(r), "clock");
	const json_int_t mono = json_integer_value(json_object_get(clock, "monotonic_ns"));
	const json_int_t wall = json_integer_value(json_object_get(clock, "realtime_ns"));

	return (int64_t)(base_us * 1000 + (uint64_t)wall - (uint64_t)mono);
}

static void put_distributed(struct text_file *out, const struct recording *r)
{
	const json_t *ranks = json_object_get(recording__meta(r), "rank");
	const json_t *rank = json_object_get(ranks, "rank");
	const json_t *world = json_object_get(ranks, "world_size");

	if (!json_is_integer(rank))
		return;
	/* HTA searches the rank with a pattern that needs this space */
	text_file__print(out,
			 "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\": %lld,"
			 "\"world_size\": %lld},\n",
			 (long long)json_integer_value(rank),
			 (long long)(json_is_integer(world) ? json_integer_value(world) : 1));
}

static json_t *device_properties(uint64_t id, const struct device_info *d)
{
	return json_pack("{s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "id", (json_int_t)id, "name", d->name, "totalGlobalMem",
			 (json_int_t)d->memory_bytes, "computeMajor", (json_int_t)d->major,
			 "computeMinor", (json_int_t)d->minor, "maxThreadsPerBlock",
			 (json_int_t)d->threads_per_block, "maxThreadsPerMultiprocessor",
			 (json_int_t)d->threads_per_multiprocessor, "regsPerBlock",
			 (json_int_t)d->registers_per_block, "regsPerMultiprocessor",
			 (json_int_t)d->registers_per_multiprocessor, "warpSize",
			 (json_int_t)d->warp_size, "sharedMemPerBlock",
			 (json_int_t)d->shared_per_block, "numSms", (json_int_t)d->multiprocessors,
			 "sharedMemPerBlockOptin", (json_int_t)d->shared_per_block_optin,
			 "sharedMemPerMultiprocessor", (json_int_t)d->shared_per_multiprocessor);
}

/* Readers use device ids as indices, so an unknown device is an empty object. */
static int put_devices(struct text_file *out, const struct device_infos *devices)
{
	json_t *list = json_array();
	auto_free char *text = NULL;

	for (size_t i = 0; i < devices->cnt; i++) {
		const struct device_info *d = device_infos__at(devices, (int64_t)i);

		json_array_append_new(list, d ? device_properties(i, d) : json_object());
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	if (!text)
		return -ENOMEM;
	text_file__print(out, "\"deviceProperties\":%s,\n", text);
	return 0;
}

/* Both texts have the same length, so that their choice does not move the cut. */
static const char *truncated(const struct recording *r, const struct chrome_limit *limit)
{
	return recording__damage(r)->truncated || limit->will_cut ? " true" : "false";
}

static int put_head(const struct chrome_writer *w, const struct recording *r,
		    const struct chrome_limit *limit)
{
	struct text_file *out = w->out;
	int err;

	text_file__print(out, "{\n\"schemaVersion\":1,\n");
	err = put_devices(out, &w->devices);
	if (err)
		return err;
	put_distributed(out, r);
	text_file__print(
		out,
		"\"proftrace\":{\"version\":\"%s\",\"truncated\":%s,\"lost_events\":%llu},\n"
		"\"displayTimeUnit\":\"ms\",\n\"baseTimeNanoseconds\":%lld,\n"
		"\"traceEvents\":[\n",
		PROFTRACE_VERSION, truncated(r, limit),
		(unsigned long long)recording_loss__of(r).lost_cnt,
		(long long)base_time_ns(r, w->base_us));
	return 0;
}

/* ---- the export ---- */

static int put_event(struct chrome_writer *w, struct chrome_limit *limit,
		     const struct timeline_event *e)
{
	bool fits = true;
	int err = limit->limit_bytes ? chrome_limit__take(limit, w->out, &e->ev, &fits) : 0;

	if (err || !fits)
		return err;
	err = chrome_writer__gpu_ranges(w, e->ev.ts_ns);
	if (!err)
		err = chrome_writer__event(w, e);
	return err ? err : text_file__error(w->out);
}

/* The row that comes first. There is one if anything was written. */
static const struct chrome_row *first_row(const struct chrome_writer *w)
{
	uint32_t id = 1;

	while (id < w->rows.track_cnt && !w->rows.main[id].head_len)
		id++;
	return &w->rows.main[id];
}

static int put_events(struct chrome_writer *w, const struct recording *r,
		      struct chrome_limit *limit)
{
	struct timeline_event e;
	int err;

	err = put_head(w, r, limit);
	if (!err)
		err = chrome_writer__metadata(w, r);
	while (!err && !(limit->is_trial && limit->cut) &&
	       (err = timeline__next(w->timeline, &e)) > 0)
		err = put_event(w, limit, &e);
	if (w->any)
		chrome_limit__put(limit, w->out, first_row(w), w->base_us,
				  timeline__step_cnt(w->timeline));
	text_file__print(w->out, "\n]}\n");
	return err;
}

static int write_trace(const struct recording *r, struct timeline *t, struct gpu_ranges *ranges,
		       enum chrome_dialect dialect, int level, struct chrome_limit *limit,
		       struct export_result *result)
{
	struct chrome_writer w;
	struct text_file *out;
	uint64_t taken = 0;
	int err;

	err = text_file__open(limit->is_trial ? NULL : result->path, level, &out);
	if (err)
		return err;
	err = chrome_writer__init(&w, r, t, ranges, out, dialect);
	if (!err) {
		err = put_events(&w, r, limit);
		result->events = w.events;
		result->device_events = w.device_events;
		result->negative_in_hta = w.negative_in_hta;
		taken = text_file__taken(out);
		chrome_writer__release(&w);
	}
	err = text_file__end(out, err, &result->bytes);
	if (!err && !limit->is_trial)
		chrome_limit__say(limit, w.base_us, timeline__step_cnt(t), result->events, taken);
	return err;
}

/* The first pass over the recording. */
static int read_ahead(const struct recording *r, enum chrome_dialect dialect, struct timeline **t,
		      struct gpu_ranges *ranges)
{
	struct gpu_collector *c = NULL;
	int err = 0;

	/* torch_tb_profiler 0.4.3 counts a step on a stream as one more step of the program. */
	if (dialect == DIALECT_KINETO)
		err = gpu_collector__new(r, &c);
	if (!err)
		err = timeline__open(r, c ? gpu_collector__see : NULL, c, t);
	if (!err && c)
		err = gpu_collector__finish(c, ranges);
	gpu_collector__free(c);
	return err;
}

static int run_once(const struct recording *r, enum chrome_dialect dialect, int level,
		    struct chrome_limit *limit, struct export_result *result)
{
	struct gpu_ranges ranges = {0};
	struct timeline *t = NULL;
	int err = read_ahead(r, dialect, &t, &ranges);

	if (!err)
		err = write_trace(r, t, &ranges, dialect, level, limit, result);
	gpu_ranges__free(&ranges);
	timeline__close(t);
	return err;
}

/* The head says whether the limit cuts the trace. It must know in advance, because nothing may
 * follow the events (doc/reference/trace.md). So the text up to the limit is first made without
 * compression, and discarded. */
static int foresee_cut(const struct recording *r, enum chrome_dialect dialect,
		       struct chrome_limit *limit)
{
	struct chrome_limit trial = {.limit_bytes = limit->limit_bytes, .is_trial = true};
	struct export_result nothing = {0};
	int err = limit->limit_bytes ? run_once(r, dialect, 0, &trial, &nothing) : 0;

	limit->will_cut = trial.cut;
	chrome_limit__free(&trial);
	return err;
}

static int chrome__run(const struct recording *r, const struct export_opts *opts,
		       struct export_result *result)
{
	struct chrome_limit limit = {.limit_bytes = opts->limit_bytes};
	enum chrome_dialect dialect = DIALECT_KINETO;
	int err, level;

	if (opts->dialect && !strcmp(opts->dialect, "tb"))
		dialect = DIALECT_TB;
	else if (opts->dialect && strcmp(opts->dialect, "kineto"))
		return err__set(-EINVAL, MESSAGE_CHROME_DIALECT_UNKNOWN, opts->dialect);
	*result = (struct export_result){0};
	err = output__choose(r, opts, ".pt.trace.json", GZIP_LEVEL_DEFAULT, &level, result);
	if (err)
		return err;
	err = foresee_cut(r, dialect, &limit);
	if (!err)
		err = run_once(r, dialect, level, &limit, result);
	chrome_limit__free(&limit);
	return err;
}

const struct exporter exporter_chrome = {
	.name = "chrome",
	.summary = "trace for Perfetto, chrome://tracing, TensorBoard and HTA (PyTorch's dialect)",
	.dialects = "kineto (default), or tb for torch_tb_profiler 0.4",
	.limits = true,
	.run = chrome__run,
};

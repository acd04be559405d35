// SPDX-License-Identifier: BSD-2-Clause
/*
 * The log of CUDA's command line profiler, version 2.0: one line per kernel, copy and set. Up to
 * CUDA 11, cudaProfilerInitialize made the driver write it, and Paddle's cuda_profiler used that.
 * Compute Command Line Profiler User Guide, NVIDIA DU-05982-001. A file is about one device.
 */
#include <inttypes.h>
#include <string.h>
#include "common/counted.h"
#include "common/csv_cell.h"
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/util.h"
#include "exporters/cuda_log_config.h"
#include "exporters/exporters.h"
#include "exporters/parts/facts.h"
#include "exporters/parts/output.h"
#include "exporters/parts/rows.h"
#include "exporters/parts/text_file.h"

#define CONTEXTS_MAX 16
#define DEVICES_MAX  64
#define VALUE_MAX    64 /* longest value of any column but the method */

struct cuda_log {
	struct cuda_log_config config;
	struct rows *rows;
	struct text_file *out;
	int64_t wall_offset_ns;
	uint64_t begin_ns; /* begin of the recording's first event */
	uint32_t contexts[CONTEXTS_MAX];
	size_t context_cnt;
	uint64_t devices; /* one bit per device below DEVICES_MAX that ran something */
	bool raw_csv;
	uint64_t cnt;			  /* number of rows */
	uint64_t missing[LOG_COLUMN_CNT]; /* number of rows with unknown value, by column */
};

static uint8_t category_of(const struct row *row)
{
	return row->name ? row->name->category : CAT_NONE;
}

/* ---- columns: each writes its value, or nothing where it does not know it ---- */

typedef void put_fn(const struct cuda_log *w, const struct row *row, char *text);

static void put_hex(const struct cuda_log *w, uint64_t ns, char *text)
{
	const uint64_t wall_ns = ns + (uint64_t)w->wall_offset_ns;

	snprintf(text, VALUE_MAX, "%" PRIx64, wall_ns);
}

static void put_us(uint64_t ns, char *text)
{
	snprintf(text, VALUE_MAX, "%llu.%03u", (unsigned long long)(ns / 1000),
		 (unsigned int)(ns % 1000));
}

static void put_begin(const struct cuda_log *w, const struct row *row, char *text)
{
	put_hex(w, row->ev->ts_ns, text);
}

static void put_end(const struct cuda_log *w, const struct row *row, char *text)
{
	put_hex(w, row->ev->ts_ns + row->ev->dur_ns, text);
}

static void put_timestamp(const struct cuda_log *w, const struct row *row, char *text)
{
	put_us(row->ev->ts_ns > w->begin_ns ? row->ev->ts_ns - w->begin_ns : 0, text);
}

static void put_gpu_time(const struct cuda_log *w, const struct row *row, char *text)
{
	put_us(row->ev->dur_ns, text);
}

static void put_cpu_time(const struct cuda_log *w, const struct row *row, char *text)
{
	if (row->span->launch)
		put_us(row->span->launch->cpu_ns, text);
}

#define PUT_KERNEL(what, ...)                                                                      \
	static void put_##what(const struct cuda_log *w, const struct row *row, char *text)        \
	{                                                                                          \
		struct event_kernel k;                                                             \
                                                                                                   \
		if (event__kernel(row->ev, category_of(row), &k))                                  \
			snprintf(text, VALUE_MAX, __VA_ARGS__);                                    \
	}

PUT_KERNEL(grid_2d, "%u,%u", k.grid[0], k.grid[1])
PUT_KERNEL(grid_3d, "%u,%u,%u", k.grid[0], k.grid[1], k.grid[2])
PUT_KERNEL(block, "%u,%u,%u", k.block[0], k.block[1], k.block[2])
PUT_KERNEL(dynamic_shared, "%u", k.dynamic_shared_bytes)
PUT_KERNEL(static_shared, "%u", k.static_shared_bytes)
PUT_KERNEL(registers, "%u", k.registers)

static void put_occupancy(const struct cuda_log *w, const struct row *row, char *text)
{
	struct event_kernel k;
	struct kernel_fill fill;

	if (event__kernel(row->ev, category_of(row), &k) &&
	    kernel_fill__of(device_infos__at(&w->rows->devices, row->track->device), &k, &fill))
		snprintf(text, VALUE_MAX, "%.3f", fill.occupancy);
}

static void put_stream(const struct cuda_log *w, const struct row *row, char *text)
{
	if (row->track->stream != STREAM_ALL)
		snprintf(text, VALUE_MAX, "%lld", (long long)row->track->stream);
}

static void put_nothing(const struct cuda_log *w, const struct row *row, char *text) {}

static void put_bytes(const struct cuda_log *w, const struct row *row, char *text)
{
	if (row->ev->value > 0)
		snprintf(text, VALUE_MAX, "%lld", (long long)row->ev->value);
}

/* "HtoD" for "Memcpy HtoD (Pinned -> Device)". Empty if the name has another form. */
static void copy_kind(const struct row *row, char kind[8])
{
	kind[0] = '\0';
	if (category_of(row) == CAT_MEMCPY)
		(void)!sscanf(row->name->text, "Memcpy %4[A-Za-z]", kind);
}

static bool is_host_copy(const struct row *row)
{
	char kind[8];

	copy_kind(row, kind);
	return !strcmp(kind, "HtoD") || !strcmp(kind, "DtoH");
}

static void put_direction(const struct cuda_log *w, const struct row *row, char *text)
{
	char kind[8];

	copy_kind(row, kind);
	if (is_host_copy(row))
		snprintf(text, VALUE_MAX, "%d", kind[0] == 'D');
}

static void put_host_memory(const struct cuda_log *w, const struct row *row, char *text)
{
	if (strstr(row->name->text, "Pageable"))
		strcpy(text, "0");
	else if (strstr(row->name->text, "Pinned"))
		strcpy(text, "1");
}

static bool is_any(const struct row *row)
{
	return true;
}

static bool is_kernel(const struct row *row)
{
	return category_of(row) == CAT_KERNEL;
}

static bool is_copy(const struct row *row)
{
	return category_of(row) == CAT_MEMCPY;
}

/* key: in pairs. heads: titles, one per part of the value. */
static const struct log_column {
	const char *key, *heads;
	bool (*applies)(const struct row *row);
	put_fn *put; /* NULL: the method, which may be of any length */
} log_columns[LOG_COLUMN_CNT] = {
	[LOG_BEGIN] = {"gpustarttimestamp", "gpustarttimestamp", is_any, put_begin},
	[LOG_END] = {"gpuendtimestamp", "gpuendtimestamp", is_any, put_end},
	[LOG_TIMESTAMP] = {"timestamp", "timestamp", is_any, put_timestamp},
	[LOG_METHOD] = {"method", "method", is_any, NULL},
	[LOG_GPU_TIME] = {"gputime", "gputime", is_any, put_gpu_time},
	[LOG_CPU_TIME] = {"cputime", "cputime", is_any, put_cpu_time},
	[LOG_GRID_2D] = {"gridsize", "gridsizeX,gridsizeY", is_kernel, put_grid_2d},
	[LOG_GRID_3D] = {"gridsize", "gridsizeX,gridsizeY,gridsizeZ", is_kernel, put_grid_3d},
	[LOG_BLOCK] = {"threadblocksize", "threadblocksizeX,threadblocksizeY,threadblocksizeZ",
		       is_kernel, put_block},
	[LOG_DYNAMIC_SHARED] = {"dynsmemperblock", "dynsmemperblock", is_kernel,
				put_dynamic_shared},
	[LOG_STATIC_SHARED] = {"stasmemperblock", "stasmemperblock", is_kernel, put_static_shared},
	[LOG_REGISTERS] = {"regperthread", "regperthread", is_kernel, put_registers},
	[LOG_OCCUPANCY] = {"occupancy", "occupancy", is_kernel, put_occupancy},
	[LOG_STREAM] = {"streamid", "streamid", is_any, put_stream},
	[LOG_CACHE_EXECUTED] = {"cacheconfigexecuted", "cacheconfigexecuted", is_kernel,
				put_nothing},
	[LOG_CACHE_REQUESTED] = {"cacheconfigrequested", "cacheconfigrequested", is_kernel,
				 put_nothing},
	[LOG_COPY_BYTES] = {"memtransfersize", "memtransfersize", is_copy, put_bytes},
	[LOG_COPY_DIRECTION] = {"memtransferdir", "memtransferdir", is_host_copy, put_direction},
	[LOG_COPY_HOST_MEMORY] = {"memtransferhostmemtype", "memtransferhostmemtype", is_host_copy,
				  put_host_memory},
};

/* ---- methods ---- */

/* The recording's name, or the profiler's: memcpyHtoD, memcpyHtoDasync, memset. */
static const char *method_of(const struct cuda_log *w, const struct row *row, char text[32])
{
	const struct span *launch = row->span->launch;
	char kind[8];

	copy_kind(row, kind);
	if (*kind) {
		const bool async = launch && strstr(span__name(w->rows->r, launch), "Async");

		snprintf(text, 32, "memcpy%s%s", kind, async ? "async" : "");
		return text;
	}
	return category_of(row) == CAT_MEMSET ? "memset" : span__name(w->rows->r, row->span);
}

/* ---- rows ---- */

static void put_empty(struct text_file *out, const char *heads)
{
	for (; *heads; heads++)
		if (*heads == ',')
			text_file__put(out, ",", 1);
}

static void put_pair(struct text_file *out, const char *key, const char *value)
{
	text_file__print(out, "%s=[ ", key);
	for (; *value; value++)
		text_file__put(out, *value == ',' ? ", " : value, *value == ',' ? 2 : 1);
	text_file__put(out, " ] ", 3);
}

static void put_method(struct cuda_log *w, const struct row *row)
{
	char text[32];
	const char *method = method_of(w, row, text);

	if (w->config.mode == LOG_CSV) {
		csv_cell__write(method, w->raw_csv, text_file__put_on_line, w->out);
		return;
	}
	text_file__put(w->out, "method=[ ", 9);
	text_file__put_on_line(w->out, method, strlen(method));
	text_file__put(w->out, " ] ", 3);
}

static void put_field(struct cuda_log *w, const struct row *row, enum cuda_log_column i)
{
	const struct log_column *c = &log_columns[i];
	char text[VALUE_MAX] = "";

	if (c->applies(row)) {
		c->put(w, row, text);
		w->missing[i] += !*text;
	}
	if (*text && w->config.mode == LOG_KVP)
		put_pair(w->out, c->key, text);
	else if (*text)
		text_file__put(w->out, text, strlen(text));
	else if (w->config.mode == LOG_CSV)
		put_empty(w->out, c->heads);
}

static bool is_work(uint8_t category)
{
	return category == CAT_KERNEL || category == CAT_MEMCPY || category == CAT_MEMSET;
}

static int put_row(const struct row *row, void *ctx)
{
	struct cuda_log *w = ctx;
	bool any = false;

	if (row->ev->type != EVENT_DEVICE || !is_work(category_of(row)) ||
	    row->track->device != w->config.device)
		return 0;
	for (enum cuda_log_column i = 0; i < LOG_COLUMN_CNT; i++) {
		if (!(w->config.columns & 1u << i))
			continue;
		if (any && w->config.mode == LOG_CSV)
			text_file__put(w->out, ",", 1);
		any = true;
		if (log_columns[i].put)
			put_field(w, row, i);
		else
			put_method(w, row);
	}
	text_file__put(w->out, "\n", 1);
	w->cnt++;
	return text_file__error(w->out);
}

static void put_head(struct cuda_log *w)
{
	const struct device_info *d = device_infos__at(&w->rows->devices, w->config.device);
	bool any = false;

	const char *name = d ? d->name : "unknown";

	text_file__print(w->out, "# CUDA_PROFILE_LOG_VERSION 2.0\n# CUDA_DEVICE %d ",
			 w->config.device);
	text_file__put_on_line(w->out, name, strlen(name));
	text_file__put(w->out, "\n", 1);
	for (size_t i = 0; i < w->context_cnt; i++)
		text_file__print(w->out, "# CUDA_CONTEXT %u\n", w->contexts[i]);
	if (w->config.mode == LOG_CSV)
		text_file__print(w->out, "# CUDA_PROFILE_CSV 1\n");
	for (size_t i = 0; i < LOG_COLUMN_CNT; i++) {
		if (!(w->config.columns & 1u << i))
			continue;
		text_file__print(w->out, "%s%s", any ? "," : "", log_columns[i].heads);
		any = true;
	}
	text_file__put(w->out, "\n", 1);
}

/* ---- what the head needs, by a pass of its own ---- */

static void note_context(struct cuda_log *w, const struct event *e, uint8_t category)
{
	struct event_kernel k;

	if (!event__kernel(e, category, &k))
		return;
	for (size_t i = 0; i < w->context_cnt; i++)
		if (w->contexts[i] == k.context)
			return;
	if (w->context_cnt < CONTEXTS_MAX)
		w->contexts[w->context_cnt++] = k.context;
}

static void note_event(struct cuda_log *w, const struct recording *r, const struct event *e)
{
	const struct name *n = recording__name(r, e->name);
	const struct track *t = recording__track(r, e->track);

	if (e->ts_ns < w->begin_ns)
		w->begin_ns = e->ts_ns;
	if (e->type != EVENT_DEVICE || !n || !t || !is_work(n->category) || t->device < 0)
		return;
	if (t->device < DEVICES_MAX)
		w->devices |= 1ull << t->device;
	if (w->config.device < 0 || w->config.device == t->device)
		note_context(w, e, n->category);
}

static int scan(struct cuda_log *w, const struct recording *r)
{
	struct recording_cursor *c;
	struct event e;
	int err = recording_cursor__open(r, &c);

	if (err)
		return err;
	w->begin_ns = UINT64_MAX;
	while ((err = recording_cursor__next(c, &e)) > 0)
		if (!event__is_from_before(&e))
			note_event(w, r, &e);
	recording_cursor__close(c);
	return err;
}

/* Chooses the device of the log. */
static int choose_device(struct cuda_log *w)
{
	char found[8 * DEVICES_MAX] = "";
	size_t len = 0;

	for (int i = 0; i < DEVICES_MAX; i++)
		if (w->devices >> i & 1)
			len += (size_t)snprintf(found + len, sizeof(found) - len, "%s%d",
						len ? ", " : "", i);
	if (w->config.device >= 0)
		return w->config.device < DEVICES_MAX && w->devices >> w->config.device & 1
			       ? 0
			       : err__set(-EINVAL, MESSAGE_CUDA_LOG_DEVICE_IDLE, w->config.device,
					  *found ? found : "none");
	if (w->devices & (w->devices - 1))
		return err__set(-EINVAL, MESSAGE_CUDA_LOG_DEVICE_AMBIGUOUS, found);
	w->config.device = w->devices ? __builtin_ctzll(w->devices) : 0;
	return 0;
}

/* ---- the export ---- */

static int choose_mode(const struct export_opts *opts, struct cuda_log_config *config)
{
	enum cuda_log_mode mode = LOG_KVP;

	if (opts->dialect && !strcmp(opts->dialect, "csv"))
		mode = LOG_CSV;
	else if (opts->dialect && strcmp(opts->dialect, "kvp"))
		return err__set(-EINVAL, MESSAGE_CUDA_PROFILER_DIALECT_UNKNOWN, opts->dialect);
	if (opts->dialect && config->mode && config->mode != mode)
		return err__set(-EINVAL, MESSAGE_DIALECT_CONTRADICTS_CONFIG, opts->dialect);
	if (opts->dialect || !config->mode)
		config->mode = mode;
	return 0;
}

/* Reports it on stderr, because the log has no place for it. */
static void say_missing(const struct cuda_log *w)
{
	char text[1024] = "";
	size_t len = 0;

	for (size_t i = 0; i < LOG_COLUMN_CNT; i++)
		if (w->config.columns & 1u << i && w->missing[i])
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s of %s",
						len ? ", " : "", log_columns[i].key,
						counted(w->missing[i], "row", "rows").s);
	if (len)
		log__warn(MESSAGE_COLUMNS_EMPTY, text);
	if (!w->cnt)
		log__warn(MESSAGE_CUDA_LOG_EMPTY);
}

static int cuda_profiler__write(struct cuda_log *w, int level, struct export_result *result)
{
	int err = text_file__open(result->path, level, &w->out);

	if (err)
		return err;
	put_head(w);
	err = rows__each(w->rows, put_row, w);
	result->events = w->cnt;
	err = text_file__end(w->out, err, &result->bytes);
	if (!err)
		say_missing(w);
	return err;
}

static int cuda_profiler__run(const struct recording *r, const struct export_opts *opts,
			      struct export_result *result)
{
	auto_free char *loss = facts__loss(r);
	struct cuda_log w = {.wall_offset_ns = facts__wall_offset_ns(r), .raw_csv = opts->raw_csv};
	int level, err = cuda_log_config__parse(opts->config, &w.config);

	*result = (struct export_result){0};
	if (!err)
		err = choose_mode(opts, &w.config);
	if (!err)
		err = output__choose(r, opts, w.config.mode == LOG_CSV ? ".cuda.csv" : ".cuda.log",
				     0, &level, result);
	if (!err)
		err = scan(&w, r);
	if (!err)
		err = choose_device(&w);
	if (!err)
		err = rows__open(r, &w.rows);
	if (!err)
		err = cuda_profiler__write(&w, level, result);
	rows__close(w.rows);
	if (!err && loss && *loss)
		log__warn(MESSAGE_CUDA_LOG_LOSS_LEFT_OUT, loss);
	return err;
}

const struct exporter exporter_cuda_profiler = {
	.name = "cuda-profiler",
	.summary = "log of CUDA's command line profiler: one line per kernel, copy and set",
	.dialects = "kvp (default: key=[ value ] pairs), or csv",
	.config = "its options: gpustarttimestamp, gridsize3d, streamid, memtransfersize, ...",
	.run = cuda_profiler__run,
};

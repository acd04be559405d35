// SPDX-License-Identifier: BSD-2-Clause
/*
 * Options of NVIDIA's Compute Command Line Profiler User Guide (DU-05982-001, table 2). Options
 * that control the profiler (when it begins, how counters are summed) have no effect on a
 * recording.
 */
#include "exporters/cuda_log_config.h"
#include <string.h>
#include <strings.h>
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/suggest.h"
#include "common/util.h"

#define DEFAULT_CONFIG                                                                             \
	"gpustarttimestamp,gpuendtimestamp,gridsize3d,threadblocksize,streamid,enableonstart 0,"   \
	"conckerneltrace"
#define ALWAYS	   (1u << LOG_METHOD | 1u << LOG_GPU_TIME | 1u << LOG_CPU_TIME | 1u << LOG_OCCUPANCY)
#define OPTION_MAX 64

struct log_option {
	const char *name;
	/* NULL: a column without a value */
	int (*set)(const char *value, struct cuda_log_config *config);
	enum cuda_log_column column;
};

static int set_switch(const char *value, struct cuda_log_config *config)
{
	return !strcmp(value, "0") || !strcmp(value, "1") ? 0 : -EINVAL;
}

static int set_optional_switch(const char *value, struct cuda_log_config *config)
{
	return *value ? set_switch(value, config) : 0;
}

static int set_mode(const char *value, struct cuda_log_config *config)
{
	if (!strcasecmp(value, "csv"))
		config->mode = LOG_CSV;
	else if (!strcasecmp(value, "kvp"))
		config->mode = LOG_KVP;
	else
		return -EINVAL;
	return 0;
}

static int set_device(const char *value, struct cuda_log_config *config)
{
	const size_t len = strlen(value);

	if (!len || len > 4 || strspn(value, "0123456789") != len)
		return -EINVAL;
	config->device = (int32_t)strtol(value, NULL, 10);
	return 0;
}

static const struct log_option options[] = {
	{"gpustarttimestamp", NULL, LOG_BEGIN},
	{"gpuendtimestamp", NULL, LOG_END},
	{"timestamp", NULL, LOG_TIMESTAMP},
	{"gridsize", NULL, LOG_GRID_2D},
	{"gridsize3d", NULL, LOG_GRID_3D},
	{"threadblocksize", NULL, LOG_BLOCK},
	{"dynsmemperblock", NULL, LOG_DYNAMIC_SHARED},
	{"stasmemperblock", NULL, LOG_STATIC_SHARED},
	{"regperthread", NULL, LOG_REGISTERS},
	{"memtransfersize", NULL, LOG_COPY_BYTES},
	{"memtransferdir", NULL, LOG_COPY_DIRECTION},
	{"memtransferhostmemtype", NULL, LOG_COPY_HOST_MEMORY},
	{"streamid", NULL, LOG_STREAM},
	{"cacheconfigrequested", NULL, LOG_CACHE_REQUESTED},
	{"cacheconfigexecuted", NULL, LOG_CACHE_EXECUTED},
	{"cudadevice", set_device, 0},
	{"profilelogformat", set_mode, 0},
	{"countermodeaggregate", set_optional_switch, 0},
	{"conckerneltrace", set_optional_switch, 0},
	{"enableonstart", set_switch, 0},
};

static int unknown(const char *name)
{
	struct suggestion near = {.word = name, .len = strlen(name)};
	char known[512] = "";
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		suggest__offer(&near, options[i].name);
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "",
					options[i].name);
	}
	if (near.best)
		return err__set(-EINVAL, MESSAGE_CUDA_LOG_OPTION_UNKNOWN_SUGGESTED, name, near.best,
				known);
	return err__set(-EINVAL, MESSAGE_CUDA_LOG_OPTION_UNKNOWN, name, known);
}

static int wrong_value(const struct log_option *o, const char *value)
{
	const char *wanted = o->set == set_device ? "the number of a device"
			     : o->set == set_mode ? "CSV or KVP"
						  : "0 or 1";

	if (!o->set)
		return err__set(-EINVAL, MESSAGE_CUDA_LOG_OPTION_TAKES_NO_VALUE, o->name, value);
	if (*value)
		return err__set(-EINVAL, MESSAGE_CUDA_LOG_OPTION_VALUE_INVALID, o->name, wanted,
				value);
	return err__set(-EINVAL, MESSAGE_CUDA_LOG_OPTION_NEEDS_VALUE, o->name, wanted);
}

/* One option, NUL-terminated, without blanks around it. */
static int take_option(char *text, struct cuda_log_config *config)
{
	char *value = text + strcspn(text, " \t");

	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct log_option *o = &options[i];

		if (strcasecmp(o->name, text) != 0)
			continue;
		if (o->set ? o->set(value, config) : *value)
			return wrong_value(o, value);
		if (!o->set)
			config->columns |= 1u << o->column;
		return 0;
	}
	return unknown(text);
}

int cuda_log_config__parse(const char *text, struct cuda_log_config *out)
{
	int err = 0;

	*out = (struct cuda_log_config){.columns = ALWAYS, .device = -1};
	for (const char *p = text ? text : DEFAULT_CONFIG; *p && !err;) {
		char option[OPTION_MAX];
		size_t len;

		p += strspn(p, " \t\r\n,");
		len = strcspn(p, *p == '#' ? "\n" : ",\r\n");
		if (*p && *p != '#') {
			size_t used = len;

			while (p[used - 1] == ' ' || p[used - 1] == '\t')
				used--;
			snprintf(option, sizeof(option), "%.*s", (int)used, p);
			err = take_option(option, out);
		}
		p += len;
	}
	/* The option with three dimensions includes that with two. */
	if (out->columns & 1u << LOG_GRID_3D)
		out->columns &= ~(1u << LOG_GRID_2D);
	return err;
}

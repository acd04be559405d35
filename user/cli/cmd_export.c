// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <string.h>
#include "analysis/job/host_clocks.h"
#include "cli/cli.h"
#include "cli/owner.h"
#include "cli/place.h"
#include "cli/raw_csv.h"
#include "cli/trace_readers.h"
#include "common/bytes_text.h"
#include "common/counted.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "exporters/exporter.h"
#include "privilege/output_process.h"
#include "recording/recording.h"

struct export_cmd {
	const struct exporter *exporter;
	const char *output, *dialect, *clock_of;
	char *config; /* options of --config and --config-file, one per line */
	uint64_t gzip_level, limit_bytes;
	bool list, raw_csv;
};
#define GZIP_LEVEL_UNSET UINT64_MAX

static int unknown_format(const char *name)
{
	char known[256] = "";
	size_t len = 0;

	for (const struct exporter *const *e = exporters__all(); *e && len < sizeof(known); e++)
		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "",
					(*e)->name);
	return err__set(-EINVAL, MESSAGE_EXPORT_FORMAT_UNKNOWN, name, known);
}

static int parse_format(const char *value, void *dest)
{
	const struct exporter *exporter = exporter__find(value);

	*(const struct exporter **)dest = exporter;
	return exporter ? 0 : unknown_format(value);
}

static const char *format_name(size_t index)
{
	const struct exporter *const *all = exporters__all();
	size_t cnt = 0;

	while (all[cnt])
		cnt++;
	return index < cnt ? all[index]->name : NULL;
}

/* Each value is added to earlier ones. */
static int parse_config(const char *value, void *dest)
{
	char **config = dest, *joined;

	if (asprintf(&joined, "%s%s\n", *config ? *config : "", value) < 0)
		return -ENOMEM;
	free(*config);
	*config = joined;
	return 0;
}

static int parse_config_file(const char *value, void *dest)
{
	auto_free char *text = file__read(value, NULL);

	return text ? parse_config(text, dest)
		    : err__set(-errno, MESSAGE_EXPORT_CONFIG_UNREADABLE, value, strerror(errno));
}

static int list_formats(void)
{
	for (const struct exporter *const *e = exporters__all(); *e; e++) {
		printf("%-14s %s\n", (*e)->name, (*e)->summary);
		if ((*e)->dialects)
			printf("%-14s --dialect: %s\n", "", (*e)->dialects);
		if ((*e)->config)
			printf("%-14s --config: %s\n", "", (*e)->config);
	}
	return 0;
}

static const struct opt export_options[] = {
	{OPT_CUSTOM, "format", 'f', "NAME",
	 "Format to write, one of those that --list-formats shows (default chrome).",
	 offsetof(struct export_cmd, exporter), .parse = parse_format, .word = format_name},
	{OPT_STRING, "output", 'o', "PATH",
	 "File or directory to write to. A name that ends in / makes a directory; - is standard "
	 "output (default HOST_PID and the format's extension, in this directory).",
	 offsetof(struct export_cmd, output), .file_arg = true},
	OWNER_OPT,
	{OPT_STRING, "dialect", 0, "NAME", "Variant of the format; --list-formats lists them.",
	 offsetof(struct export_cmd, dialect)},
	{OPT_CUSTOM, "config", 0, "OPTION,...",
	 "Options of the format itself, such as those of cuda-profiler. May be repeated.",
	 offsetof(struct export_cmd, config), .parse = parse_config},
	{OPT_CUSTOM, "config-file", 0, "FILE",
	 "Read these options from a file: one option per line, # begins a comment.",
	 offsetof(struct export_cmd, config), .parse = parse_config_file, .file_arg = true},
	{OPT_UINT, "gzip-level", 0, "N",
	 "From 0 (not compressed) to 9 (the smallest file). Default: as the name's extension says; "
	 "without a name, 1 for chrome and pprof.",
	 offsetof(struct export_cmd, gzip_level), .min = 0, .max = 9},
	{OPT_STRING, "clock-of", 0, "RECORDING",
	 "Correct the wall clock to that of this recording of another host, made of another rank "
	 "of "
	 "the job at the same time. The ends of collectives tell the offset.",
	 offsetof(struct export_cmd, clock_of), .file_arg = true},
	{OPT_UINT, "limit-size", 0, "BYTES",
	 "End a chrome trace before its uncompressed text exceeds this (500M, say; default: no "
	 "limit). The trace and a message then say which steps are whole.",
	 offsetof(struct export_cmd, limit_bytes), .min = 1u << 20, .unit = "bytes"},
	RAW_CSV_OPT(offsetof(struct export_cmd, raw_csv)),
	{OPT_FLAG, "list-formats", 0, NULL, "List the formats and exit.",
	 offsetof(struct export_cmd, list)},
	{OPT_END},
};

extern const struct command command_export;

static void warn_damage(const char *path, const struct recording *r)
{
	const struct recording_damage *d = recording__damage(r);

	if (d->truncated)
		log__warn(MESSAGE_EXPORT_RECORDING_CUT_OFF, path);
	if (d->bad_chunks)
		log__warn(MESSAGE_EXPORT_RECORDING_DAMAGED, path,
			  counted(d->bad_chunks, "damaged chunk", "damaged chunks").s,
			  counted(d->lost_events, "event", "events").s);
}

static void describe_clock(const char *path, const char *other, const struct clock_offset *o)
{
	if (!clock_offset__is_known(o)) {
		log__warn(MESSAGE_EXPORT_CLOCK_UNKNOWN, path, other);
		return;
	}
	if (!o->collectives) {
		log__info(MESSAGE_EXPORT_CLOCK_SAME, path, other);
		return;
	}
	log__info(MESSAGE_EXPORT_CLOCK_CORRECTED, path, (double)llabs(o->ns) / 1e6,
		  o->ns < 0 ? "behind" : "ahead of", other, (double)o->error_ns / 1e6,
		  counted(o->collectives, "collective", "collectives").s);
	if (o->result != OFFSET_KNOWN)
		log__warn(MESSAGE_EXPORT_CLOCK_OF_ALIKE_STEPS, path);
}

static int correct_clock(const char *path, struct recording *r, const char *other_path)
{
	struct recording *other;
	struct clock_offset o;
	int err = recording__open(other_path, &other);

	if (err)
		return err;
	err = host_clocks__compare(other, r, &o);
	recording__close(other);
	if (err)
		return err;
	describe_clock(path, other_path, &o);
	if (clock_offset__is_known(&o))
		recording__correct_clock(r, o.ns);
	return 0;
}

static int export_file(const char *path, const struct exporter *exporter,
		       const struct export_opts *opts, const char *clock_of)
{
	struct export_result result;
	struct recording *r;
	int err = recording__open(path, &r);

	if (err)
		return err;
	warn_damage(path, r);
	if (clock_of)
		err = correct_clock(path, r, clock_of);
	if (!err)
		err = exporter->run(r, opts, &result);
	recording__close(r);
	if (!err && strcmp(result.path, "-") != 0)
		log__info(MESSAGE_EXPORT_WRITTEN, result.path,
			  counted(result.events, "event", "events").s, bytes_text(result.bytes).s);
	if (!err)
		trace_readers__describe(path, opts->dialect, &result);
	return err;
}

struct export_run {
	const char *path;
	const struct exporter *exporter;
	struct export_opts *opts;
	const char *clock_of; /* NULL: the recording's own clock */
};

static int make_output(void *ctx)
{
	const struct export_run *run = ctx;
	int err = export_file(run->path, run->exporter, run->opts, run->clock_of);

	return cli__finish(err ? cli__fail(err) : 0);
}

static int in_process_without_rights(struct export_run *run)
{
	auto_free char *output = NULL;
	struct file_places places = {0};
	int err = place__mark_directory(run->opts->output, &output), status;

	run->opts->output = output;
	if (!err)
		err = file_places__add_read(&places, run->path);
	if (!err && run->clock_of)
		err = file_places__add_read(&places, run->clock_of);
	if (!err)
		err = file_places__add_write(&places, output ? output : "./", false);
	status = err ? cli__fail(err) : output_process__run(make_output, run, &places);
	file_places__free(&places);
	return status;
}

static int check_output(const char *path, const char *output)
{
	return output && file__is_same(path, output)
		       ? err__set(-EINVAL, MESSAGE_EXPORT_IS_RECORDING, output)
		       : 0;
}

/* Checks options that only some formats have. */
static int check_format(const struct export_cmd *cmd)
{
	if (cmd->config && !cmd->exporter->config)
		return err__set(-EINVAL, MESSAGE_EXPORT_CONFIG_WITHOUT_EFFECT, cmd->exporter->name);
	if (cmd->exporter->binary && cmd->output && !strcmp(cmd->output, "-") &&
	    isatty(STDOUT_FILENO))
		return err__set(-EINVAL, MESSAGE_EXPORT_TO_TERMINAL, cmd->exporter->name);
	if (cmd->limit_bytes && !cmd->exporter->limits)
		return err__set(-EINVAL, MESSAGE_EXPORT_NOT_LIMITED, cmd->exporter->name);
	return 0;
}

static int run(int argc, char **argv)
{
	struct export_cmd cmd = {.exporter = exporter__find("chrome"),
				 .gzip_level = GZIP_LEVEL_UNSET};
	struct export_opts opts;
	int rest, err, status;

	err = opts__parse(&command_export, argc, argv, &cmd, false, &rest);
	if (err)
		return cli__fail(err);
	if (cmd.list)
		return list_formats();
	if (argc - rest != 1)
		return cli__fail(err__set(-EINVAL, MESSAGE_EXPORT_RECORDING_MISSING));
	opts = (struct export_opts){
		.output = cmd.output,
		.dialect = cmd.dialect,
		.config = cmd.config,
		.limit_bytes = cmd.limit_bytes,
		.raw_csv = cmd.raw_csv,
		.gzip_level = cmd.gzip_level == GZIP_LEVEL_UNSET ? -1 : (int)cmd.gzip_level,
	};
	err = check_format(&cmd);
	if (!err)
		err = check_output(argv[rest], cmd.output);
	if (!err && cmd.clock_of)
		err = check_output(cmd.clock_of, cmd.output);
	status = err ? cli__fail(err)
		     : in_process_without_rights(
			       &(struct export_run){argv[rest], cmd.exporter, &opts, cmd.clock_of});
	free(cmd.config);
	return status;
}

const struct command command_export = {
	.name = "export",
	.usage = "[options] FILE",
	.summary = "Writes a recording as a trace for other tools.",
	.details = "The recording may be cut off or from another machine. Neither root nor the "
		   "profiled program is needed. The output appears under its name only when it is "
		   "whole.\n\n"
		   "Timelines (chrome, perfetto, speedscope) have times as measured. Sums by call "
		   "stack (folded, pprof) leave out the cost of the probes, like reports. Rows "
		   "(sqlite, csv, jsonl) have both. cuda-profiler has device times as measured.",
	.examples =
		"proftrace export run.ptrec  # HOST_PID.pt.trace.json.gz in this directory\n"
		"proftrace export run.ptrec -o traces/ --dialect tb  # for TensorBoard 0.4.3\n"
		"proftrace export run.ptrec -f folded -o - | flamegraph.pl > cpu.svg\n"
		"proftrace export run.ptrec -f pprof -o p.pb.gz && go tool pprof -http : p.pb.gz\n"
		"proftrace export run.ptrec -f sqlite -o run.sqlite  # doc/reference/formats.md "
		"has queries\n"
		"proftrace export run.ptrec -f cuda-profiler --dialect csv --config "
		"memtransfersize",
	.opts = export_options,
	.run = run,
};

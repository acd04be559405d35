// SPDX-License-Identifier: BSD-2-Clause
#include "cli/record_run.h"
#include "capture/device/device_library.h"
#include "cli/cli.h"
#include "cli/html_page.h"
#include "cli/next_try.h"
#include "cli/place.h"
#include "cli/record_begin.h"
#include "cli/signals.h"
#include "cli/trace_readers.h"
#include "cli/window_path.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "cli/message_table.h"
#include "common/util.h"
#include "device/shim_link.h"
#include "exporters/exporter.h"
#include "privilege/output_process.h"
#include "privilege/rights.h"
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int write_trace(const struct record_options *o, const struct recording *r,
		       const char *recording_path)
{
	const struct exporter *chrome = exporter__find("chrome");
	struct export_opts opts = {.limit_bytes = o->limit_bytes, .gzip_level = -1};
	struct export_result result;
	char path[PATH_MAX];
	int err;

	opts.output = window_path__of(r, o->trace, path, sizeof(path));
	if (o->trace && !opts.output)
		return -ENAMETOOLONG;
	err = chrome->run(r, &opts, &result);
	if (err)
		return err;
	log__info(MESSAGE_TRACE_WRITTEN, result.path);
	if (!o->capture.in_memory)
		trace_readers__describe(recording_path, NULL, &result);
	return 0;
}

static int print_report(struct record_options *o, const struct recording *r)
{
	struct report_opts report;
	int err, unwritten;

	if (o->no_report)
		return 0;
	err = report_out__open(&o->tables);
	if (err)
		return err;
	report = report_args__opts(&o->report, fileno(o->tables.file));
	err = report__print(r, &report, o->tables.file);
	unwritten = report_out__flush(&o->tables);
	return err ? err : unwritten;
}

static int show_recording(struct record_options *o, const char *path)
{
	struct recording *r;
	int err = recording__open(path, &r), trace_err, page_err;

	if (err) {
		cli__fail(err);
		return err;
	}
	err = print_report(o, r);
	if (!o->capture.in_memory)
		log__info(MESSAGE_RECORDING_WRITTEN, path);
	/* A reader that closed the pipe (`| head`) or a full disk must not prevent the other
	 * outputs. */
	if (err)
		cli__fail(err);
	trace_err = o->no_trace ? 0 : write_trace(o, r, path);
	if (trace_err)
		cli__fail(trace_err);
	page_err = html_page__write_live(o, r, path);
	if (page_err)
		cli__fail(page_err);
	recording__close(r);
	err = err ? err : trace_err;
	return err ? err : page_err;
}

/* Without a path of its own the trace goes to the recording's directory. */
static void place_trace(struct record_options *o, const char *recording_path)
{
	static char dir[PATH_MAX];
	char copy[PATH_MAX];

	if (o->trace || !o->capture.output)
		return;
	snprintf(copy, sizeof(copy), "%s", recording_path);
	snprintf(dir, sizeof(dir), "%s/", dirname(copy));
	if (strcmp(dir, "./") != 0)
		o->trace = dir;
}

struct record_outputs {
	struct record_options *o;
	const struct capture_result *res;
};

static int make_outputs(void *ctx)
{
	const struct record_outputs *outputs = ctx;
	const struct capture_result *res = outputs->res;
	int err = 0;

	for (size_t i = 0; i < res->path_cnt && !err; i++)
		err = show_recording(outputs->o, res->paths[i]);
	if (!err && res->path_cnt && !outputs->o->html && !outputs->o->capture.in_memory)
		log__info(MESSAGE_PAGE_OFFERED, res->paths[res->path_cnt - 1]);
	report_out__close(&outputs->o->tables);
	return cli__finish(err ? 1 : 0);
}

static int find_places(const struct record_outputs *outputs, struct file_places *places)
{
	const struct record_options *o = outputs->o;
	const struct capture_result *res = outputs->res;
	int err = 0;

	for (size_t i = 0; i < res->path_cnt && !err; i++)
		err = o->capture.in_memory
			      ? file_places__add_held(places, res->paths[i], res->memory[i])
			      : file_places__add_read(places, res->paths[i]);
	if (!err && !o->no_report)
		err = file_places__add_write(places, o->tables.path, false);
	if (!err && !o->no_trace)
		err = file_places__add_write(places, o->trace ? o->trace : "./", true);
	return err ? err : file_places__add_write(places, o->html, true);
}

/* Nothing is made of the recordings, so they are not read. A monitor may have removed some
 * already. */
static bool is_recording_alone(const struct record_options *o)
{
	return o->no_report && o->no_trace && !o->html;
}

static int name_recordings(const struct capture_result *res)
{
	for (size_t i = 0; i < res->path_cnt; i++)
		log__info(MESSAGE_RECORDING_WRITTEN, res->paths[i]);
	return 0;
}

/* Makes tables, traces and pages of all recordings. */
static int show_recordings(struct record_options *o, const struct capture_result *res)
{
	struct record_outputs outputs = {o, res};
	const char *trace = o->trace, *html = o->html;
	auto_free char *marked_trace = NULL, *marked_html = NULL;
	struct file_places places = {0};
	int err, status = 1;

	place_trace(o, res->paths[0]);
	err = place__mark_directory(o->trace, &marked_trace);
	if (!err)
		err = place__mark_directory(o->html, &marked_html);
	o->trace = marked_trace;
	o->html = marked_html;
	if (!err)
		err = find_places(&outputs, &places);
	if (err)
		cli__fail(err);
	else
		status = output_process__run(make_outputs, &outputs, &places);
	file_places__free(&places);
	o->trace = trace;
	o->html = html;
	return status;
}

static void warn_target_gone(const struct record_options *o, const struct capture_result *res)
{
	const char *what =
		res->target_execed ? "the target replaced its program (exec)" : "the target ended";

	if (o->capture.no_steps && !o->capture.duration_ns && !res->target_execed)
		log__info(MESSAGE_TARGET_ENDED);
	else if (o->capture.paused && !res->target_execed)
		log__info(MESSAGE_TARGET_ENDED_AT, what,
			  res->seen); /* no length of the window was asked for */
	else if (o->range.schedule.repeat > 1)
		log__warn(MESSAGE_TARGET_ENDED_BEFORE_LAST_WINDOW, what, res->seen, res->path_cnt,
			  (unsigned long long)o->range.schedule.repeat);
	else
		log__warn(MESSAGE_TARGET_ENDED_IN_WINDOW, what, res->seen);
}

int record_run(struct record_options *o)
{
	struct capture_result res;
	struct successor place;
	int err, show_err = 0;

	o->capture.stop = &signals_stop;
	o->capture.detail = o->detail;
	o->capture.method = o->method;
	o->capture.has_schedule = o->range.set;
	o->capture.schedule = o->range.schedule;
	o->capture.progress =
		!o->no_progress && log_level && !log__is_json() && isatty(STDERR_FILENO);
	err = record_begin(o, false); /* cmd_record has already called it */
	if (err) {
		shim_link__free(o->capture.shim);
		return cli__fail(err);
	}
	successor__prepare(&place, o->capture.pid);
	signals__catch(true);
	err = capture__run(&o->capture, &res);
	if (!err && signals_stop.asked > 1) {
		res.aborted = true;
		err = res.path_cnt && !o->capture.in_memory
			      ? err__set(-EINTR, MESSAGE_RECORDING_ABORTED,
					 res.paths[res.path_cnt - 1])
			      : err__set(-EINTR, MESSAGE_ABORTED);
	}
	signals__catch(false);
	rights__enter(RIGHTS_END, false);
	/* If the capture did not take the frozen program over, that is thawed later, by tracing it.
	 */
	if (!o->capture.frozen || !*o->capture.frozen)
		device_library__give_up_loading();
	if (err)
		cli__fail(err);
	for (size_t i = 0; o->paths_fd && i < res.path_cnt && !res.aborted; i++)
		dprintf(o->paths_fd, "%s\n", res.paths[i]);
	show_err = report_out__spare(&o->tables, res.paths, res.path_cnt);
	if (show_err)
		cli__fail(show_err);
	if (res.path_cnt && !res.aborted && !show_err)
		show_err = is_recording_alone(o) ? name_recordings(&res) : show_recordings(o, &res);
	if (!err && res.target_gone)
		warn_target_gone(o, &res);
	/* With several ranks, the process that started their captures reports all of them. */
	if ((err || res.target_gone) && !res.aborted && !o->capture.rendezvous)
		next_try__describe(&place, 1);
	successor__free(&place);
	signals__catch(true);
	capture_result__free(&res);
	return err || show_err ? 1 : 0;
}

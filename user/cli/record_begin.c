// SPDX-License-Identifier: BSD-2-Clause
#include "cli/record_begin.h"
#include "attach/attach.h"
#include "capture/control/control_socket.h"
#include "cli/record_checks.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "device/shim_link.h"
#include "inject/filter_reader.h"
#include "privilege/core_dumps.h"
#include "privilege/file_process.h"
#include "privilege/rights.h"
#include "privilege/session_filter.h"
#include <errno.h>
#include <string.h>

static const struct file_session session = {
	.listen = control_socket__make,
	.sweep = control_socket__sweep,
};

/* Lists recordings, tables, traces and pages. A trace without a path of its own goes to the
 * recording's directory. */
static int find_places(const struct record_options *o, struct file_places *places)
{
	int err =
		file_places__add_write(places, o->capture.output ? o->capture.output : "./", true);

	places->session = &session;
	places->temporary = o->capture.shim ? shim_link__path(o->capture.shim) : NULL;
	if (!err && !o->no_report)
		err = file_places__add_write(places, o->tables.path, false);
	if (!err && !o->no_trace)
		err = file_places__add_write(places, o->trace, true);
	return err ? err : file_places__add_write(places, o->html, true);
}

static int start_files(const struct record_options *o)
{
	struct file_places places = {0};
	int err = find_places(o, &places);

	if (!err)
		err = file_process__start(&places);
	file_places__free(&places);
	return err;
}

/* Tracing loads our library, or freezes a program that is recorded from its begin. */
static bool may_trace(const struct capture_opts *o)
{
	return !o->no_inject || (o->await_framework && o->no_steps);
}

static void give_up_writing(bool may_trace)
{
	int err = session_filter__enter(may_trace);

	if (err)
		log__info(MESSAGE_READER_KEEPS_RIGHTS, strerror(-err));
}

int record_begin(const struct record_options *o, bool is_filtered)
{
	static bool has_begun;
	int err;

	if (has_begun)
		return 0;
	err = record_checks__before(o);
	core_dumps__forbid();
	if (!err)
		err = start_files(o);
	if (err)
		return err;
	has_begun = true;
	attach__prepare(o->method);
	rights__enter(RIGHTS_ATTACH, true);
	if (is_filtered && !o->capture.no_inject)
		err = filter_reader__start();
	if (!err)
		give_up_writing(may_trace(&o->capture));
	return err;
}

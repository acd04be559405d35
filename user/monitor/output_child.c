// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/output_child.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/message_table.h"
#include "common/util.h"

#define RUN_NS	     60000000000ull
#define MEMORY_BYTES (1ul << 30) /* limit, whatever a recording expands to */

static void on_end(void *ctx)
{
	struct output_child *o = ctx;
	const int out = o->out;
	int status;

	event_loop__remove(o->loop, &o->ended);
	status = child__wait(&o->child);
	o->done(o->ctx, WIFEXITED(status) && !WEXITSTATUS(status) ? out : -1);
	close(out);
}

static int start(struct output_child *o, char *const argv[], size_t bytes_max)
{
	const struct child_limits limits = {.file_bytes = bytes_max,
					    .data_bytes = MEMORY_BYTES,
					    .death_signal = SIGKILL,
					    .out = o->out};
	int err = child__start(argv, &limits, &o->child);

	if (err)
		return err;
	o->deadline_ns = clock__monotonic_ns() + RUN_NS;
	err = event_loop__add(o->loop, &o->ended, o->child.pidfd, on_end, o);
	if (!err)
		return 0;
	kill(o->child.pid, SIGKILL);
	child__wait(&o->child);
	return err__set(err, MESSAGE_PROCESS_NOT_AWAITED, strerror(-err));
}

int output_child__start(struct output_child *o, char *const argv[], size_t bytes_max)
{
	int err;

	o->out = memfd_create(argv[1], MFD_CLOEXEC);
	if (o->out < 0)
		return err__set(-errno, MESSAGE_MEMORY_FILE_NOT_MADE, strerror(errno));
	err = start(o, argv, bytes_max);
	if (err)
		close(o->out);
	return err;
}

uint64_t output_child__due(const struct output_child *o)
{
	return o->child.pid ? o->deadline_ns : UINT64_MAX;
}

void output_child__tick(struct output_child *o, uint64_t now_ns)
{
	/* The pidfd reports its end. */
	if (o->child.pid && now_ns >= o->deadline_ns) {
		kill(o->child.pid, SIGKILL);
		o->deadline_ns = UINT64_MAX;
	}
}

void output_child__stop(struct output_child *o)
{
	if (!o->child.pid)
		return;
	kill(o->child.pid, SIGKILL);
	event_loop__remove(o->loop, &o->ended);
	child__wait(&o->child);
	close(o->out);
}

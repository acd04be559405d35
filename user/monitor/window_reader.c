// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/window_reader.h"
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "common/err.h"
#include "common/message_table.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/figures.h"

#define READ_NS	     60000000000ull
#define REPORT_BYTES (1ul << 30) /* of memory, whatever the recording expands to */

static void begin_next(struct window_reader *r);

static void finish(struct window_reader *r, bool is_read)
{
	const struct window_ready window = r->queue[0];
	const int json = r->json;

	r->json = -1;
	r->cnt--;
	memmove(r->queue, r->queue + 1, r->cnt * sizeof(*r->queue));
	r->done(r->ctx, &window, is_read ? json : -1);
	if (json >= 0)
		close(json);
	begin_next(r);
}

static void on_end(void *ctx)
{
	struct window_reader *r = ctx;
	int status;

	event_loop__remove(r->loop, &r->ended);
	status = child__wait(&r->child);
	finish(r, WIFEXITED(status) && !WEXITSTATUS(status));
}

static int start(struct window_reader *r)
{
	char path[PATH_MAX],
		*messages = log__is_json() ? "json" : "text",
		*argv[] = {"proftrace", "report",	"--quiet",     "--format", "json",
			   "--table",	FIGURES_TABLES, "--row-limit", "2000",	   "--messages",
			   messages,	path,		NULL};
	const struct child_limits limits = {.file_bytes = WINDOW_JSON_MAX,
					    .data_bytes = REPORT_BYTES,
					    .death_signal = SIGKILL,
					    .out = r->json};
	int err;

	snprintf(path, sizeof(path), "%s/%s", r->directory, r->queue[0].file);
	err = child__start(argv, &limits, &r->child);
	if (err)
		return err;
	r->deadline_ns = clock__monotonic_ns() + READ_NS;
	err = event_loop__add(r->loop, &r->ended, r->child.pidfd, on_end, r);
	if (err) {
		kill(r->child.pid, SIGKILL);
		child__wait(&r->child);
	}
	return err;
}

static void begin_next(struct window_reader *r)
{
	int err;

	if (!r->cnt)
		return;
	r->json = memfd_create("report", MFD_CLOEXEC);
	err = r->json < 0 ? err__set(-errno, MESSAGE_MEMORY_FILE_NOT_MADE, strerror(errno))
			  : start(r);
	if (!err)
		return;
	log__warn(MESSAGE_WINDOW_NOT_READ, r->queue[0].file, err__take(err));
	finish(r, false);
}

bool window_reader__add(struct window_reader *r, const struct window_ready *window)
{
	if (r->cnt == READER_QUEUE)
		return false;
	r->queue[r->cnt++] = *window;
	if (r->cnt == 1)
		begin_next(r);
	return true;
}

bool window_reader__has(const struct window_reader *r, uint32_t id)
{
	for (size_t i = 0; i < r->cnt; i++)
		if (r->queue[i].id == id)
			return true;
	return false;
}

uint64_t window_reader__due(const struct window_reader *r)
{
	return r->child.pid ? r->deadline_ns : UINT64_MAX;
}

void window_reader__tick(struct window_reader *r, uint64_t now_ns)
{
	/* Its end is told by the pidfd. */
	if (r->child.pid && now_ns >= r->deadline_ns) {
		kill(r->child.pid, SIGKILL);
		r->deadline_ns = UINT64_MAX;
	}
}

void window_reader__stop(struct window_reader *r)
{
	if (!r->child.pid)
		return;
	kill(r->child.pid, SIGKILL);
	event_loop__remove(r->loop, &r->ended);
	child__wait(&r->child);
	close(r->json);
}

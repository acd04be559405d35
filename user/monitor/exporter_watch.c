// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/exporter_watch.h"
#include <errno.h>
#include <string.h>
#include "common/err.h"
#include "monitor/backoff.h"
#include "monitor/message_table.h"
#include "common/util.h"

#define ANSWER_NS 10000000000ull /* for each of two tries */

static int set_loss(enum exporter_loss lost)
{
	switch (lost) {
	case EXPORTER_IS_SLOW:
		return err__set(-EPIPE, MESSAGE_EXPORTER_SLOW);
	case EXPORTER_IS_SILENT:
		return err__set(-EPIPE, MESSAGE_EXPORTER_SILENT);
	case EXPORTER_DID_NOT_BEGIN:
		return err__set(-EPIPE, MESSAGE_EXPORTER_NOT_BEGUN);
	default:
		return err__set(-EPIPE, MESSAGE_EXPORTER_ENDED);
	}
}

static void lose(struct exporter_watch *e, enum exporter_loss why)
{
	const uint64_t now_ns = clock__monotonic_ns();

	if (e->lost)
		return;
	e->wait_ns = restart_wait__kept(e->wait_ns, now_ns - e->begin_ns);
	e->lost = why;
	e->due_ns = now_ns + e->wait_ns;
}

void exporter_watch__send(struct exporter_watch *e, const struct message *message, int fd)
{
	const int err = e->lost ? 0 : exporter__send(&e->exporter, message, fd);

	if (err)
		lose(e, err == -EAGAIN ? EXPORTER_IS_SLOW : EXPORTER_HAS_ENDED);
}

void exporter_watch__expect(struct exporter_watch *e)
{
	if (!e->lost && e->due_ns == UINT64_MAX)
		e->due_ns = clock__monotonic_ns() + ANSWER_NS;
}

/* Removes the socket from the loop, which closes it. */
static void leave(struct exporter_watch *e)
{
	if (e->answers.fd <= 0)
		return;
	event_loop__remove(e->opts.loop, &e->answers);
	e->exporter.fd = -1;
}

static void on_answers(void *ctx)
{
	struct exporter_watch *e = ctx;
	struct window_answer answer;
	auto_close int fd = -1;
	const int err = exporter__receive(&e->exporter, &answer, &fd);

	if (err == -EAGAIN)
		return;
	if (err) {
		leave(e);
		lose(e, EXPORTER_HAS_ENDED);
		return;
	}
	e->has_spoken = true;
	e->due_ns = UINT64_MAX;
	e->unanswered = 0;
	if (answer.id || answer.asked)
		e->opts.answered(e->opts.ctx, &answer, fd);
}

static int start(struct exporter_watch *e)
{
	int err = exporter__start(&e->opts.exporter, &e->exporter);

	if (err)
		return err;
	e->lost = EXPORTER_IS_THERE;
	e->begin_ns = clock__monotonic_ns();
	e->due_ns = UINT64_MAX;
	e->unanswered = 0;
	err = event_loop__add(e->opts.loop, &e->answers, e->exporter.fd, on_answers, e);
	if (!err)
		return 0;
	e->exporter.fd = -1; /* event_loop__add() closed it */
	return err__set(err, MESSAGE_EVENTS_NOT_AWAITED, strerror(-err));
}

int exporter_watch__start(struct exporter_watch *e, const struct exporter_watch_opts *opts)
{
	e->opts = *opts;
	return start(e);
}

static void renew(struct exporter_watch *e)
{
	int err;

	log__warn(MESSAGE_EXPORTER_RESTARTED, err__take(set_loss(e->lost)));
	leave(e);
	exporter__stop(&e->exporter);
	e->wait_ns = restart_wait__doubled(e->wait_ns);
	err = start(e);
	if (!err) {
		e->opts.renewed(e->opts.ctx);
		return;
	}
	log__warn(MESSAGE_EXPORTER_NOT_STARTED, err__take(err));
	e->lost = EXPORTER_DID_NOT_BEGIN;
	e->due_ns = clock__monotonic_ns() + e->wait_ns;
}

uint64_t exporter_watch__due(const struct exporter_watch *e)
{
	return e->due_ns;
}

int exporter_watch__tick(struct exporter_watch *e, uint64_t now_ns)
{
	if (now_ns < e->due_ns)
		return 0;
	if (e->lost && !e->has_spoken)
		return set_loss(e->lost);
	if (e->lost) {
		renew(e);
	} else if (e->unanswered++) {
		lose(e, EXPORTER_IS_SILENT);
	} else {
		/* Perhaps this process was the one that did not run. */
		e->due_ns = UINT64_MAX;
		e->opts.ask(e->opts.ctx);
	}
	return 0;
}

void exporter_watch__stop(struct exporter_watch *e)
{
	leave(e);
	exporter__stop(&e->exporter);
}

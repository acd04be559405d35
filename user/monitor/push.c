// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/push.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "common/descriptor_message.h"
#include "common/err.h"
#include "monitor/backoff.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/pusher.h"

#define RETRY_NS 60000000000ull /* delay if a new process cannot be started */

/* Removes the socket from the loop, which closes it. */
static void leave(struct push *p)
{
	event_loop__remove(p->loop, &p->answers);
	if (p->pid) {
		kill(p->pid, SIGKILL);
		UNINTERRUPTED(waitpid(p->pid, NULL, 0));
	}
	p->pid = 0;
	p->counts[PUSH_LOST] += p->waiting;
	p->waiting = 0;
}

static void lose(struct push *p)
{
	const uint64_t now_ns = clock__monotonic_ns();

	leave(p);
	p->wait_ns = restart_wait__doubled(restart_wait__kept(p->wait_ns, now_ns - p->begin_ns));
	p->due_ns = now_ns + p->wait_ns;
	log__warn(MESSAGE_PUSHER_ENDED, p->option, (unsigned long long)(p->wait_ns / 1000000000));
}

/* Logs once when a receiver begins to fail, and once when it works again. */
static void note_receiver(struct push *p, const struct push_answer *a)
{
	const bool is_failing = a->result == PUSH_REFUSED || a->result == PUSH_RETRIED;

	if (a->result == PUSH_DROPPED || is_failing == p->is_failing)
		return;
	p->is_failing = is_failing;
	if (!is_failing)
		log__info(MESSAGE_RECEIVER_TAKES_AGAIN, p->option);
	else if (a->result == PUSH_REFUSED)
		log__warn(MESSAGE_RECEIVER_REFUSES, p->option, a->why);
	else
		log__warn(MESSAGE_RECEIVER_NOT_REACHED, p->option, a->why, PUSH_QUEUE);
}

static void on_answer(void *ctx)
{
	struct push *p = ctx;
	struct push_answer answer;
	const ssize_t n = UNINTERRUPTED(recv(p->answers.fd, &answer, sizeof(answer), MSG_DONTWAIT));

	if (n < 0 && errno == EAGAIN)
		return;
	/* The process reads data of strangers, so its messages are checked. */
	if (n != sizeof(answer) || (unsigned int)answer.result >= PUSH_RESULT_CNT) {
		lose(p);
		return;
	}
	answer.why[sizeof(answer.why) - 1] = '\0';
	p->counts[answer.result]++;
	if (answer.result != PUSH_RETRIED && p->waiting)
		p->waiting--;
	note_receiver(p, &answer);
}

static int start(struct push *p)
{
	int fd, err;
	const pid_t pid = pusher__start(p->url, &fd);

	if (pid < 0)
		return pid;
	p->pid = pid;
	p->begin_ns = clock__monotonic_ns();
	p->due_ns = UINT64_MAX;
	err = event_loop__add(p->loop, &p->answers, fd, on_answer, p);
	if (!err)
		return 0;
	leave(p);
	return err__set(err, MESSAGE_EVENTS_NOT_AWAITED, strerror(-err));
}

int push__start(struct push *p, struct event_loop *loop, enum push_to to, const char *url,
		uint64_t *counts)
{
	*p = (struct push){.loop = loop,
			   .option = push_to_names[to],
			   .url = url,
			   .counts = counts,
			   .due_ns = UINT64_MAX};
	return url ? start(p) : 0;
}

void push__send(struct push *p, const struct push_item *item, int fd)
{
	if (!p->pid ||
	    descriptor_message__send(p->answers.fd, item, sizeof(*item), fd, MSG_DONTWAIT))
		p->counts[PUSH_LOST]++;
	else
		p->waiting++;
}

uint64_t push__due(const struct push *p)
{
	return p->url ? p->due_ns : UINT64_MAX;
}

void push__tick(struct push *p, uint64_t now_ns)
{
	int err;

	if (now_ns < push__due(p))
		return;
	err = start(p);
	if (!err)
		return;
	log__warn(MESSAGE_PUSH_NOT_BEGUN, p->option, err__take(err));
	p->due_ns = now_ns + RETRY_NS;
}

void push__stop(struct push *p)
{
	if (p->url)
		leave(p);
}

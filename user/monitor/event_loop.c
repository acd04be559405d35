// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/event_loop.h"
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include "common/util.h"

static void expired(void *ctx)
{
	const struct event_source *timer = ctx;
	uint64_t times;

	if (read(timer->fd, &times, sizeof(times)) < 0)
		return; /* the timer was set anew meanwhile */
}

int event_loop__open(struct event_loop *l)
{
	int fd;

	*l = (struct event_loop){.epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
	if (l->epoll_fd < 0)
		return -errno;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	return event_loop__add(l, &l->timer, fd, expired, &l->timer);
}

int event_loop__add(struct event_loop *l, struct event_source *s, int fd, void (*ready)(void *ctx),
		    void *ctx)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = s};

	*s = (struct event_source){fd, ready, ctx};
	if (!epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return 0;
	s->fd = 0;
	close(fd);
	return -errno;
}

void event_loop__remove(struct event_loop *l, struct event_source *s)
{
	if (s->fd <= 0)
		return;
	epoll_ctl(l->epoll_fd, EPOLL_CTL_DEL, s->fd, NULL);
	close(s->fd);
	s->fd = 0;
}

int event_loop__wait(struct event_loop *l, uint64_t until_ns)
{
	struct itimerspec when = {0};
	struct epoll_event event;
	int cnt;

	/* A time of zero would stop the timer. */
	if (until_ns != UINT64_MAX)
		when.it_value = clock__own_monotonic(until_ns ? until_ns : 1);
	timerfd_settime(l->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
	cnt = epoll_wait(l->epoll_fd, &event, 1, -1);
	if (cnt == 1) {
		struct event_source *s = event.data.ptr;

		s->ready(s->ctx);
	}
	return cnt < 0 && errno != EINTR ? -errno : 0;
}

void event_loop__close(struct event_loop *l)
{
	event_loop__remove(l, &l->timer);
	if (l->epoll_fd > 0)
		close(l->epoll_fd);
	l->epoll_fd = 0;
}

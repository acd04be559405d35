// SPDX-License-Identifier: BSD-2-Clause
#include "top/gatherer.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include "common/err.h"
#include "common/message_table.h"
#include "top/message_table.h"
#include "common/util.h"
#include "top/monitor_client.h"

struct gatherer {
	struct gather_opts opts;
	struct job_history history;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wanted; /* signals that a window or the end is wanted */
	int fd;
	/* Protected by the lock: */
	struct gathered newest;
	bool has_newest, has_answer, ends;
	int64_t record_pid; /* process of the wanted window; 0: none */
	bool is_asking;	    /* the request for that window is being sent */
	char answer[256];
};

/* ---- asking ---- */

static int ask(const struct gather_opts *o, const char *place, struct gathered *out)
{
	const struct monitor_request r = {place, "GET", "/jobs", NULL};
	struct monitor_answer a;
	int err = monitor_client__ask(&r, o->timeout_ms, &a);

	snprintf(out->place, sizeof(out->place), "%s", place);
	if (!err && a.status == 503)
		err = err__set(-EAGAIN, MESSAGE_MONITOR_NOT_READY, place);
	else if (!err && a.status != 200)
		err = err__set(-EBADMSG, MESSAGE_MONITOR_STATUS_UNEXPECTED, place, a.status);
	if (!err) {
		err = job_list__parse(a.body, a.len, &out->jobs);
		if (err)
			err__set(err, MESSAGE_MONITOR_ANSWER_INVALID, place,
				 err == -ENOMEM ? strerror(ENOMEM)
						: "the answer is no list of jobs: is it proftrace "
						  "monitor?");
	}
	monitor_answer__free(&a);
	return err;
}

/* No monitor is there, so the next place may have one. */
static bool is_absent(int err)
{
	return err == -ECONNREFUSED || err == -ENOENT;
}

int gather__once(const struct gather_opts *o, struct gathered *out)
{
	int err = -ENOENT;

	*out = (struct gathered){0};
	for (int i = 0; is_absent(err) && i < GATHER_PLACES && o->places[i]; i++) {
		err = ask(o, o->places[i], out);
		if (err)
			snprintf(out->problem, sizeof(out->problem), "%s", err__take(err));
	}
	if (is_absent(err)) {
		err__set(err, MESSAGE_MONITOR_TO_BE_STARTED, out->problem);
		snprintf(out->problem, sizeof(out->problem), "%s", err__take(err));
	}
	if (!err)
		out->problem[0] = '\0';
	out->at_ns = clock__ns(CLOCK_MONOTONIC);
	return err;
}

/* ---- the thread ---- */

static void publish(struct gatherer *g, struct gathered *news)
{
	struct job_list *unseen;

	pthread_mutex_lock(&g->lock);
	unseen = g->has_newest ? g->newest.jobs : NULL;
	/* Keeps an answer that was not taken yet, because it is better than none. */
	if (!news->jobs && unseen) {
		news->jobs = unseen;
		unseen = NULL;
	}
	g->newest = *news;
	g->has_newest = true;
	pthread_mutex_unlock(&g->lock);
	job_list__free(unseen);
	eventfd_write(g->fd, 1);
}

static void describe(const struct monitor_answer *a, char *to, size_t size)
{
	const size_t len = strcspn(a->body, "\r\n");

	if (a->status >= 200 && a->status < 300)
		snprintf(to, size, "The monitor answers: %.*s", len < 160 ? (int)len : 160,
			 a->body);
	else
		snprintf(to, size, "The monitor records no window on request: %d %.*s", a->status,
			 len < 160 ? (int)len : 160, a->body);
}

static void record(struct gatherer *g, const char *place, int64_t pid)
{
	char path[64], text[sizeof(g->answer)];
	const struct monitor_request r = {place, "POST", path, g->opts.token};
	struct monitor_answer a;
	int err;

	snprintf(path, sizeof(path), "/jobs/%lld/record", (long long)pid);
	err = monitor_client__ask(&r, g->opts.timeout_ms, &a);
	if (err)
		snprintf(text, sizeof(text), "%s", err__take(err));
	else
		describe(&a, text, sizeof(text));
	monitor_answer__free(&a);
	pthread_mutex_lock(&g->lock);
	memcpy(g->answer, text, sizeof(text));
	g->has_answer = true;
	g->is_asking = false;
	pthread_mutex_unlock(&g->lock);
	eventfd_write(g->fd, 1);
}

/* Waits until the time, or until a window is wanted. Returns its process, or 0. */
static int64_t wait_for_turn(struct gatherer *g, uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
				       .tv_nsec = (long)(until_ns % 1000000000)};
	int64_t pid;

	pthread_mutex_lock(&g->lock);
	while (!g->ends && !g->record_pid && clock__ns(CLOCK_MONOTONIC) < until_ns)
		pthread_cond_clockwait(&g->wanted, &g->lock, CLOCK_MONOTONIC, &until);
	pid = g->record_pid;
	g->record_pid = 0;
	pthread_mutex_unlock(&g->lock);
	return pid;
}

static bool ends(struct gatherer *g)
{
	bool does;

	pthread_mutex_lock(&g->lock);
	does = g->ends;
	pthread_mutex_unlock(&g->lock);
	return does;
}

static void *gather(void *ctx)
{
	struct gatherer *g = ctx;

	while (!ends(g)) {
		struct gathered news;
		int64_t pid;

		gather__once(&g->opts, &news);
		if (news.jobs && job_history__note(&g->history, news.jobs)) {
			job_list__free(news.jobs);
			news.jobs = NULL;
			snprintf(news.problem, sizeof(news.problem), "out of memory");
		}
		publish(g, &news);
		pid = wait_for_turn(g, news.at_ns + g->opts.interval_ns);
		if (pid)
			record(g, news.place, pid);
	}
	return NULL;
}

/* ---- who draws ---- */

int gatherer__start(const struct gather_opts *o, struct gatherer **out)
{
	struct gatherer *g = calloc(1, sizeof(*g));
	sigset_t all, before;
	int err;

	if (!g)
		return -ENOMEM;
	g->opts = *o;
	pthread_mutex_init(&g->lock, NULL);
	pthread_cond_init(&g->wanted, NULL);
	g->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (g->fd < 0) {
		err = -errno;
		free(g);
		return err;
	}
	/* Signals are handled by the thread that draws. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&g->thread, NULL, gather, g);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		close(g->fd);
		free(g);
		return err__set(-err, MESSAGE_THREAD_NOT_STARTED, strerror(err));
	}
	pthread_detach(g->thread);
	*out = g;
	return 0;
}

int gatherer__fd(const struct gatherer *g)
{
	return g->fd;
}

bool gatherer__take(struct gatherer *g, struct gathered *out)
{
	eventfd_t cnt;
	bool has;

	eventfd_read(g->fd, &cnt);
	pthread_mutex_lock(&g->lock);
	has = g->has_newest;
	*out = g->newest;
	g->newest = (struct gathered){0};
	g->has_newest = false;
	pthread_mutex_unlock(&g->lock);
	return has;
}

bool gatherer__record(struct gatherer *g, int64_t pid)
{
	bool is_free;

	pthread_mutex_lock(&g->lock);
	is_free = !g->is_asking;
	if (is_free) {
		g->record_pid = pid;
		g->is_asking = true;
		pthread_cond_signal(&g->wanted);
	}
	pthread_mutex_unlock(&g->lock);
	return is_free;
}

bool gatherer__take_answer(struct gatherer *g, char *to, size_t size)
{
	bool has;

	pthread_mutex_lock(&g->lock);
	has = g->has_answer;
	if (has)
		snprintf(to, size, "%s", g->answer);
	g->has_answer = false;
	pthread_mutex_unlock(&g->lock);
	return has;
}

void gatherer__stop(struct gatherer *g)
{
	pthread_mutex_lock(&g->lock);
	g->ends = true;
	pthread_cond_signal(&g->wanted);
	pthread_mutex_unlock(&g->lock);
}

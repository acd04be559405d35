// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/exporter.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/descriptor_message.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/message_table.h"
#include "monitor/message_table.h"
#include "common/out_path.h"
#include "common/text_char.h"
#include "common/util.h"
#include "monitor/jobs_view.h"
#include "monitor/metrics_otlp.h"
#include "monitor/site.h"
#include "monitor/window_reader.h"
#include "monitor/window_store.h"
#include "privilege/sandbox.h"

#define MEMORY_MAX  (512ul << 20) /* enough for any valid window */
#define EXPIRE_MS   10000
#define NOBODY	    65534
#define SOCKET_ROOM (4 << 20) /* bytes that may wait in the socket to the exporter */

struct service {
	struct site site;
	struct http_server *http;
	int fd; /* to the parent */
	char host[65];
};

/* ---- windows ---- */

/* The output of `report`. NULL: it is empty or too large. */
static char *read_json(int fd, size_t *len)
{
	struct stat st;
	char *text;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) || st.st_size <= 0 || st.st_size > WINDOW_JSON_MAX)
		return NULL;
	text = malloc((size_t)st.st_size);
	n = text ? UNINTERRUPTED(pread(fd, text, (size_t)st.st_size, 0)) : -1;
	if (n <= 0) {
		free(text);
		return NULL;
	}
	*len = (size_t)n;
	return text;
}

static void say_change(const struct rank_series *r)
{
	if (r->cusum.alarm)
		log__warn(MESSAGE_STEP_SLOWER, r->info.key.name, r->rank,
			  100 * cusum__change(&r->cusum), CUSUM_WARM_UP, 1e3 * r->median_s,
			  r->file);
	else
		log__info(MESSAGE_STEP_AS_BEFORE, r->info.key.name, r->rank);
}

static void say_straggler(const struct rank_series *r)
{
	if (r->joint.wait_ratio > 0)
		log__info(MESSAGE_STRAGGLER_FOUND, r->info.key.name, 100 * r->joint.wait_ratio,
			  r->rank, *r->joint.phase ? r->joint.phase : "no phase is longer",
			  r->joint.read_file);
	else
		log__info(MESSAGE_STRAGGLER_GONE, r->info.key.name, r->rank);
}

static void on_job_window(struct service *s, uint32_t id, int fd)
{
	struct job_figures f;
	size_t len = 0;
	auto_free char *text = read_json(fd, &len);

	if (text && !job_figures__parse(text, len, &f))
		job_series__add_job_window(&s->site.series, id, &f, say_straggler);
}

static void ask_for(const struct service *s, const struct rank_series *r, enum asked asked,
		    const char *file)
{
	struct window_answer message = {.id = r->info.id, .asked = asked};

	snprintf(message.file, sizeof(message.file), "%s", file);
	send(s->fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Adds the window. Has its baseline kept, or a window recorded that shows why steps take longer. */
static void add_window(struct service *s, struct rank_series *r, const struct figures *f,
		       const struct window_ready *window)
{
	const bool had_baseline = *r->baseline;
	const bool has_changed = job_series__add_window(&s->site.series, r, f, window);
	char kept[RECORDING_NAME];

	if (!had_baseline && *r->baseline)
		ask_for(s, r, ASKED_BASELINE, r->baseline);
	if (!has_changed)
		return;
	say_change(r);
	if (!r->cusum.alarm || !*r->baseline)
		return;
	window_store__kept_name(r->baseline, KEEP_BASELINE, kept);
	ask_for(s, r, ASKED_ALARM, kept);
}

static void on_alarm(struct service *s, const struct alarm_made *made, int fd)
{
	struct rank_series *r = job_series__find(&s->site.series, made->id);
	struct alarm_figures f;
	size_t len = 0;
	auto_free char *text = read_json(fd, &len);
	char since[32] = "an unknown time", cause[160];

	if (!r || !text || alarm_figures__parse(text, len, &f) ||
	    !job_series__set_alarm(r, made, &f))
		return;
	jobs_view__time(r->alarm.since_s, TIME_TO_MINUTE, since, sizeof(since));
	alarm_figures__describe(&f, cause, sizeof(cause));
	log__warn(MESSAGE_STEP_SLOWER_CAUSE, r->info.key.name, r->rank, since, cause,
		  made->baseline, made->recording);
}

static enum window_result take_figures(struct service *s, const struct window_ready *window, int fd,
				       struct window_answer *answer)
{
	struct rank_series *r = job_series__find(&s->site.series, window->id);
	struct figures f = {0};
	size_t len = 0;
	auto_free char *text = read_json(fd, &len);
	enum window_result result;
	int err = text ? figures__parse(text, len, &f) : -ENODATA;

	result = !text || (err && err != -ENODATA) ? WINDOW_UNREADABLE
		 : err				   ? WINDOW_EMPTY
		 : f.lost			   ? WINDOW_LOST
		 : f.is_cut			   ? WINDOW_TOO_LARGE
						   : WINDOW_OK;
	if (text && r) {
		job_series__spend(r, f.overhead, window->seconds);
		answer->is_counted = true;
	}
	if (result == WINDOW_OK && r)
		add_window(s, r, &f, window);
	answer->steps = f.step_cnt;
	answer->lost = f.lost;
	answer->overhead = f.overhead;
	answer->step_s = figures__mean_s(&f);
	figures__free(&f);
	return result;
}

/* A file in memory with the metrics. -1: it could not be made. */
static int make_metrics(const struct service *s)
{
	struct proto metrics = {0};
	int fd = memfd_create("metrics", MFD_CLOEXEC);

	metrics_otlp__put(&s->site.series, s->host, clock__ns(CLOCK_REALTIME), &metrics);
	if (fd >= 0 &&
	    (metrics.err || write(fd, metrics.buf, metrics.len) != (ssize_t)metrics.len)) {
		close(fd);
		fd = -1;
	}
	proto__free(&metrics);
	return fd;
}

static int give_metrics(const struct service *s)
{
	const struct window_answer answer = {.asked = ASKED_PUSH};
	auto_close int fd = make_metrics(s);

	return descriptor_message__send(s->fd, &answer, sizeof(answer), fd, 0);
}

static int answer_parent(const struct service *s, const struct window_answer *answer)
{
	return send(s->fd, answer, sizeof(*answer), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int on_window(struct service *s, const struct window_ready *window, int fd)
{
	struct window_answer answer = {.id = window->id};

	answer.result = take_figures(s, window, fd, &answer);
	return answer_parent(s, &answer);
}

/* ---- messages ---- */

static int receive(int socket, struct message *m, int *fd)
{
	const ssize_t n = descriptor_message__receive(socket, m, sizeof(*m), fd, MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	return n == sizeof(*m) ? 0 : -EPIPE;
}

static int obey(struct service *s, const struct message *m, int fd)
{
	s->site.series.heard_ns = clock__monotonic_ns();
	switch (m->kind) {
	case TELL_BEGIN:
		job_series__begin(&s->site.series, &m->begin);
		return 0;
	case TELL_STATE:
		job_series__set_state(&s->site.series, &m->state);
		return 0;
	case TELL_WINDOW:
		return on_window(s, &m->window, fd);
	case TELL_JOB_WINDOW:
		on_job_window(s, m->job_window, fd);
		return 0;
	case TELL_ALARM:
		on_alarm(s, &m->alarm, fd);
		return 0;
	case TELL_END:
		job_series__end(&s->site.series, m->end.id, m->end.lives, s->site.series.heard_ns);
		return 0;
	case TELL_PAGE:
		report_pages__set(&s->site.reports, &m->page, fd, clock__monotonic_ns());
		http_server__resume(s->http);
		return 0;
	case TELL_METRICS:
		return give_metrics(s);
	case TELL_COUNTS:
		s->site.series.counts = m->counts;
		s->site.has_counts = true;
		return answer_parent(s, &(struct window_answer){0});
	}
	return -EINVAL;
}

static int listen_to_parent(struct service *s)
{
	for (;;) {
		struct message m;
		auto_close int fd = -1;
		int err = receive(s->fd, &m, &fd);

		if (!err)
			err = obey(s, &m, fd);
		if (err)
			return err == -EAGAIN ? 0 : err;
	}
}

/* ---- the process ---- */

static void expire(struct service *s)
{
	job_series__expire(&s->site.series, clock__monotonic_ns());
	if (report_pages__expire(&s->site.reports, clock__monotonic_ns()))
		http_server__resume(s->http);
}

static int serve(struct service *s)
{
	struct pollfd fds[] = {{.fd = s->fd, .events = POLLIN},
			       {.fd = http_server__fd(s->http), .events = POLLIN}};
	int err = 0;

	while (!err) {
		const int ms = http_server__timeout_ms(s->http);

		if (poll(fds, ARRAY_SIZE(fds), ms >= 0 && ms < EXPIRE_MS ? ms : EXPIRE_MS) < 0 &&
		    errno != EINTR)
			return -errno;
		err = listen_to_parent(s);
		expire(s);
		http_server__run(s->http);
	}
	return err;
}

static void limit(void)
{
	const struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};

	setrlimit(RLIMIT_DATA, &memory);
	/* The parent decides when this process ends: it closes its socket. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	setpgid(0, 0);
}

static int run(int fd, const struct exporter_opts *opts)
{
	struct service s = {
		.fd = fd,
		.site = {.series.series_max = opts->series_max,
			 .pages = opts->is_path || opts->pages,
			 .records = {.token = opts->token, .fd = fd},
			 .reports.parent = fd},
	};
	int err;

	limit();
	gethostname(s.host, sizeof(s.host) - 1);
	/* Closes the parent's directory, its sessions' sockets and the terminal's input. */
	descriptors__keep_two(fd, opts->listen_fd, STDERR_FILENO + 1);
	/* The user who called sudo may have jobs here, which could signal a process of that
	 * user. */
	out_path__choose_owner(NOBODY, NOBODY);
	err = http_server__start(opts->listen_fd, !opts->is_path, site__answer, &s.site, &s.http);
	/* The first call may make the C library read its character tables from files. */
	text__is_hostile("\u00e9");
	if (!err)
		err = sandbox__go_on(FILTER_SERVER, 0);
	if (err) {
		log__error(err);
		return 1;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	err = serve(&s);
	http_server__stop(s.http);
	report_pages__free(&s.site.reports);
	job_series__free(&s.site.series);
	return err == -EPIPE || err == -ECONNRESET ? 0 : 1;
}

int exporter__start(const struct exporter_opts *opts, struct exporter *out)
{
	const int room = SOCKET_ROOM;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return err__set(-errno, MESSAGE_SOCKETS_NOT_MADE, strerror(errno));
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room));
	fflush(NULL);
	out->pid = fork();
	if (!out->pid) {
		close(ends[0]);
		_exit(run(ends[1], opts));
	}
	close(ends[1]);
	out->fd = ends[0];
	if (out->pid > 0)
		return 0;
	out->pid = 0;
	close(ends[0]);
	return err__set(-errno, MESSAGE_PROCESS_NOT_STARTED, strerror(errno));
}

int exporter__send(const struct exporter *e, const struct message *m, int fd)
{
	return descriptor_message__send(e->fd, m, sizeof(*m), fd, MSG_DONTWAIT);
}

int exporter__receive(const struct exporter *e, struct window_answer *out, int *fd)
{
	const ssize_t n = descriptor_message__receive(e->fd, out, sizeof(*out), fd, MSG_DONTWAIT);

	if (n < 0)
		return -errno;
	return n == sizeof(*out) ? 0 : -EPIPE;
}

void exporter__stop(struct exporter *e)
{
	if (!e->pid)
		return;
	if (e->fd >= 0)
		close(e->fd);
	kill(e->pid, SIGKILL);
	UNINTERRUPTED(waitpid(e->pid, NULL, 0));
	e->pid = 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/monitor_internal.h"
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include "common/duration_text.h"
#include "common/err.h"
#include "monitor/message_table.h"
#include "common/util.h"
#include "monitor/listen_address.h"
#include "monitor/window_store.h"

#define COUNTS_NS    10000000000ull
#define BEGUN_A_SCAN 2 /* sessions that begin per scan; an attach takes 0.5 s of CPU time */
#define KEEP_NS	     60000000000ull
#define STEP_MAX_S   1e6
#define LOST_MAX     1000000000000ull /* a window with more lost events has no valid measurement */
#define OVERHEAD_MAX 100.0	      /* a window with a higher overhead has no valid measurement */

/* ---- messages to the exporter ---- */

static void stop_all(struct monitor *m)
{
	m->is_stopping = true;
	for (size_t i = 0; i < m->watch_cnt; i++)
		watch__stop(m->watches[i], clock__monotonic_ns());
}

/* Messages that come while there is no exporter are sent to the next one. */
static void tell(struct monitor *m, const struct message *message, int fd)
{
	exporter_watch__send(&m->exporter, message, fd);
}

static void tell_state(void *ctx, const struct watch *w)
{
	const uint64_t now_ns = clock__monotonic_ns();
	struct message message = {.kind = TELL_STATE};

	message.state = (struct rank_state){
		.id = w->id,
		.state = w->state,
		.steps = w->step_time.steps,
		.watched_s = w->ready_ns ? (double)(now_ns - w->ready_ns) / 1e9 : 0,
		.learn_s = (double)((w->ready_ns ? w->ready_ns : now_ns) - w->begin_ns) / 1e9,
		.unread_s = w->unread_s,
		.duty = w->schedule.duty,
		.cpus = w->cpu_use.cpus,
		.growth = schedule__growth(&w->schedule),
		.device_times = w->device_times,
		.lead_s = (double)watch__lead_ns(w) / 1e9,
		.is_asked = w->timed.at_ns,
	};
	memcpy(message.state.device_why, w->device_why, sizeof(w->device_why));
	tell(ctx, &message, -1);
}

static void tell_counts(struct monitor *m)
{
	struct message message = {.kind = TELL_COUNTS};

	monitor__measure_self(m);
	monitor__set_hold(m);
	message.counts = m->counts;
	tell(m, &message, -1);
	m->counts_due_ns = clock__monotonic_ns() + COUNTS_NS;
	exporter_watch__expect(&m->exporter);
}

/* ---- windows ---- */

static struct watch *find_watch(struct monitor *m, uint32_t id)
{
	for (size_t i = 0; i < m->watch_cnt; i++)
		if (m->watches[i]->id == id)
			return m->watches[i];
	return NULL;
}

/* Decides the watch's part in a window of all ranks, if it takes part. file NULL: it gave no
 * figures. */
static void decide_part(struct monitor *m, const struct watch *w, const char *file)
{
	if (w->joint.is_open)
		job_windows__decide(&m->job_windows, w->joint.id, w->id, file, JOB_MISSING_WINDOW);
}

/* Counts a window that gave no figures. */
static void count_window(struct monitor *m, uint32_t id, enum window_result result)
{
	const struct window_answer answer = {.id = id, .result = result};
	struct watch *w = find_watch(m, id);

	m->counts.windows[result]++;
	if (!w)
		return;
	decide_part(m, w, NULL);
	watch__measured(w, &answer, clock__monotonic_ns());
}

static void on_window(void *ctx, struct watch *w, enum window_result result,
		      const struct window_ready *ready)
{
	struct monitor *m = ctx;

	if (!ready) {
		m->counts.windows[result]++;
		decide_part(m, w, NULL);
	} else if (!window_store__take(m->store, ready->file, m->window_bytes)) {
		count_window(m, w->id, WINDOW_TOO_LARGE);
	} else if (!window_reader__add(&m->reader, ready)) {
		count_window(m, w->id, WINDOW_UNREADABLE);
	}
}

static bool may_open(void *ctx)
{
	struct monitor *m = ctx;

	monitor__set_hold(m);
	return !m->counts.hold;
}

static void keep(struct monitor *m, uint64_t now_ns)
{
	m->keep_due_ns = now_ns + KEEP_NS;
	if (window_store__keep(m->store, m->opts->keep_bytes) < 0)
		log__warn(MESSAGE_STORE_NOT_PRUNED, m->opts->store);
}

static struct rank_info info_of(const struct watch *w)
{
	const struct found_rank *rank = &w->rank;

	return (struct rank_info){.id = w->id,
				  .pid = rank->pid,
				  .rank = rank->rank,
				  .key = rank->key,
				  .uid = rank->uid,
				  .start_ticks = rank->start_ticks};
}

static void on_read(void *ctx, const struct window_ready *window, int json)
{
	struct monitor *m = ctx;
	struct message message = {.kind = TELL_WINDOW, .window = *window};

	keep(m, clock__monotonic_ns());
	if (json < 0)
		count_window(m, window->id, WINDOW_UNREADABLE);
	else
		tell(m, &message, json);
}

static bool is_possible(const struct window_answer *a)
{
	return a->result >= WINDOW_OK && a->result < WINDOW_RESULT_CNT && isfinite(a->overhead) &&
	       a->overhead >= 0 && a->overhead < OVERHEAD_MAX && a->lost < LOST_MAX &&
	       a->step_s >= 0 && a->step_s < STEP_MAX_S;
}

static void push_window(struct monitor *m, const struct watch *w)
{
	const struct rank_info rank = info_of(w);
	const double until_s = window_store__written_s(m->store, w->read.file);

	if (until_s > 0)
		pushes__window(&m->pushes, &rank, &w->read, until_s);
}

static void take_answer(struct monitor *m, const struct window_answer *said)
{
	struct window_answer answer = *said;
	struct watch *w = find_watch(m, answer.id);

	if (!is_possible(&answer))
		answer = (struct window_answer){.id = answer.id, .result = WINDOW_UNREADABLE};
	m->counts.windows[answer.result]++;
	m->counts.events_lost += answer.lost;
	if (w && w->state == WATCH_READING && answer.result == WINDOW_OK)
		push_window(m, w);
	if (w && w->state == WATCH_READING && answer.result == WINDOW_OK && w->alarm.is_open)
		monitor__compare_alarm(m, w);
	if (w && w->state == WATCH_READING)
		decide_part(m, w, answer.result == WINDOW_OK ? w->read.file : NULL);
	if (w)
		watch__measured(w, &answer, clock__monotonic_ns());
	m->counts_due_ns = 0;
}

static void on_job_window(void *ctx, uint32_t id, int json)
{
	const struct message message = {.kind = TELL_JOB_WINDOW, .job_window = id};
	struct monitor *m = ctx;

	tell(m, &message, json);
	m->counts_due_ns = 0;
}

static bool takes_part(void *ctx, uint32_t watch, uint32_t id)
{
	const struct watch *w = find_watch(ctx, watch);

	return w && w->joint.id == id && w->joint.is_open;
}

/* Records a window for a user who has the token. Its time counts against the budget like other
 * windows. */
static void record_now(struct monitor *m, const struct window_answer *asked)
{
	const uint64_t now_ns = clock__monotonic_ns(),
		       ahead_ns = asked->at_ns ? asked->at_ns - clock__ns(CLOCK_REALTIME) : 0;
	struct watch *w = find_watch(m, asked->id);

	if (!w || asked->steps > REQUEST_STEPS_MAX || ahead_ns > REQUEST_AHEAD_MAX_NS)
		return;
	if (asked->at_ns && watch__record_at(w, asked->steps, asked->at_ns, now_ns))
		log__info(MESSAGE_WINDOW_ASKED_FOR_LATER, w->rank.key.name, w->rank.pid,
			  duration_text(ahead_ns / 1000000000).s);
	else if (!asked->at_ns && watch__record(w, asked->steps, now_ns))
		log__info(MESSAGE_WINDOW_ASKED_FOR, w->rank.key.name, w->rank.pid);
}

static void on_page(void *ctx, const char *file, enum page_result result, int fd)
{
	struct message message = {.kind = TELL_PAGE, .page.result = result};

	snprintf(message.page.file, sizeof(message.page.file), "%s", file);
	tell(ctx, &message, fd);
}

static void on_answer(void *ctx, const struct window_answer *said, int fd)
{
	struct monitor *m = ctx;
	char file[RECORDING_NAME];

	snprintf(file, sizeof(file), "%.*s", RECORDING_NAME - 1, said->file);
	switch (said->asked) {
	case ASKED_PUSH:
		pushes__metrics(&m->pushes, fd);
		break;
	case ASKED_PAGE:
		page_maker__ask(&m->pages, file, clock__monotonic_ns());
		break;
	case ASKED_WINDOW:
		record_now(m, said);
		break;
	case ASKED_BASELINE:
		monitor__keep_baseline(m, file);
		break;
	case ASKED_ALARM:
		monitor__record_alarm(m, find_watch(m, said->id), file);
		break;
	case ASKED_NOTHING:
		take_answer(m, said);
	}
}

static void on_files(void *ctx)
{
	struct monitor *m = ctx;
	_Alignas(struct inotify_event) char events[4096 + NAME_MAX];
	ssize_t len = read(m->files.fd, events, sizeof(events));

	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *event = (const void *)(events + at);

		for (size_t i = 0; event->len && i < m->watch_cnt; i++)
			watch__file_closed(m->watches[i], event->name, clock__monotonic_ns());
		at += (ssize_t)(sizeof(*event) + event->len);
	}
}

/* ---- ranks come and go ---- */

static void tell_begin(struct monitor *m, const struct watch *w)
{
	const struct message message = {.kind = TELL_BEGIN, .begin = info_of(w)};

	tell(m, &message, -1);
	tell_state(m, w);
}

static void begin_watch(struct monitor *m, const struct found_rank *rank)
{
	struct watch *w = watch__new(&m->watch_opts, rank, m->next_id);

	if (w && ARRAY_PUSH(m->watches, m->watch_cnt, m->watch_cap, w)) {
		watch__stop(w, clock__monotonic_ns());
		watch__free(w);
		w = NULL;
	}
	if (!w) {
		log__warn(MESSAGE_PROCESS_NOT_WATCHED, rank->pid, err__take(-ENOMEM));
		return;
	}
	m->next_id++;
	tell_begin(m, w);
	log__info(MESSAGE_PROCESS_WATCHED, rank->key.name, rank->pid);
}

static bool is_same(const struct found_rank *a, const struct found_rank *b)
{
	return a->pid == b->pid && a->start_ticks == b->start_ticks;
}

static bool is_watched(const struct monitor *m, const struct found_rank *rank)
{
	for (size_t i = 0; i < m->watch_cnt; i++)
		if (is_same(&m->watches[i]->rank, rank))
			return true;
	return false;
}

static bool is_found(const struct monitor *m, const struct found_rank *rank)
{
	size_t cnt;
	const struct found_rank *ranks = discovery__ranks(m->discovery, &cnt);

	for (size_t i = 0; i < cnt; i++)
		if (is_same(&ranks[i], rank))
			return true;
	return false;
}

static bool has_process(const void *ctx, pid_t pid, uint64_t start_ticks)
{
	return is_found(ctx, &(struct found_rank){.pid = pid, .start_ticks = start_ticks});
}

static void tell_end(struct monitor *m, uint32_t id, bool process_lives)
{
	const struct message message = {.kind = TELL_END, .end = {id, process_lives}};

	tell(m, &message, -1);
}

/* Ends the series of processes without a session when the process has ended. */
static void look_at_left(struct monitor *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->left_cnt; i++) {
		const struct left *l = &m->left[i];

		if (is_watched(m, &l->rank))
			continue;
		if (is_found(m, &l->rank))
			m->left[kept++] = *l;
		else
			tell_end(m, l->id, false);
	}
	m->left_cnt = kept;
}

static void take_found(struct monitor *m, uint64_t now_ns)
{
	size_t cnt;
	const struct found_rank *ranks = discovery__ranks(m->discovery, &cnt);
	unsigned int begun = 0;

	for (size_t i = 0; i < cnt && !m->is_stopping; i++) {
		if (is_watched(m, &ranks[i]))
			continue;
		if (backoffs__has(&m->backoffs, ranks[i].pid, ranks[i].start_ticks, now_ns))
			m->counts.unwatched[UNWATCHED_BACKOFF]++;
		else if (m->watch_cnt >= m->opts->ranks_max)
			m->counts.unwatched[UNWATCHED_TOO_MANY]++;
		else if (m->counts.hold == HOLD_CPU || m->counts.hold == HOLD_MEMORY)
			m->counts.unwatched[UNWATCHED_LIMIT]++;
		else if (begun++ >= BEGUN_A_SCAN)
			m->counts.unwatched[UNWATCHED_QUEUED]++;
		else
			begin_watch(m, &ranks[i]);
	}
}

static void scan(struct monitor *m, uint64_t now_ns)
{
	int err = discovery__scan(m->discovery);

	m->scan_due_ns = now_ns + m->opts->discovery.scan_ns;
	if (err) {
		log__warn(MESSAGE_PROC_UNREADABLE, strerror(-err));
		return;
	}
	memcpy(m->counts.unwatched, discovery__unwatched(m->discovery),
	       sizeof(m->counts.unwatched));
	for (size_t i = 0; i < m->watch_cnt; i++)
		if (!is_found(m, &m->watches[i]->rank))
			watch__stop(m->watches[i], now_ns);
	backoffs__keep(&m->backoffs, has_process, m);
	take_found(m, now_ns);
	look_at_left(m);
	m->counts_due_ns = 0;
}

static bool lives(const struct found_rank *rank)
{
	struct process_facts facts;

	return !process_facts__read(rank->pid, &facts) && facts.start_ticks == rank->start_ticks;
}

/* Counts a session that ended by itself although its process lives. */
static void note_failure(struct monitor *m, const struct watch *w, uint64_t now_ns)
{
	const bool is_late = w->state == WATCH_ENDING;
	const enum attach_failure why = is_late			      ? ATTACH_TIMEOUT
					: WIFSIGNALED(w->exit_status) ? ATTACH_KILLED
								      : ATTACH_FAILED;
	const uint64_t wait_ns =
		backoffs__add(&m->backoffs, w->rank.pid, w->rank.start_ticks, now_ns);

	m->counts.attach_failures[why]++;
	m->counts_due_ns = 0;
	if (is_late && wait_ns)
		log__warn(MESSAGE_SESSION_UNREADY_AGAIN, w->rank.key.name, w->rank.pid);
	else if (is_late)
		log__warn(MESSAGE_SESSION_UNREADY, w->rank.key.name, w->rank.pid);
	else if (wait_ns)
		log__warn(MESSAGE_SESSION_ENDED_AGAIN, w->rank.key.name, w->rank.pid);
	else
		log__warn(MESSAGE_SESSION_ENDED, w->rank.key.name, w->rank.pid);
}

static void end_watch(struct monitor *m, size_t i, uint64_t now_ns)
{
	struct watch *w = m->watches[i];
	const struct left left = {w->id, w->rank};
	const bool was_let_go = !is_found(m, &w->rank) || m->is_stopping;
	const bool is_left = !was_let_go && lives(&w->rank) &&
			     !ARRAY_PUSH(m->left, m->left_cnt, m->left_cap, left);
	/* A session of a process that has ended exits with 0. */
	const bool failed = !WIFEXITED(w->exit_status) || WEXITSTATUS(w->exit_status) ||
			    w->state == WATCH_ENDING;

	if (!was_let_go && failed && lives(&w->rank))
		note_failure(m, w, now_ns);
	else
		log__info(MESSAGE_PROCESS_WATCHED_NO_LONGER, w->rank.key.name, w->rank.pid);
	job_windows__decide(&m->job_windows, w->joint.id, w->id, NULL, JOB_MISSING_WINDOW);
	tell_state(m, w);
	tell_end(m, left.id, is_left);
	watch__free(w);
	m->watches[i] = m->watches[--m->watch_cnt];
}

static void end_watches(struct monitor *m, uint64_t now_ns)
{
	for (size_t i = m->watch_cnt; i-- > 0;)
		if (m->watches[i]->ended)
			end_watch(m, i, now_ns);
}

/* ---- the exporter ---- */

/* A new exporter has no figures of the old one. The sessions continue. */
static void on_renewed(void *ctx)
{
	struct monitor *m = ctx;

	for (size_t i = 0; i < m->watch_cnt; i++) {
		struct watch *w = m->watches[i];

		tell_begin(m, w);
		if (w->state == WATCH_READING && !window_reader__has(&m->reader, w->id))
			count_window(m, w->id, WINDOW_UNREADABLE);
	}
	m->counts_due_ns = 0;
}

static void on_ask(void *ctx)
{
	tell_counts(ctx);
}

static int start_exporter(struct monitor *m)
{
	return exporter_watch__start(
		&m->exporter,
		&(struct exporter_watch_opts){
			.loop = &m->loop,
			.exporter = {.listen_fd = m->listen_fd,
				     .is_path = listen_address__is_path(m->opts->listen),
				     .series_max = m->opts->series_max,
				     .token = m->opts->token,
				     .pages = m->opts->pages},
			.answered = on_answer,
			.renewed = on_renewed,
			.ask = on_ask,
			.ctx = m,
		});
}

static void ask_metrics(void *ctx)
{
	const struct message message = {.kind = TELL_METRICS};

	tell_counts(ctx);
	tell(ctx, &message, -1);
}

static int start_pushes(struct monitor *m)
{
	return pushes__start(&m->pushes, &(struct pushes_opts){
						 .loop = &m->loop,
						 .urls = {m->opts->otlp, m->opts->pprof},
						 .interval_ns = m->opts->otlp_interval_ns,
						 .directory = m->opts->store,
						 .ask_metrics = ask_metrics,
						 .ctx = m,
						 .counts = m->counts.pushes,
					 });
}

static void look_at_exporter(struct monitor *m, uint64_t now_ns)
{
	m->err = exporter_watch__tick(&m->exporter, now_ns);
	if (m->err)
		stop_all(m);
}

/* ---- the loop ---- */

static void on_signal(void *ctx)
{
	struct monitor *m = ctx;
	struct signalfd_siginfo info;

	if (read(m->signals.fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP)
		monitor__reload(m);
	else
		stop_all(m);
}

static uint64_t due(const struct monitor *m)
{
	uint64_t at = earlier(window_reader__due(&m->reader), page_maker__due(&m->pages));

	at = earlier(at, earlier(pushes__due(&m->pushes), job_windows__due(&m->job_windows)));
	at = earlier(at, alarms__due(&m->alarms));

	if (!m->is_stopping)
		at = earlier(at,
			     earlier(m->scan_due_ns, earlier(m->counts_due_ns, m->keep_due_ns)));
	if (!m->is_stopping)
		at = earlier(at, exporter_watch__due(&m->exporter));
	for (size_t i = 0; i < m->watch_cnt; i++)
		at = earlier(at, watch__due(m->watches[i]));
	return at;
}

static void tick(struct monitor *m)
{
	const uint64_t now_ns = clock__monotonic_ns();

	for (size_t i = 0; i < m->watch_cnt; i++)
		watch__tick(m->watches[i], now_ns);
	end_watches(m, now_ns);
	if (!m->is_stopping)
		monitor__plan_job_windows(m, now_ns);
	job_windows__tick(&m->job_windows, now_ns);
	alarms__tick(&m->alarms, now_ns);
	window_reader__tick(&m->reader, now_ns);
	page_maker__tick(&m->pages, now_ns);
	pushes__tick(&m->pushes, now_ns);
	if (!m->is_stopping && now_ns >= m->scan_due_ns)
		scan(m, now_ns);
	if (!m->is_stopping && now_ns >= m->counts_due_ns)
		tell_counts(m);
	if (!m->is_stopping)
		look_at_exporter(m, now_ns);
	if (!m->is_stopping && now_ns >= m->keep_due_ns)
		keep(m, now_ns);
	if (m->is_stopping)
		stop_all(m);
}

static int loop(struct monitor *m)
{
	int err = 0;

	while (!err && (!m->is_stopping || m->watch_cnt)) {
		tick(m);
		if (!m->is_stopping || m->watch_cnt)
			err = event_loop__wait(&m->loop, due(m));
	}
	return m->err ? m->err : err;
}

/* ---- begin and end ---- */

static int add_signals(struct monitor *m)
{
	struct sigaction hangup;
	sigset_t signals;
	int fd;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	/* Leave an ignored SIGHUP (nohup) alone: signalfd would read it if it were blocked. */
	if (sigaction(SIGHUP, NULL, &hangup) || hangup.sa_handler != SIG_IGN)
		sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : event_loop__add(&m->loop, &m->signals, fd, on_signal, m);
}

static int add_files(struct monitor *m)
{
	const int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (inotify_add_watch(fd, m->opts->store, IN_CLOSE_WRITE) < 0) {
		const int err = -errno;

		close(fd);
		return err;
	}
	return event_loop__add(&m->loop, &m->files, fd, on_files, m);
}

static int open_loop(struct monitor *m)
{
	int err = event_loop__open(&m->loop);

	if (!err)
		err = add_signals(m);
	if (!err)
		err = add_files(m);
	return err ? err__set(err, MESSAGE_EVENTS_NOT_AWAITED, strerror(-err)) : 0;
}

static int begin(struct monitor *m)
{
	int err;

	signal(SIGPIPE, SIG_IGN);
	m->store = window_store__open(m->opts->store);
	if (m->store < 0)
		return m->store;
	m->listen_fd = listen_address__open(m->opts->listen);
	if (m->listen_fd < 0)
		return m->listen_fd;
	err = open_loop(m);
	if (!err)
		err = start_exporter(m);
	if (!err)
		err = start_pushes(m);
	if (err)
		return err;
	m->counts.start_time_s = (double)clock__ns(CLOCK_REALTIME) / 1e9;
	m->reader = (struct window_reader){.done = on_read, .ctx = m};
	window_reader__init(&m->reader, &m->loop);
	m->job_windows = (struct job_windows){.done = on_job_window,
					      .takes_part = takes_part,
					      .ctx = m,
					      .results = m->counts.job_windows,
					      .missing = m->counts.job_missing};
	job_windows__init(&m->job_windows, &m->loop);
	m->alarms = (struct alarms){.done = monitor__alarm_compared, .ctx = m};
	alarms__init(&m->alarms, &m->loop);
	m->pages = (struct page_maker){.done = on_page, .ctx = m, .store = m->store};
	page_maker__init(&m->pages, &m->loop);
	m->watch_opts = (struct watch_opts){.loop = &m->loop,
					    .window = on_window,
					    .may_open = may_open,
					    .changed = tell_state,
					    .ctx = m};
	monitor__set_opts(m, m->opts);
	m->discovery = discovery__new(&m->opts->discovery);
	return m->discovery ? 0 : -ENOMEM;
}

static void end(struct monitor *m)
{
	window_reader__stop(&m->reader);
	job_windows__stop(&m->job_windows);
	alarms__stop(&m->alarms);
	page_maker__stop(&m->pages);
	pushes__stop(&m->pushes);
	for (size_t i = 0; i < m->watch_cnt; i++)
		watch__free(m->watches[i]);
	free(m->watches);
	free(m->left);
	discovery__free(m->discovery);
	backoffs__free(&m->backoffs);
	event_loop__remove(&m->loop, &m->signals);
	event_loop__remove(&m->loop, &m->files);
	exporter_watch__stop(&m->exporter);
	if (m->listen_fd >= 0) {
		close(m->listen_fd);
		listen_address__remove(m->opts->listen);
	}
	event_loop__close(&m->loop);
	if (m->store >= 0)
		close(m->store);
}

int monitor__run(const struct monitor_opts *opts)
{
	struct monitor m = {.opts = opts, .store = -1, .listen_fd = -1, .next_id = 1};
	int err = begin(&m);

	if (!err) {
		log__info(MESSAGE_MONITOR_STARTED, opts->listen, opts->store, 100 * opts->budget);
		err = loop(&m);
	}
	end(&m);
	return err;
}

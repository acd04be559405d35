// SPDX-License-Identifier: BSD-2-Clause
#include "inject/inject.h"
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "common/err.h"
#include "common/message_table.h"
#include "inject/message_table.h"
#include "common/target_lock.h"
#include "common/util.h"
#include "inject/seccomp.h"
#include "inject/session.h"
#include "inject/steps.h"

#define DEFAULT_DEADLINE_MS 5000
#define STOP_NS		    100000000 /* a thread that sleeps undisturbed stops later than this */
/* stops to look for a thread: 20 ms in total if nothing else runs */
#define MAX_LOOKS      200
#define FIRST_PAUSE_NS 1000000
#define LAST_PAUSE_NS  25000000 /* pause before the next try, for each thread; 10 at most */
#define PATIENT_NS     1000000000
/* after 100 ms a thread leaves the code of a dead proftrace */
#define FREE_STUB_NS 5000000000
#define LONGEST_NAME 200

static int check_request(const struct inject_request *q)
{
	if (!q->symbol || !q->path == !q->image || (q->image && (!q->image_name || !q->image_size)))
		return err__set(-EINVAL, MESSAGE_INJECT_REQUEST_INCOMPLETE);
	if ((q->path && strlen(q->path) > 255) || strlen(q->symbol) > 255 ||
	    (q->arg && strlen(q->arg) > 1000) || (q->image && strlen(q->image_name) > LONGEST_NAME))
		return err__set(-ENAMETOOLONG, MESSAGE_INJECT_REQUEST_TOO_LONG);
	return 0;
}

static int check_tracer(pid_t pid, pid_t tid)
{
	pid_t tracer = proc__status(tid, "TracerPid");
	auto_free char *comm = NULL;
	char path[40];

	if (!tracer)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", tracer);
	comm = file__read(path, NULL);
	if (comm)
		comm[strcspn(comm, "\n")] = '\0';
	return err__set(-EBUSY, MESSAGE_INJECT_TARGET_TRACED, pid, tracer, comm ? comm : "?");
}

/* ---- the object, if it is there already ---- */

static const char *name_in_maps(const char *path)
{
	const char *slash = strrchr(path, '/');

	path = slash ? slash + 1 : path;
	return strncmp(path, "memfd:", 6) == 0 ? path + 6 : path;
}

static int find_loaded(struct session *s)
{
	const struct inject_request *q = s->request;
	const char *name = name_in_maps(q->image ? q->image_name : q->path);

	for (size_t i = 0; i < s->target->lib_cnt; i++) {
		const struct target_lib *lib = &s->target->libs[i];

		if (strcmp(name_in_maps(lib->path), name) != 0)
			continue;
		s->function = libc_calls__symbol(s->target, lib, q->symbol);
		if (!s->function)
			return err__set(-ELIBBAD, MESSAGE_INJECT_SYMBOL_MISSING, s->target->pid,
					lib->path, q->symbol);
		s->result->already_loaded = true;
		return 0;
	}
	return 0;
}

/* ---- one thread after the other until one serves ---- */

/* For a while no tracee thread may wait for the loader's lock. But some programs hold it nearly
 * always, and only glibc 2.34 needs it to make a thread. */
static bool is_patient(const struct session *s, uint64_t now)
{
	uint64_t half_ns = (s->deadline_ns - s->started_ns) / 2;

	return now - s->started_ns < (half_ns < PATIENT_NS ? half_ns : PATIENT_NS);
}

/* 1: the new thread was made; 0: not with this thread; or a negative errno. */
static int try_thread(struct session *s, pid_t tid)
{
	bool patient = is_patient(s, clock__monotonic_ns());
	int err = check_tracer(s->target->pid, tid), put_back;
	struct seccomp_state state;

	if (!err)
		err = seccomp__check(s->target->pid, tid, s->request, &state, &s->tracee);
	if (!err)
		err = tracee__stop(&s->tracee, s->target->pid, tid,
				   clock__monotonic_ns() + STOP_NS);
	if (err)
		return err == -ESRCH || err == -EAGAIN ? 0 : err;
	err = safe_point__check(&s->safe, &s->tracee, patient);
	if (err > 0) {
		err = seccomp__is_still(tid, &state) ? 0 : -EAGAIN;
		inject_step(INJECT_STEP_CHECKED);
		if (!err)
			err = injected_call__make_thread(s);
		if (!err)
			err = 1;
	}
	put_back = tracee__let_go(&s->tracee);
	if (err == 1)
		s->result->tid = tid;
	if (err == -EAGAIN)
		return 0;
	/* The new thread waits for us, even after an error. */
	return err < 0 ? err : put_back && err != 1 ? put_back : err;
}

/*
 * A killed proftrace leaves its stub, and for about 100 ms perhaps a thread in it. That thread
 * needs the code there to restore itself. 1: this thread is not in the stub; 0: it is, or may be.
 */
static int look_for_stub(struct session *s, pid_t tid)
{
	uint64_t rip;
	int err = tracee__stop(&s->tracee, s->target->pid, tid, clock__monotonic_ns() + STOP_NS);

	if (err)
		return err == -ESRCH ? 1 : err == -EAGAIN ? 0 : err;
	rip = s->tracee.regs.rip;
	err = tracee__let_go(&s->tracee);
	return err ? err : rip - s->cave.addr >= s->cave.size;
}

struct attempt {
	struct session *s;
	int (*body)(struct session *s, pid_t tid);
	pid_t tid;
	int ret;
	struct err_message message;
};

static void *run_attempt(void *arg)
{
	/* Runs with high priority while the target's thread waits, and sleeps between looks. */
	const struct sched_param first = {.sched_priority = 1};
	struct attempt *a = arg;

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	a->ret = a->body(a->s, a->tid);
	err__give(&a->message);
	return NULL;
}

/* Runs body in a thread of its own. When that ends, the kernel releases everything that it still
 * traces. */
static int attempt(struct session *s, int (*body)(struct session *s, pid_t tid), pid_t tid)
{
	struct attempt a = {s, body, tid, 0, {0}};
	pthread_t thread;
	int err = pthread_create(&thread, NULL, run_attempt, &a);

	if (err)
		return err__set(-err, MESSAGE_THREAD_NOT_STARTED, strerror(err));
	pthread_join(thread, NULL);
	err__receive(&a.message);
	return a.ret;
}

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Waits until the loader is idle, without stopping any thread. */
static int await_loader(struct session *s)
{
	int busy = safe_point__loader_is_busy(&s->safe);

	while (busy > 0 && is_patient(s, clock__monotonic_ns()) &&
	       !tracee__user_stops(&s->tracee)) {
		sleep_ns(FIRST_PAUSE_NS / 4);
		busy = safe_point__loader_is_busy(&s->safe);
	}
	return busy < 0 ? busy : 0;
}

/* Looking must cost the target no more than the loading itself may. */
static bool may_go_on(const struct session *s)
{
	return clock__monotonic_ns() < s->deadline_ns && !tracee__user_stops(&s->tracee) &&
	       s->tracee.stops - s->stops_before < MAX_LOOKS;
}

static int try_all(struct session *s, size_t *tried)
{
	auto_free pid_t *tids = NULL;
	size_t cnt = 0;
	int err;

	*tried = 0;
	maps__free(&s->maps);
	err = maps__read(s->target->pid, &s->maps);
	if (!err)
		err = safe_point__candidates(&s->safe, &tids, &cnt);
	for (size_t i = 0; !err && i < cnt && may_go_on(s); i++) {
		err = await_loader(s);
		if (!err)
			err = attempt(s, try_thread, tids[i]);
		++*tried;
	}
	return err;
}

/* Is there time to look whether a thread is in an old stub? */
static bool is_in_time(const struct session *s)
{
	const uint64_t now = clock__monotonic_ns();

	return now < s->started_ns + FREE_STUB_NS && now < s->deadline_ns &&
	       !tracee__user_stops(&s->tracee);
}

/* 1: no thread is in an old stub; 0: one may be. */
static int stub_is_free(struct session *s)
{
	auto_free struct target_thread *threads = NULL;
	size_t cnt = 0;
	int ret = target__threads(s->target, &threads, &cnt);

	if (ret)
		return ret;
	ret = 1;
	for (size_t i = 0; ret == 1 && i < cnt; i++)
		ret = is_in_time(s) ? attempt(s, look_for_stub, threads[i].tid) : 0;
	return ret;
}

static int await_stub(struct session *s)
{
	int free = cave__is_marked(s) ? stub_is_free(s) : 1;

	while (free == 0 && is_in_time(s)) {
		sleep_ns(LAST_PAUSE_NS);
		free = stub_is_free(s);
	}
	s->stops_before = s->tracee.stops;
	if (free == 0 && tracee__user_stops(&s->tracee))
		return err__set(-EINTR, MESSAGE_INJECT_STOPPED);
	if (free == 0)
		return err__set(-EAGAIN, MESSAGE_INJECT_THREAD_IN_OLD_CODE, s->target->pid);
	return free < 0 ? free : 0;
}

static int call_in_some_thread(struct session *s)
{
	/* Looks become rarer, so that the allowed number lasts for the whole time. */
	uint64_t pause_ns = FIRST_PAUSE_NS;

	while (may_go_on(s)) {
		size_t tried;
		int err = try_all(s, &tried);

		if (err)
			return err < 0 ? err : 0;
		if (!target__alive(s->target))
			return err__set(-ESRCH, MESSAGE_INJECT_TARGET_ENDED, s->target->pid);
		sleep_ns(pause_ns);
		if (pause_ns < LAST_PAUSE_NS * (tried < 10 ? tried : 10))
			pause_ns += pause_ns / 2;
	}
	if (tracee__user_stops(&s->tracee))
		return err__set(-EINTR, MESSAGE_INJECT_STOPPED);
	return err__set(-EAGAIN, MESSAGE_INJECTED_CALL_NO_SAFE_POINT, s->target->pid,
			s->safe.why_not[0] ? s->safe.why_not : "none could be stopped");
}

/* Without a place for a lock, as in a container with a read-only /run, another proftrace has none
 * either. */
static bool has_no_place(int err)
{
	return err == -ENOENT || err == -EROFS || err == -EACCES;
}

/* Two of them would write to the same place. */
static int lock_target(struct session *s)
{
	s->lock_fd = target_lock__take(s->target->pid, s->target->start_time);
	if (s->lock_fd >= 0 || has_no_place(s->lock_fd))
		return 0;
	if (s->lock_fd == -EBUSY)
		return err__set(-EBUSY, MESSAGE_INJECT_BUSY, s->target->pid);
	return err__set(s->lock_fd, MESSAGE_INJECT_NOT_LOCKED, s->target->pid,
			strerror(-s->lock_fd));
}

static int check_target(const struct target *t)
{
	const char *what = t->is_kthread ? "a kernel thread"
			   : t->is_32bit ? "a 32-bit program"
					 : NULL;

	if (what)
		return err__set(-EOPNOTSUPP, MESSAGE_INJECT_NOT_SUPPORTED, t->pid, t->comm, what);
	if (t->is_stopped && !proc__status(t->pid, "TracerPid"))
		return err__set(-EAGAIN, MESSAGE_INJECT_TARGET_STOPPED, t->pid, t->comm, t->pid);
	return check_tracer(t->pid, t->pid);
}

static int open_target(struct session *s, pid_t pid)
{
	int err = check_request(s->request);

	if (!err)
		err = target__open(pid, &s->target);
	return err ? err : check_target(s->target);
}

static int prepare(struct session *s, pid_t pid)
{
	int err = libc_calls__find(s->target, &s->calls);

	if (!err)
		err = find_loaded(s);
	if (!err)
		err = maps__read(pid, &s->maps);
	if (!err)
		err = cave__find(s);
	if (!err)
		err = frames__new(s->target, &s->maps, &s->frames);
	s->safe = (struct safe_point){
		.target = s->target, .maps = &s->maps, .calls = &s->calls, .frames = s->frames};
	return err ? err : safe_point__rehearse(&s->safe);
}

static void session_close(struct session *s)
{
	frames__free(s->frames);
	maps__free(&s->maps);
	target__close(s->target);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s);
}

static int load(pid_t pid, const struct inject_request *q, struct inject_result *result)
{
	unsigned int ms = q->deadline_ms ? q->deadline_ms : DEFAULT_DEADLINE_MS;
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	s->request = q;
	s->result = result;
	s->tracee.user_stop = q->user_stop;
	s->started_ns = clock__monotonic_ns();
	s->deadline_ns = s->started_ns + ms * 1000000ull;
	s->lock_fd = -1;
	err = open_target(s, pid);
	if (!err)
		err = lock_target(s);
	if (!err)
		err = prepare(s, pid);
	if (!err)
		err = await_stub(s);
	if (!err)
		err = call_in_some_thread(s);
	result->stopped_ns = s->tracee.stopped_ns;
	result->stops = s->tracee.stops;
	if (!err)
		err = injected_thread__run(s);
	session_close(s);
	return err;
}

int inject__check(pid_t pid, const struct inject_request *q, struct inject_result *result)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	memset(result, 0, sizeof(*result));
	if (!s)
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	s->request = q;
	s->result = result;
	s->lock_fd = -1;
	err = open_target(s, pid);
	if (!err)
		err = prepare(s, pid);
	result->filtered = !err && seccomp__is_filtered(pid);
	session_close(s);
	return err;
}

int inject__load(pid_t pid, const struct inject_request *request, struct inject_result *result)
{
	int err;

	memset(result, 0, sizeof(*result));
	err = load(pid, request, result);
	if (!err) {
		result->reason[0] = '\0';
		return 0;
	}
	snprintf(result->reason, sizeof(result->reason), "%s", err__take(err));
	return err__set_again(err, result->reason);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * One window, from subscribing to finalising. This file acquires everything from CUPTI, and
 * releases it in the opposite order.
 */
#include "cupti_shim/shim.h"
#include "cupti_shim/old_glibc.h"
#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>

#define MS	  1000000ull
#define RETURN_NS (200 * MS) /* a call may last as long as the device has work */
#define WAY_NS	  (200 * MS) /* another tool waits for it */
#define EXIT_NS	  (200 * MS) /* wait for a call to return, if the program makes calls */
#define REST_NS	  (5 * MS)   /* ... and if it makes none */
#define PENDING	  UINT32_MAX

static const int kinds[] = {
	CUPTI_CONCURRENT_KERNEL,
	CUPTI_MEMCPY,
	CUPTI_MEMCPY2,
	CUPTI_MEMSET,
	CUPTI_MEMORY2,
	CUPTI_MARKER,
	CUPTI_OVERHEAD,
	/* These two make launches slow: 0.37 ms in a step of 2 ms (H200, CUPTI 13.0). */
	CUPTI_SYNCHRONIZATION,
	CUPTI_CUDA_EVENT,
};
#define KIND_CNT    (sizeof(kinds) / sizeof(*kinds))
#define NEEDED_KIND CUPTI_CONCURRENT_KERNEL /* without this kind there is no window */

static struct cupti cupti;
/* Protects the subscription and the kinds. Our thread ends both, or a program's thread does in
 * make_way(). */
static pthread_mutex_t subscription = PTHREAD_MUTEX_INITIALIZER;
static void *subscriber;
static struct shim_control *subscribed; /* file of the window */
static uint8_t enabled[KIND_CNT];
static uint32_t outcome; /* result of finalize(): PENDING, or enum shim_stay */

#define NOT_CHANGED (-1)
static int thread_ids = NOT_CHANGED; /* the setting before the window */

/* ---- kinds, and what is recorded of them ---- */

static bool is_of_waits(int kind)
{
	return kind == CUPTI_SYNCHRONIZATION || kind == CUPTI_CUDA_EVENT;
}

static int enable_kinds(struct shim_control *c)
{
	for (size_t i = 0; i < KIND_CNT; i++) {
		int result;

		if (is_of_waits(kinds[i]) && !c->waits)
			continue;
		result = cupti.ActivityEnable(kinds[i]);
		enabled[i] = !result;
		failures__note(c, SHIM_FAILS_ENABLE, result);
		if (result && kinds[i] == NEEDED_KIND)
			return failures__refused(c, "cuptiActivityEnable", result);
	}
	return SHIM_OK;
}

static void disable_kinds(struct shim_control *c)
{
	for (size_t i = KIND_CNT; i-- > 0;) {
		if (enabled[i])
			failures__note(c, SHIM_FAILS_DISABLE, cupti.ActivityDisable(kinds[i]));
		enabled[i] = 0;
	}
}

void window__flush(struct shim_control *c, uint32_t flag)
{
	if (!__atomic_load_n(&subscriber, __ATOMIC_ACQUIRE))
		return;
	failures__note(c, SHIM_FAILS_FLUSH, cupti.ActivityFlushAll(flag));
	failures__count_dropped(c, &cupti, NULL, 0);
}

/* Waits for CUPTI's buffers. After the kinds are disabled, a buffer comes back when all its
 * activities have ended. */
static void await_buffers(struct shim_control *c, uint64_t timeout_ns)
{
	const struct timespec pause = {.tv_nsec = 2 * MS};
	uint64_t until = shim_now() + timeout_ns;

	window__flush(c, 0);
	while (records__lent() && shim_now() < until &&
	       __atomic_load_n(&subscriber, __ATOMIC_ACQUIRE)) {
		nanosleep(&pause, NULL);
		window__flush(c, 0);
	}
}

/* ---- settings that CUPTI keeps for its next user ---- */

static void set_thread_ids(struct shim_control *c)
{
	int before;

	if (!cupti.SetThreadIdType)
		return;
	if (cupti.GetThreadIdType && !cupti.GetThreadIdType(&before))
		thread_ids = before;
	failures__note(c, SHIM_FAILS_THREADS, cupti.SetThreadIdType(CUPTI_THREAD_ID_SYSTEM));
}

static void give_back(struct shim_control *c)
{
	clock__give_back(c, &cupti);
	if (thread_ids != NOT_CHANGED)
		failures__note(c, SHIM_FAILS_THREADS, cupti.SetThreadIdType(thread_ids));
	thread_ids = NOT_CHANGED;
}

/* The last use of CUPTI in this window. */
static void take_rest(struct shim_control *c)
{
	if (records__lent())
		window__flush(c, CUPTI_FLUSH_FORCED);
	clock__end(c, &cupti);
	give_back(c);
}

static void unsubscribe(struct shim_control *c)
{
	if (subscriber) {
		calls__enable(c, &cupti, subscriber, false);
		failures__note(c, SHIM_FAILS_UNSUBSCRIBE, cupti.Unsubscribe(subscriber));
	}
	__atomic_store_n(&subscriber, NULL, __ATOMIC_RELEASE);
}

/* ---- another tool ---- */

/* Stops recording, and releases CUPTI. */
static void hand_over(struct shim_control *c)
{
	__atomic_store_n(&c->left, 1, __ATOMIC_RELEASE);
	disable_kinds(c);
	await_buffers(c, WAY_NS);
	take_rest(c);
	unsubscribe(c);
}

/* Runs on a program's thread that begins to use CUPTI. Waits at most 1 s for the lock. */
static void make_way(void)
{
	const int saved = errno;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (!pthread_mutex_timedlock(&subscription, &until)) {
		if (subscriber)
			hand_over(subscribed);
		pthread_mutex_unlock(&subscription);
	}
	errno = saved;
}

/* ---- start ---- */

static int subscribe(struct shim_control *c)
{
	int result;

	result = cupti.Subscribe(&subscriber, calls__on_callback, NULL);
	if (result) {
		subscriber = NULL;
		return failures__refused(c, "cuptiSubscribe", result);
	}
	if (cupti_owner__is_foreign(&cupti))
		return SHIM_OTHER_SUBSCRIBER;
	subscribed = c;
	foreign_tool__watch(make_way);
	result = cupti.ActivityRegisterCallbacks(records__on_request, records__on_complete);
	return result ? failures__refused(c, "cuptiActivityRegisterCallbacks", result) : SHIM_OK;
}

/* Call it under the lock, so that make_way() waits. CUPTI's new threads inherit this thread's
 * name. */
static int start(struct shim_control *c)
{
	size_t dropped = 0;
	int err;

	/* The subscription comes first, because it fails if another tool is there. */
	captures__leave_alone();
	prctl(PR_SET_NAME, CUPTI_THREAD_NAME);
	err = subscribe(c);
	prctl(PR_SET_NAME, SHIM_THREAD_NAME);
	if (err)
		return err;
	/* Records that CUPTI dropped before belong to another tool. */
	cupti.ActivityGetNumDroppedRecords(NULL, 0, &dropped);
	records__connect(c, &cupti);
	set_thread_ids(c);
	clock__begin(c, &cupti);
	devices__put(c);
	err = calls__enable(c, &cupti, subscriber, true);
	if (err)
		return err;
	calls__connect(c);
	return enable_kinds(c);
}

int window__start(struct shim_control *c)
{
	int err = c->functions_alone ? SHIM_OK : cupti__load(&cupti, c);

	if (err || c->functions_alone)
		return err;
	c->cupti_result = CUPTI_OK;
	c->cupti_call[0] = '\0';
	memset(c->failed, 0, sizeof(c->failed));
	c->finalized = 0;
	c->stays = SHIM_STAYS_NOT;
	c->left = 0;
	pthread_mutex_lock(&subscription);
	err = start(c);
	if (err) {
		calls__connect(functions__are_set() ? c : NULL);
		disable_kinds(c);
		give_back(c);
		unsubscribe(c);
		records__connect(NULL, &cupti);
	}
	pthread_mutex_unlock(&subscription);
	if (err)
		foreign_tool__unwatch();
	return err;
}

/* ---- stop ---- */

/* A kernel's record shows a graph that was launched before the callback. */
static bool saw_graphs(void)
{
	return calls__saw_graphs() || records__saw_graphs();
}

static void finalize(void)
{
	const uint32_t stay = saw_graphs()	 ? SHIM_STAYS_FOR_GRAPHS
			      : cupti.Finalize() ? SHIM_STAYS_REFUSED
						 : SHIM_STAYS_NOT;

	__atomic_store_n(&outcome, stay, __ATOMIC_RELEASE);
}

/*
 * CUPTI leaves the process at the exit of an API call, the only place that is documented as safe.
 * It stays if no such exit comes, or if a graph was launched meanwhile. Then it has no subscriber,
 * no enabled kind and no buffer. Without CUPTI the next launches of that graph would fail (seen
 * with 13.0 on an H200; before 12.6 it is known to crash).
 */
static uint32_t try_finalize(void)
{
	const struct timespec pause = {.tv_nsec = 1 * MS};
	uint32_t stay;

	if (cupti.version < CUPTI_API_12_6)
		return SHIM_STAYS_OLD;
	if (saw_graphs())
		return SHIM_STAYS_FOR_GRAPHS;
	__atomic_store_n(&outcome, PENDING, __ATOMIC_RELEASE);
	if (!calls__at_exit(finalize, calls__came() ? EXIT_NS : REST_NS))
		return SHIM_STAYS_UNCALLED;
	while ((stay = __atomic_load_n(&outcome, __ATOMIC_ACQUIRE)) == PENDING)
		nanosleep(&pause, NULL);
	return stay;
}

/* Finalises CUPTI, unless another tool has it by now. A tool that comes meanwhile waits. */
static void leave_cupti(struct shim_control *c)
{
	pthread_mutex_lock(&subscription);
	if (subscriber) {
		c->stays = try_finalize();
		c->finalized = c->stays == SHIM_STAYS_NOT;
		if (c->finalized)
			subscriber = NULL;
	}
	unsubscribe(c);
	pthread_mutex_unlock(&subscription);
	foreign_tool__unwatch();
}

/* Pointer hooks may stay longer than our use of CUPTI. */
static void leave(struct shim_control *c)
{
	calls__put_open(c);
	calls__connect(functions__are_set() ? c : NULL);
	records__connect(NULL, &cupti);
	records__release();
}

/* Another tool may take CUPTI between the locks. */
static void end_recording(struct shim_control *c)
{
	pthread_mutex_lock(&subscription);
	disable_kinds(c);
	pthread_mutex_unlock(&subscription);
	await_buffers(c, c->drain_ns);
	pthread_mutex_lock(&subscription);
	if (subscriber)
		take_rest(c);
	pthread_mutex_unlock(&subscription);
}

void window__stop(struct shim_control *c)
{
	if (c->functions_alone) {
		calls__connect(NULL);
		return;
	}
	end_recording(c);
	calls__end();
	calls__await_returns(RETURN_NS);
	leave_cupti(c);
	leave(c);
}

/*
 * Kinds that another tool enabled must stay on; that tool disables them. CUPTI does not list them,
 * but proftrace saw them being enabled. It may have missed some, so the defaults of torch.profiler
 * stay on as well.
 */
static bool is_kept(const struct shim_control *c, int kind)
{
	return kind == CUPTI_CONCURRENT_KERNEL || kind == CUPTI_MEMCPY || kind == CUPTI_MEMSET ||
	       kind == CUPTI_OVERHEAD || (kind < 64 && c->kept_kinds >> kind & 1);
}

/* The other tool was not intercepted, because it used a pointer from dlsym(), for example. */
static void yield(struct shim_control *c)
{
	for (size_t i = 0; i < KIND_CNT; i++) {
		if (enabled[i] && !is_kept(c, kinds[i]))
			failures__note(c, SHIM_FAILS_DISABLE, cupti.ActivityDisable(kinds[i]));
		enabled[i] = 0;
	}
	clock__end(c, &cupti);
	unsubscribe(c);
}

void window__yield(struct shim_control *c)
{
	calls__end();
	pthread_mutex_lock(&subscription);
	if (subscriber)
		yield(c);
	pthread_mutex_unlock(&subscription);
	foreign_tool__unwatch();
	leave(c);
}

void window__forget(void)
{
	subscription = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* the thread that held it is
								      not in the child */
	subscriber = NULL;
}

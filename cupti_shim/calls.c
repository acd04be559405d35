// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records calls of the CUDA API that give the device work, or wait for it: thread, times, and the
 * correlation id that the device's activities also have. Nothing here locks, allocates or enters
 * the kernel, except in a thread's first call of a window.
 */
#include "cupti_shim/cuda_functions.h"
#include "cupti_shim/shim.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define API_MAX 2048 /* above any function's number */

/* A function is recognised by the begin of its name. Versions and stream variants (_v2, _ptsz,
 * _ptds, _v7000) follow, as do additions in newer versions of CUDA (cudaMemcpyBatchAsync). */
static const char *const prefixes[] = {
#define F(function, ...) #function,
	CUDA_RUNTIME_FUNCTIONS(F) CUDA_DRIVER_FUNCTIONS(F)
#undef F
};

/* ---- what is open, and where it goes ---- */

/* The call in progress of a thread. The thread that stops the window reads it. */
struct open_call {
	_Alignas(64) uint64_t begin_ns;
	uint16_t api;
	uint8_t domain;
	uint32_t correlation; /* 0: none; written after the other fields */
};

/* All data that each callback reads is adjacent, because the program uses the caches between
 * callbacks. */
static struct {
	_Alignas(64) struct shim_control *connected;
	void (*exit_action)(void);
	uint32_t connection;		     /* incremented for each connection */
	uint32_t ending;		     /* 1: only calls that have begun are still recorded */
	uint32_t came;			     /* 1: a thread has made a call since */
	uint32_t graphs;		     /* 1: the process has or had graphs; never reset */
	uint64_t of_graphs[2][API_MAX / 64]; /* by domain and function, a bit each */
	struct open_call open_calls[SHIM_RINGS]; /* by ring */
} hot;

/* Writes at most once, because all threads read the data next to the flag. */
static void set_once(uint32_t *flag)
{
	if (!__atomic_load_n(flag, __ATOMIC_RELAXED))
		__atomic_store_n(flag, 1, __ATOMIC_RELAXED);
}

static void note_graphs(void)
{
	set_once(&hot.graphs);
}

/* ---- which calls ---- */

static bool is_wanted(const char *name)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Does the function launch or make a graph? */
static bool is_of_graphs(const char *name)
{
	return strstr(name, "Graph") || strstr(name, "BeginCapture");
}

struct refusal {
	const char *call;
	int result; /* 0: no function has such a name */
};

static int domain_enable(struct shim_control *c, const struct cupti *cupti, void *subscriber,
			 int domain, bool on, struct refusal *refusal)
{
	int cnt = 0;

	for (uint32_t api = 1; api < API_MAX; api++) {
		const char *name = NULL;
		int result = cupti->GetCallbackName(domain, api, &name);

		/* CUPTI also refuses numbers without a function. Any other refusal is more
		 * important. */
		if (result && !refusal->result)
			refusal->result = result;
		if (result || !name || !is_wanted(name))
			continue;
		result = cupti->EnableCallback(on, subscriber, domain, api);
		if (result) {
			*refusal = (struct refusal){"cuptiEnableCallback", result};
			/* Otherwise the program's use of graphs would not be seen. */
			if (on && is_of_graphs(name))
				note_graphs();
			continue;
		}
		cnt++;
		if (!on)
			continue;
		records__put_name(c, SHIM_API_KEY(domain, api), name);
		if (is_of_graphs(name))
			hot.of_graphs[domain == SHIM_RUNTIME][api / 64] |= 1ull << api % 64;
	}
	return cnt;
}

int calls__enable(struct shim_control *c, const struct cupti *cupti, void *subscriber, bool on)
{
	struct refusal refusal = {.call = "cuptiGetCallbackName"};
	int cnt = domain_enable(c, cupti, subscriber, SHIM_RUNTIME, on, &refusal);

	cnt += domain_enable(c, cupti, subscriber, SHIM_DRIVER, on, &refusal);
	/* If CUPTI refuses this, launches that are captured into a graph look like others. */
	cupti->EnableCallback(on, subscriber, CUPTI_DOMAIN_RESOURCE, CUPTI_GRAPH_NODE_CREATED);
	return cnt ? SHIM_OK : failures__refused(c, refusal.call, refusal.result);
}

/* ---- rings ---- */

/* Fits in one cache line, too. */
struct thread {
	_Alignas(64) uint32_t connection;
	uint32_t correlation; /* of its current call, 0: none */
	int domain;
	bool captured; /* of its current call */
	uint64_t begin_ns;
	struct shim_ring *ring; /* NULL: no ring was free */
	struct shim_call *calls;
	struct open_call *open;
};
static __thread struct thread self;

/* In a library that was loaded late, each use of a thread-local variable calls a function. This
 * makes it one call. */
static struct thread *own_thread(void)
{
	struct thread *t = &self;

	__asm__("" : "+r"(t));
	return t;
}

void calls__connect(struct shim_control *c)
{
	for (size_t i = 0; i < SHIM_RINGS; i++)
		__atomic_store_n(&hot.open_calls[i].correlation, 0, __ATOMIC_RELAXED);
	__atomic_add_fetch(&hot.connection, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&hot.ending, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&hot.came, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&hot.connected, c, __ATOMIC_RELEASE);
}

void calls__end(void)
{
	__atomic_store_n(&hot.ending, 1, __ATOMIC_RELAXED);
}

static bool claim_ring(struct thread *t, struct shim_control *c, size_t i, uint32_t owner,
		       uint32_t tid)
{
	if (owner != tid && !__atomic_compare_exchange_n(&c->rings[i].tid, &owner, tid, false,
							 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	t->ring = &c->rings[i];
	t->calls = shim_calls(c, i);
	t->open = &hot.open_calls[i];
	return true;
}

/* Has the ring's thread ended, and has proftrace read all of it? */
static bool is_left(const struct shim_ring *ring, uint32_t owner)
{
	return __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) ==
		       __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) &&
	       syscall(SYS_tgkill, getpid(), owner, 0) && errno == ESRCH;
}

/* Takes the thread's own ring from an earlier window, a free one, or one of a thread that ended. A
 * server may have a thread for each request. */
static void take_ring(struct thread *t, struct shim_control *c)
{
	const int saved = errno; /* errno belongs to the program */
	uint32_t tid = (uint32_t)syscall(SYS_gettid), owner;

	for (size_t i = 0; i < SHIM_RINGS; i++) {
		owner = __atomic_load_n(&c->rings[i].tid, __ATOMIC_RELAXED);
		if ((!owner || owner == tid) && claim_ring(t, c, i, owner, tid))
			return;
	}
	for (size_t i = 0; i < SHIM_RINGS && !t->ring; i++) {
		owner = __atomic_load_n(&c->rings[i].tid, __ATOMIC_RELAXED);
		if (is_left(&c->rings[i], owner))
			claim_ring(t, c, i, owner, tid);
	}
	errno = saved;
}

/* ---- calls that are under way ---- */

static void open_set(struct open_call *o, uint64_t begin_ns, int domain, uint32_t api,
		     uint32_t correlation)
{
	__atomic_store_n(&o->begin_ns, begin_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&o->api, (uint16_t)api, __ATOMIC_RELAXED);
	__atomic_store_n(&o->domain, (uint8_t)domain, __ATOMIC_RELAXED);
	__atomic_store_n(&o->correlation, correlation, __ATOMIC_RELEASE);
}

static void open_clear(struct open_call *o)
{
	__atomic_store_n(&o->correlation, 0, __ATOMIC_RELEASE);
}

/* False: the thread is in no call, or left it meanwhile. */
static bool open_get(struct open_call *o, struct shim_call *call)
{
	uint32_t correlation = __atomic_load_n(&o->correlation, __ATOMIC_ACQUIRE);

	*call = (struct shim_call){.begin_ns = __atomic_load_n(&o->begin_ns, __ATOMIC_RELAXED),
				   .correlation = correlation,
				   .api = __atomic_load_n(&o->api, __ATOMIC_RELAXED),
				   .domain = __atomic_load_n(&o->domain, __ATOMIC_ACQUIRE)};
	return correlation && __atomic_load_n(&o->correlation, __ATOMIC_RELAXED) == correlation;
}

bool calls__came(void)
{
	return __atomic_load_n(&hot.came, __ATOMIC_RELAXED);
}

bool calls__saw_graphs(void)
{
	return __atomic_load_n(&hot.graphs, __ATOMIC_RELAXED);
}

void calls__await_returns(uint64_t timeout_ns)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t until = shim_now() + timeout_ns;

	for (size_t i = 0; i < SHIM_RINGS; i++)
		while (__atomic_load_n(&hot.open_calls[i].correlation, __ATOMIC_ACQUIRE) &&
		       shim_now() < until)
			nanosleep(&pause, NULL);
}

void calls__put_open(struct shim_control *c)
{
	for (size_t i = 0; i < SHIM_RINGS; i++) {
		struct shim_open_call out = {
			.h = {SHIM_REC_CALL, sizeof(out)},
			.ring = (uint32_t)i,
			.tid = __atomic_load_n(&c->rings[i].tid, __ATOMIC_RELAXED),
		};

		if (!open_get(&hot.open_calls[i], &out.call))
			continue;
		out.call.end_ns = shim_now();
		records__put(c, &out.h);
	}
}

/* ---- actions in the exit of a call ---- */

static void run_at_exit(void)
{
	void (*action)(void) = __atomic_exchange_n(&hot.exit_action, NULL, __ATOMIC_ACQ_REL);

	if (action)
		action();
}

bool calls__at_exit(void (*action)(void), uint64_t timeout_ns)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t until = shim_now() + timeout_ns;

	__atomic_store_n(&hot.exit_action, action, __ATOMIC_RELEASE);
	while (shim_now() < until) {
		nanosleep(&pause, NULL);
		if (!__atomic_load_n(&hot.exit_action, __ATOMIC_ACQUIRE))
			return true;
	}
	return !__atomic_exchange_n(&hot.exit_action, NULL, __ATOMIC_ACQ_REL);
}

/* ---- threads ---- */

static bool in_call(const struct thread *t)
{
	return t->correlation &&
	       t->connection == __atomic_load_n(&hot.connection, __ATOMIC_RELAXED);
}

static __attribute__((noinline, cold)) void connect_anew(struct thread *t, struct shim_control *c,
							 uint32_t connection)
{
	*t = (struct thread){.connection = connection};
	take_ring(t, c);
}

/* True for the thread's first callback of a connection. */
static bool connect_thread(struct thread *t, struct shim_control *c)
{
	uint32_t now = __atomic_load_n(&hot.connection, __ATOMIC_RELAXED);

	if (t->connection == now)
		return false;
	connect_anew(t, c, now);
	return true;
}

/* ---- calls that are none of CUDA's ---- */

int calls__ring(uint32_t *connection)
{
	struct shim_control *c = __atomic_load_n(&hot.connected, __ATOMIC_ACQUIRE);
	struct thread *t;

	if (!c)
		return -1;
	t = own_thread();
	connect_thread(t, c);
	*connection = t->connection;
	if (t->ring)
		return (int)(t->ring - c->rings);
	__atomic_add_fetch(&c->lost_threads, 1, __ATOMIC_RELAXED);
	return -1;
}

struct shim_control *calls__connected(void)
{
	return __atomic_load_n(&hot.connected, __ATOMIC_ACQUIRE);
}

bool calls__is_current(uint32_t connection)
{
	return __atomic_load_n(&hot.connection, __ATOMIC_RELAXED) == connection &&
	       calls__connected();
}

void calls__put(int ring, const struct shim_call *call)
{
	struct shim_control *c = calls__connected();

	if (c)
		shim_put_call(&c->rings[ring], shim_calls(c, (size_t)ring), call);
}

/* ---- the callback ---- */

static void look_for_graphs(int domain, uint32_t api)
{
	if (hot.of_graphs[domain == SHIM_RUNTIME][api / 64] >> api % 64 & 1)
		note_graphs();
}

/* A driver call inside a runtime call is a part of it, and is not recorded. */
static void on_enter(struct thread *t, struct shim_control *c, int domain, uint32_t api,
		     const struct cupti_callback_data *d)
{
	connect_thread(t, c);
	set_once(&hot.came);
	if (t->correlation && t->domain == SHIM_RUNTIME && domain == SHIM_DRIVER)
		return;
	t->correlation = d->correlation;
	t->domain = domain;
	t->captured = false;
	t->begin_ns = shim_now();
	if (t->open)
		open_set(t->open, t->begin_ns, domain, api, d->correlation);
}

static void on_exit_(struct thread *t, struct shim_control *c, int domain, uint32_t api,
		     const struct cupti_callback_data *d)
{
	struct shim_call call;

	/* A runtime call may have begun before the window. Then the exit of the inner driver call
	 * comes first, and looks like any other. */
	if (domain == SHIM_RUNTIME && connect_thread(t, c)) {
		t->correlation = d->correlation;
		t->domain = domain;
	}
	if (t->connection != __atomic_load_n(&hot.connection, __ATOMIC_RELAXED) ||
	    t->correlation != d->correlation || t->domain != domain)
		return;
	call = (struct shim_call){.begin_ns = t->begin_ns,
				  .end_ns = shim_now(),
				  .correlation = d->correlation,
				  .api = (uint16_t)api,
				  .domain = (uint8_t)domain,
				  .flags = d->result && *d->result ? SHIM_CALL_FAILED
					   : t->captured	   ? SHIM_CALL_CAPTURED
								   : 0,
				  .node = d->context_id};
	t->correlation = 0;
	if (t->ring)
		shim_put_call(t->ring, t->calls, &call);
	else
		__atomic_add_fetch(&c->lost_threads, 1, __ATOMIC_RELAXED);
	if (t->open)
		open_clear(t->open);
}

/* While a stream is captured, each call makes a node. */
static void on_node_created(struct thread *t)
{
	note_graphs();
	if (in_call(t))
		t->captured = true;
}

void calls__on_callback(void *user, int domain, uint32_t api, const struct cupti_callback_data *d)
{
	struct shim_control *c = __atomic_load_n(&hot.connected, __ATOMIC_ACQUIRE);
	struct thread *t = own_thread();

	(void)user;
	if (domain == CUPTI_DOMAIN_RESOURCE)
		on_node_created(t);
	if (domain != SHIM_RUNTIME && domain != SHIM_DRIVER)
		return;
	look_for_graphs(domain, api);
	if (c && d->site == CUPTI_ENTER && !__atomic_load_n(&hot.ending, __ATOMIC_RELAXED))
		on_enter(t, c, domain, api, d);
	else if (c && d->site == CUPTI_EXIT)
		on_exit_(t, c, domain, api, d);
	/* Not for a driver call inside a runtime call, because the runtime call's exit would never
	 * come. */
	if (d->site == CUPTI_EXIT && __atomic_load_n(&hot.exit_action, __ATOMIC_RELAXED) &&
	    !in_call(t))
		run_at_exit();
}

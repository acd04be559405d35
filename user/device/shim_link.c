// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_link.h"
#include "common/err.h"
#include "common/message_table.h"
#include "device/message_table.h"
#include "common/mapped.h"
#include "common/out_file.h"
#include "common/stale_file.h"
#include "common/util.h"
#include "common/capability_set.h"
#include "device/liveness.h"
#include "device/shim_rings.h"
#include <fcntl.h>
#include <fnmatch.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define BEAT_NS 300000000ull
/* Interval of heartbeats after the first command. The library's limit is five seconds. */
#define PARKED_BEAT_NS 1000000000ull
/* Interval of the thread's rounds while the library records. At this pace a quarter of a ring is
 * 800000 calls per second. */
#define GLANCE_NS 20000000ull
/* Interval while threads come and go: enough for 64 threads per interval. */
#define SHORT_GLANCE_NS 4000000ull

struct shim_link {
	struct shim_control *c;
	struct mapped *guard; /* the process may truncate the file at any time */
	char path[64];
	bool linked; /* the file still has a name */
	int held;    /* the file, locked as long as it has a name; -1: it has none */
	pthread_t beater;
	bool beats, ends; /* beats: the thread runs; ends: it should end */
	sem_t wake;	  /* posted when it should not wait any longer */
	struct shim_rings rings;
	char error[320];
};

/* ---- the file ---- */

static int map_file(struct shim_link *l, int fd)
{
	void *at = mmap(NULL, SHIM_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	l->c = at;
	shim_rings__init(&l->rings, at);
	return mapped__guard(at, SHIM_FILE_BYTES, &l->guard);
}

static int make_file(struct shim_link *l, int fd)
{
	int err = ftruncate(fd, (off_t)SHIM_FILE_BYTES) ? -errno : map_file(l, fd);

	if (err)
		return err;
	shim_init(l->c, clock__monotonic_ns());
	/* A program that we start has our time namespace. */
	return clock__ahead_ns(0, &l->c->clock_ahead_ns);
}

static const char *next_step(int err)
{
	switch (err) {
	case -EFBIG:
		return "raise the file size limit (ulimit -f)";
	case -ENOSPC:
	case -ENOMEM:
		return "free some of /dev/shm";
	default:
		return "look at /dev/shm";
	}
}

static bool is_temporary(const char *name)
{
	return !fnmatch("proftrace-[0-9]*.??????", name, 0);
}

/* Removes files of proftraces that were killed before their program's library came. */
static void sweep(void)
{
	auto_close int dir = open("/dev/shm", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir >= 0)
		stale_file__sweep(dir, is_temporary);
}

static int make_name(struct shim_link *l)
{
	for (;;) {
		snprintf(l->path, sizeof(l->path), "/dev/shm/proftrace-%d.XXXXXX", (int)getpid());
		l->held = mkostemp(l->path, O_CLOEXEC);
		if (l->held < 0)
			return -errno;
		l->linked = true;
		if (stale_file__hold(l->held))
			return 0;
		close(l->held);
	}
}

int shim_link__create(struct shim_link **out)
{
	struct shim_link *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->held = -1;
	sweep();
	err = make_name(l);
	if (!err)
		err = make_file(l, l->held);
	if (err) {
		err = err__set(err, MESSAGE_SHIM_MEMORY_NOT_MADE, l->path, strerror(-err),
			       next_step(err));
		shim_link__free(l);
		return err;
	}
	*out = l;
	return 0;
}

/* Seals the file, so that the process cannot truncate it. This also proves that it is a memfd. */
static int seal(int fd)
{
	struct stat st;

	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) || fstat(fd, &st))
		return -errno;
	return (uint64_t)st.st_size == SHIM_FILE_BYTES ? 0 : -EPROTO;
}

int shim_link__adopt(int fd, struct shim_link **out)
{
	struct shim_link *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return -ENOMEM;
	l->held = -1;
	err = seal(fd);
	if (!err)
		err = map_file(l, fd);
	if (!err && (!l->c || l->c->magic != SHIM_MAGIC || l->c->version != SHIM_VERSION))
		err = -EPROTO;
	if (!err) {
		shim_link__beat(l);
		*out = l;
		return 0;
	}
	shim_link__free(l);
	return err__set(err, MESSAGE_SHIM_MEMORY_UNUSABLE, strerror(-err));
}

void shim_link__unlink(struct shim_link *l)
{
	if (l->linked)
		out_file__remove(l->path);
	l->linked = false;
	if (l->held >= 0)
		close(l->held);
	l->held = -1;
}

void shim_link__free(struct shim_link *l)
{
	if (!l)
		return;
	if (l->beats) {
		__atomic_store_n(&l->ends, true, __ATOMIC_RELAXED);
		sem_post(&l->wake);
		pthread_join(l->beater, NULL);
		sem_destroy(&l->wake);
	}
	shim_link__unlink(l);
	if (l->c) {
		shim_link__command(l, SHIM_LEAVE);
		shim_rings__clear(&l->rings);
		mapped__close(l->guard);
		munmap(l->c, SHIM_FILE_BYTES);
	}
	free(l);
}

const char *shim_link__path(const struct shim_link *l)
{
	return l->path;
}

void shim_link__set_cupti(struct shim_link *l, const char *path, unsigned int major)
{
	snprintf(l->c->cupti_path, sizeof(l->c->cupti_path), "%s", path);
	l->c->cupti_major = major;
}

void shim_link__set_alone(struct shim_link *l, bool functions_alone)
{
	l->c->functions_alone = functions_alone;
}

void shim_link__set_waits(struct shim_link *l, bool waits)
{
	l->c->waits = waits;
}

void shim_link__set_pid(struct shim_link *l, uint32_t pid)
{
	l->c->only_pid = pid;
}

int shim_link__set_clock(struct shim_link *l, pid_t pid)
{
	int64_t ahead_ns;
	int err = clock__ahead_ns(pid, &ahead_ns);

	if (err)
		return err__set(err, MESSAGE_TARGET_TIME_NAMESPACE_UNKNOWN, pid);
	/* Until the library knows its clock, no heartbeat must be too old. */
	__atomic_store_n(&l->c->heartbeat_ns, UINT64_MAX, __ATOMIC_SEQ_CST);
	__atomic_store_n(&l->c->clock_ahead_ns, ahead_ns, __ATOMIC_SEQ_CST);
	__atomic_store_n(&l->c->heartbeat_ns, clock__monotonic_ns(), __ATOMIC_SEQ_CST);
	return 0;
}

/* ---- commands ---- */

void shim_link__beat(struct shim_link *l)
{
	__atomic_store_n(&l->c->heartbeat_ns, clock__monotonic_ns(), __ATOMIC_RELAXED);
	if (l->linked && shim_link__pid(l))
		shim_link__unlink(l);
}

static bool may_fill_rings(const struct shim_link *l)
{
	const enum shim_state state = shim_link__state(l);

	return state == SHIM_RECORDING || state == SHIM_STOPPING ||
	       __atomic_load_n(&l->c->command, __ATOMIC_RELAXED) == SHIM_RECORD;
}

static uint64_t pause_ns(const struct shim_link *l)
{
	if (!may_fill_rings(l))
		return __atomic_load_n(&l->c->command_seq, __ATOMIC_RELAXED) ? PARKED_BEAT_NS
									     : BEAT_NS;
	return shim_rings__are_few(&l->rings) ? SHORT_GLANCE_NS : GLANCE_NS;
}

static void *beat(void *arg)
{
	struct shim_link *l = arg;
	struct liveness alive;
	struct timespec until;
	uint64_t now;

	capability_set__keep(0); /* the thread only writes to memory */
	liveness__hold(&alive, &l->c->owner);
	do {
		now = clock__monotonic_ns();
		__atomic_store_n(&l->c->heartbeat_ns, now, __ATOMIC_RELAXED);
		shim_rings__drain(&l->rings);
		now += pause_ns(l);
		until = clock__own_monotonic(now);
		sem_clockwait(&l->wake, CLOCK_MONOTONIC, &until);
	} while (!__atomic_load_n(&l->ends, __ATOMIC_RELAXED));
	liveness__let_go(&alive);
	return NULL;
}

int shim_link__keep_alive(struct shim_link *l)
{
	sigset_t all, before;
	int err;

	if (l->beats)
		return 0;
	sem_init(&l->wake, 0, 0);
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* Ctrl-C is for the main thread */
	err = pthread_create(&l->beater, NULL, beat, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	l->beats = !err;
	return err ? err__set(-err, MESSAGE_THREAD_NOT_STARTED, strerror(err)) : 0;
}

int shim_link__set_functions(struct shim_link *l, const struct shim_functions *f)
{
	struct shim_control *c = l->c;

	if (f->function_cnt > SHIM_FUNCTIONS || f->pointer_cnt > SHIM_POINTERS)
		return -ENOSPC;
	memcpy(shim_functions(c), f->functions, f->function_cnt * sizeof(*f->functions));
	memcpy(shim_pointers(c), f->pointers, f->pointer_cnt * sizeof(*f->pointers));
	c->node_seq = f->node_seq;
	c->node_object = f->node_object;
	c->python_node = f->python_node;
	c->node_number = f->node_number;
	c->python_hash = f->python_hash;
	memcpy(c->named_calls, f->named_calls, sizeof(c->named_calls));
	c->named_at = f->named_at;
	c->function_cnt = (uint32_t)f->function_cnt;
	c->pointer_cnt = (uint32_t)f->pointer_cnt;
	return 0;
}

void shim_link__drop_function(struct shim_link *l, size_t index)
{
	shim_functions(l->c)[index].kind = 0;
}

size_t shim_link__pointers_set(const struct shim_link *l)
{
	return __atomic_load_n(&l->c->pointers_set, __ATOMIC_ACQUIRE);
}

void shim_link__keep_kinds(struct shim_link *l, uint64_t kinds)
{
	l->c->kept_kinds = kinds;
}

uint32_t shim_link__command(struct shim_link *l, enum shim_command command)
{
	uint32_t seq = l->c->command_seq + 1;

	__atomic_store_n(&l->c->command, command, __ATOMIC_RELAXED);
	__atomic_store_n(&l->c->command_seq, seq, __ATOMIC_RELEASE);
	syscall(SYS_futex, &l->c->command_seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
	if (l->beats)
		sem_post(&l->wake);
	return seq;
}

/* Compares by distance, because numbers wrap. A later command may have replaced it. */
bool shim_link__is_done(const struct shim_link *l, uint32_t seq)
{
	return (int32_t)(__atomic_load_n(&l->c->done_seq, __ATOMIC_ACQUIRE) - seq) >= 0;
}

enum shim_state shim_link__state(const struct shim_link *l)
{
	const enum shim_state state = __atomic_load_n(&l->c->state, __ATOMIC_ACQUIRE);

	return shim_link__is_torn(l) ? SHIM_LEFT : state;
}

bool shim_link__is_torn(const struct shim_link *l)
{
	return mapped__is_torn(l->guard);
}

uint32_t shim_link__pid(const struct shim_link *l)
{
	return __atomic_load_n(&l->c->pid, __ATOMIC_ACQUIRE);
}

#define CUPTI_NOT_INITIALIZED 15 /* CUPTI cannot connect to the driver */

/* CUDA's version in tens, 1302 for 13.2; 0: unknown. CUPTI tells it since 13.0, as 130202. */
static uint32_t cuda_of_cupti(uint32_t version)
{
	return version >= 130000 ? version / 100 : 0;
}

static void describe_connection(struct shim_link *l, const char *call)
{
	const uint32_t driver = l->c->driver_version / 10,
		       cupti = cuda_of_cupti(l->c->cupti_version);
	char of_driver[32] = "of an unknown version", of_cupti[32];

	if (driver)
		snprintf(of_driver, sizeof(of_driver), "of CUDA %u.%u", driver / 100, driver % 100);
	if (cupti)
		snprintf(of_cupti, sizeof(of_cupti), "of CUDA %u.%u", cupti / 100, cupti % 100);
	else
		snprintf(of_cupti, sizeof(of_cupti), "of API version %u", l->c->cupti_version);
	snprintf(l->error, sizeof(l->error),
		 "%s gave CUPTI error %d: its libcupti, %s, cannot connect to its driver, %s (%s); "
		 "start the process with a libcupti that its driver supports",
		 call, CUPTI_NOT_INITIALIZED, of_cupti, of_driver,
		 cupti && driver && cupti > driver ? "the libcupti is newer" : "cause unknown");
}

const char *shim_link__error(struct shim_link *l)
{
	char call[sizeof(l->c->cupti_call)];

	memcpy(call, l->c->cupti_call, sizeof(call));
	call[sizeof(call) - 1] = '\0';
	switch (l->c->error) {
	case SHIM_OK:
		return NULL;
	case SHIM_NO_CUPTI:
		return "the process has no libcupti, and none was found";
	case SHIM_OLD_CUPTI:
		return "its libcupti is older than CUDA 11";
	case SHIM_NOT_CUPTI:
		return "what was loaded as its libcupti is none: it has no function "
		       "cuptiSubscribe; --cupti PATH names another";
	case SHIM_NEW_CUPTI:
		return "its libcupti is of a newer CUDA than its driver, and might end the "
		       "process; --cupti PATH names another";
	case SHIM_OTHER_SUBSCRIBER:
		return "another tool uses CUPTI in it, or has used it and not let go "
		       "(torch.profiler does not)";
	case SHIM_NO_PRIVILEGE:
		return "the driver allows profiling to administrators alone "
		       "(NVreg_RestrictProfilingToAdminUsers)";
	default:
		if (l->c->error == SHIM_CUPTI_FAILED &&
		    l->c->cupti_result == CUPTI_NOT_INITIALIZED) {
			describe_connection(l, call);
			return l->error;
		}
		snprintf(l->error, sizeof(l->error), "%s gave CUPTI error %d", call,
			 l->c->cupti_result);
		return l->error;
	}
}

bool shim_link__has_left(const struct shim_link *l)
{
	return __atomic_load_n(&l->c->left, __ATOMIC_ACQUIRE);
}

void shim_link__facts(const struct shim_link *l, struct shim_facts *out)
{
	const struct shim_control *c = l->c;

	*out = (struct shim_facts){
		.cupti_version = c->cupti_version,
		.own_clock = c->own_clock,
		.finalized = c->finalized,
		.stays = c->stays,
		.exited = c->exited,
		.clock_begin = c->clock_begin,
		.clock_end = c->clock_end,
		.lost_rings = c->activities.lost,
		.lost_threads = c->lost_threads,
		.lost_cupti = c->lost_cupti,
		.lost_incomplete = c->lost_incomplete,
		.lost_buffers = c->lost_buffers,
		.note_ns = c->note_ns,
		.malformed = shim_rings__malformed(&l->rings),
	};
	memcpy(out->failed, c->failed, sizeof(out->failed));
	for (size_t i = 0; i < SHIM_RINGS; i++)
		out->lost_rings += c->rings[i].lost;
}

/* ---- rings ---- */

int shim_link__calls(struct shim_link *l,
		     int (*take)(void *ctx, size_t ring, uint32_t tid,
				 const struct shim_call *call),
		     void *ctx)
{
	return shim_rings__calls(&l->rings, take, ctx);
}

bool shim_link__seen_name(const struct shim_link *l, uint64_t key,
			  char text[SHIM_SEEN_NAME_MAX + 1])
{
	return shim_rings__seen_name(&l->rings, key, text);
}

int shim_link__activities(struct shim_link *l,
			  int (*take)(void *ctx, const struct shim_record *record), void *ctx)
{
	return shim_rings__activities(&l->rings, take, ctx);
}

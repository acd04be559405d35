// SPDX-License-Identifier: BSD-2-Clause
/*
 * The library's life in the target. It takes over a file and carries out the commands that
 * proftrace writes there. When proftrace leaves or dies, the library parks: it has no thread, uses
 * no CUPTI, and only its code remains.
 */
#include "cupti_shim/shim.h"
#include "cupti_shim/old_glibc.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MS	     1000000ull
#define TICK_NS	     (100 * MS)
#define FLUSH_NS     (500 * MS)
#define STACK_BYTES  (512u << 10)
#define SIGSET_BYTES 8 /* the size in the kernel */
/* far longer than it takes to notice a dead proftrace and leave its window */
#define LEAVE_NS (12000 * MS)
#define ADOPT_NS (500 * MS) /* from a file made here to its first command, if others wait */

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* since 6.3; some kernels require it */
#endif

static uint32_t attaching;	     /* 1 while a caller is in attach() */
static uint32_t newest;		     /* number of the latest caller that may wait */
static void *mapped;		     /* memory of the file, kept for the next file */
static uint32_t serving;	     /* 1 while the thread runs */
static struct shim_control *control; /* used by the thread, and at the end of the process */
static int made_fd = -1;	     /* descriptor of a file made here, until proftrace has it */
static uint32_t made_for;	     /* number of the caller for whom it was made */

static void set_control(struct shim_control *c)
{
	__atomic_store_n(&control, c, __ATOMIC_RELEASE);
}

/* ---- the file ---- */

/*
 * A thread that was in a callback when the window closed may still write to the last file's memory.
 * So that memory is never unmapped: the next file, or empty memory, replaces it.
 */
static struct shim_control *map_file(int fd)
{
	int flags = MAP_SHARED | (mapped ? MAP_FIXED : 0);
	void *at = mmap(mapped, SHIM_FILE_BYTES, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (at == MAP_FAILED)
		return NULL;
	mapped = at;
	return at;
}

static void unmap_file(void)
{
	void *at = mmap(mapped, SHIM_FILE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

	(void)at; /* without memory for the new mapping the old one stays, which does no harm */
}

static int take_over(struct shim_control *c)
{
	uint32_t nobody = 0;

	if (c->magic != SHIM_MAGIC || c->version != SHIM_VERSION || c->bytes != SHIM_FILE_BYTES)
		return -EPROTO;
	if (c->only_pid && c->only_pid != (uint32_t)getpid())
		return -EBUSY;
	if (!__atomic_compare_exchange_n(&c->pid, &nobody, (uint32_t)getpid(), false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return -EBUSY;
	__atomic_store_n(&c->state, SHIM_PARKED, __ATOMIC_RELEASE);
	return 0;
}

/*
 * The library carries out what the file says. Children inherit its path. When proftrace's file has
 * lost its name, anybody may make one of that name. Uses the system call, because fstat() differs
 * in old C libraries.
 */
static bool is_trusted(int fd)
{
	struct stat st;

	return !syscall(SYS_fstat, fd, &st) && S_ISREG(st.st_mode) && !(st.st_mode & 077) &&
	       (!st.st_uid || st.st_uid == geteuid());
}

static int open_file(const char *path, struct shim_control **out)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), err = 0;

	if (fd < 0)
		return -errno;
	if (!is_trusted(fd))
		err = -EPERM;
	else if (lseek(fd, 0, SEEK_END) < (off_t)SHIM_FILE_BYTES)
		err = -EPROTO;
	*out = err ? NULL : map_file(fd);
	if (!err && !*out)
		err = -ENOMEM;
	close(fd);
	if (!*out)
		return err;
	err = take_over(*out);
	if (err)
		unmap_file();
	return err;
}

static void close_made(void)
{
	if (made_fd >= 0)
		close(made_fd);
	made_fd = -1;
}

/* Uses the system call, because C libraries before 2018 do not have the function. */
static int make_memfd(void)
{
	int fd = (int)syscall(SYS_memfd_create, "proftrace", MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_memfd_create, "proftrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return fd < 0 ? -errno : fd;
}

static int make_file(struct shim_control **out)
{
	int err = 0;

	made_fd = make_memfd();
	if (made_fd < 0)
		return made_fd;
	if (ftruncate(made_fd, (off_t)SHIM_FILE_BYTES))
		err = -errno;
	*out = err ? NULL : map_file(made_fd);
	if (!err && !*out)
		err = -ENOMEM;
	if (!err) {
		shim_init(*out, shim_now());
		err = take_over(*out);
	}
	if (err)
		close_made();
	return err;
}

/* ---- commands ---- */

static void set_state(struct shim_control *c, enum shim_state state)
{
	__atomic_store_n(&c->state, state, __ATOMIC_RELEASE);
}

static int record(struct shim_control *c)
{
	int err;

	if (c->state == SHIM_RECORDING)
		return SHIM_OK;
	set_state(c, SHIM_STARTING);
	err = window__start(c);
	set_state(c, err ? SHIM_PARKED : SHIM_RECORDING);
	return err;
}

static int park(struct shim_control *c, void (*stop)(struct shim_control *c))
{
	if (c->state == SHIM_RECORDING) {
		set_state(c, SHIM_STOPPING);
		stop(c);
	}
	set_state(c, SHIM_PARKED);
	return SHIM_OK;
}

static int obey(struct shim_control *c, uint32_t command)
{
	switch (command) {
	case SHIM_RECORD:
		functions__set(c);
		return record(c);
	case SHIM_FLUSH:
		if (c->state == SHIM_RECORDING)
			window__flush(c, 0);
		return SHIM_OK;
	case SHIM_YIELD:
		park(c, window__yield);
		return SHIM_OTHER_SUBSCRIBER;
	default:
		functions__clear(c);
		return park(c, window__stop);
	}
}

/* ---- the thread ---- */

static bool is_overtaken(uint32_t number)
{
	return __atomic_load_n(&newest, __ATOMIC_ACQUIRE) != number;
}

/* The kernel marks the liveness futex. Without a futex, or while proftrace is stopped, missing
 * heartbeats show it. proftrace locks the process while it loads the library. So if another one
 * comes, the first one has died. */
static bool proftrace_is_dead(const struct shim_control *c)
{
	/* A heartbeat uses the clock that was set before it. */
	uint64_t beat = __atomic_load_n(&c->heartbeat_ns, __ATOMIC_ACQUIRE), now;
	uint64_t limit = c->heartbeat_timeout_ns;

	__atomic_store_n(&shim_clock_ahead_ns,
			 __atomic_load_n(&c->clock_ahead_ns, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
	now = shim_now();
	if (__atomic_load_n(&c->owner, __ATOMIC_ACQUIRE) & SHIM_OWNER_DIED)
		return true;
	if (made_fd >= 0 && is_overtaken(made_for) && limit > ADOPT_NS)
		limit = ADOPT_NS;
	return now > beat && now - beat > limit;
}

static void wait_command(struct shim_control *c, uint32_t seen)
{
	const struct timespec timeout = {.tv_nsec = TICK_NS};

	syscall(SYS_futex, &c->command_seq, FUTEX_WAIT, seen, &timeout, NULL, 0);
}

static void serve(struct shim_control *c)
{
	uint64_t flushed_ns = shim_now();
	uint32_t seq, command = 0;

	while (command != SHIM_LEAVE && !proftrace_is_dead(c)) {
		seq = __atomic_load_n(&c->command_seq, __ATOMIC_ACQUIRE);
		if (seq == c->done_seq) {
			wait_command(c, seq);
			if (c->state == SHIM_RECORDING && shim_now() - flushed_ns > FLUSH_NS) {
				window__flush(c, 0);
				flushed_ns = shim_now();
			}
			continue;
		}
		command = __atomic_load_n(&c->command, __ATOMIC_ACQUIRE);
		close_made();
		c->error = (uint32_t)obey(c, command);
		if (command != SHIM_LEAVE)
			__atomic_store_n(&c->done_seq, seq, __ATOMIC_RELEASE);
	}
	functions__clear(c);
	park(c, window__stop);
	set_state(c, SHIM_LEFT);
	__atomic_store_n(&c->done_seq, c->command_seq, __ATOMIC_RELEASE);
}

static void *thread_main(void *unused)
{
	prctl(PR_SET_NAME, SHIM_THREAD_NAME);
	serve(control);
	close_made();
	set_control(NULL);
	unmap_file();
	__atomic_store_n(&serving, 0, __ATOMIC_RELEASE);
	return unused;
}

/* Detached, with all signals blocked, because they belong to the program. */
static int start_thread(void)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, SIGSET_BYTES);
	err = pthread_create(&thread, &attr, thread_main, NULL);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, SIGSET_BYTES);
	pthread_attr_destroy(&attr);
	return -err;
}

/* ---- the process's end ---- */

/* Records so far go to the file. All else of CUPTI ends with the process. */
static void on_exit_of_process(void)
{
	struct shim_control *c = __atomic_load_n(&control, __ATOMIC_ACQUIRE);

	if (!c)
		return;
	functions__end(c);
	if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != SHIM_RECORDING)
		return;
	window__flush(c, CUPTI_FLUSH_FORCED);
	__atomic_store_n(&c->exited, 1, __ATOMIC_RELEASE);
}

/* The child has neither our thread nor a device. It must not write to its parent's file. */
static void on_fork_in_child(void)
{
	calls__connect(NULL);
	functions__forget();
	foreign_tool__unwatch();
	window__forget();
	close_made();
	set_control(NULL);
	if (mapped)
		unmap_file();
	serving = 0;
	attaching = 0; /* the caller in attach() is not in the child */
}

static int prepare_once(void)
{
	static bool prepared;

	if (!prepared) {
		if (pthread_atfork(NULL, NULL, on_fork_in_child) || atexit(on_exit_of_process))
			return -ENOMEM;
		own_name__set();
		prepared = true;
	}
	return 0;
}

/* ---- the doors ---- */

static bool is_serving(void)
{
	return __atomic_load_n(&serving, __ATOMIC_ACQUIRE);
}

static void pause_shortly(void)
{
	const struct timespec pause = {.tv_nsec = 20 * MS};

	nanosleep(&pause, NULL);
}

/* Waits until the library has left the file of a dead proftrace. Returns if that one lives: it
 * holds the futex, or its heartbeat continues. */
static void await_left(uint32_t number)
{
	const struct shim_control *c = mapped; /* stays mapped, see map_file() */
	uint64_t until = shim_now() + LEAVE_NS, beat = 0;
	uint32_t owner = 0;

	if (is_serving())
		beat = __atomic_load_n(&c->heartbeat_ns, __ATOMIC_RELAXED);
	while (is_serving() && shim_now() < until && !is_overtaken(number) &&
	       __atomic_load_n(&c->heartbeat_ns, __ATOMIC_RELAXED) <= beat) {
		owner = __atomic_load_n(&c->owner, __ATOMIC_ACQUIRE);
		if (owner && !(owner & SHIM_OWNER_DIED))
			return;
		pause_shortly();
	}
}

static int attach(const char *path, uint32_t number)
{
	struct shim_control *c = NULL;
	int err;

	if (!*path)
		await_left(number);
	if (is_serving() || (!*path && is_overtaken(number)))
		return -EBUSY;
	err = prepare_once();
	made_for = number;
	if (!err)
		err = *path ? open_file(path, &c) : make_file(&c);
	if (err)
		return err;
	set_control(c);
	err = made_fd < 0 ? 0 : made_fd;
	serving = 1;
	if (start_thread()) {
		set_state(c, SHIM_LEFT);
		close_made();
		set_control(NULL);
		unmap_file();
		serving = 0;
		err = -EAGAIN;
	}
	return err;
}

/* Lets one caller in at a time. A waiting caller gives up when another comes, because its own
 * proftrace has died. */
static bool enter(bool may_wait, uint32_t number)
{
	while (__atomic_exchange_n(&attaching, 1, __ATOMIC_ACQUIRE)) {
		if (!may_wait || is_overtaken(number))
			return false;
		pause_shortly();
	}
	return true;
}

int proftrace_cupti_attach(const char *path)
{
	uint32_t number = *path ? 0 : __atomic_add_fetch(&newest, 1, __ATOMIC_ACQ_REL);
	int err;

	if (!enter(!*path, number))
		return -EBUSY;
	err = attach(path, number);
	__atomic_store_n(&attaching, 0, __ATOMIC_RELEASE);
	return err;
}

int InitializeInjection(void)
{
	const char *path = getenv(SHIM_ENV);

	if (path && *path)
		proftrace_cupti_attach(path);
	return 1; /* the program continues, whatever our result is */
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads a shared object into a running process and calls one function of it, harmlessly.
 *
 * ptrace stops one thread of the process, at a point where it holds no lock of the dynamic loader
 * or of malloc. It stays stopped for one call of pthread_create in it (well below 1 ms on a quiet
 * machine). Then it goes on as before. The new thread does the slow part, dlopen, dlsym and the
 * call, while the process runs, and ends. It has all signals blocked.
 *
 * Whatever dies, the process lives. The code that the stopped thread runs restores that thread by
 * itself if nobody else does. It needs no state of the tracer for that.
 */
#ifndef PROFTRACE_INJECT_H
#define PROFTRACE_INJECT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct inject_request {
	/* The object to load: a path that the process can open in its mount namespace, or the
	 * contents of a shared object. Contents need a name for the process's memory map. */
	const char *path;
	const void *image;
	size_t image_size;
	const char *image_name; /* "libproftrace_cupti.so"; at most 200 characters */

	const char *symbol; /* int64_t symbol(const char *arg) */
	const char *arg;    /* at most 1000 characters; valid during the call only */

	/* System calls that the object makes, besides those of the dynamic loader and of a thread.
	 * The injection is refused if a seccomp filter forbids one. May be NULL. */
	const int *syscalls;
	size_t syscall_cnt;

	unsigned int deadline_ms; /* for everything, including the call; 0: 5000 */
	const volatile sig_atomic_t *user_stop; /* not 0: the user wants an end; NULL: never */
};

struct inject_result {
	uint64_t handle;      /* from dlopen; 0 if the object was there already */
	bool already_loaded;  /* its name is in the memory map, so it is only called */
	int64_t value;	      /* what the function returned */
	uint64_t stopped_ns;  /* total time for which threads of the process were stopped */
	unsigned int stops;   /* how often a thread was stopped to check whether it can be used */
	pid_t tid;	      /* the thread that was used */
	bool filtered;	      /* set by inject__check(): the process has a seccomp filter */
	char reason[320];     /* why it failed, in words; empty on success */
};

/*
 * 0 or a negative errno with err__set and the same words in result->reason:
 * -ESRCH       no such process, or it ended meanwhile
 * -EPERM       not allowed to trace it
 * -EBUSY       another tracer has it (named)
 * -EOPNOTSUPP  static, 32-bit, not glibc, no thread library, or not x86-64 on this machine
 * -EACCES      its seccomp filter forbids a system call that is needed (named)
 * -ELIBBAD     dlopen or dlsym failed; the reason has the loader's own words
 * -EAGAIN      no thread came to a safe point before the deadline
 * -ETIMEDOUT   the loader or the function took longer: what was loaded is unloaded again once the
 *              loader is done; a function that has begun is left to end in its own thread
 * -ETIME       a thread did not come back from its pthread_create. Its signals are blocked until
 *              it does; then our code restores its registers and its signal mask.
 * -EINTR       *user_stop was set
 * Nothing is left in the process but the object itself; after -ETIME and -EINTR our code, too.
 */
int inject__load(pid_t pid, const struct inject_request *request, struct inject_result *result);

/*
 * Would inject__load() succeed, as far as /proc shows? Stops and changes nothing. 0 (with
 * result->already_loaded), or an error as above. What a seccomp filter allows is known only at
 * loading.
 */
int inject__check(pid_t pid, const struct inject_request *request, struct inject_result *result);

#endif

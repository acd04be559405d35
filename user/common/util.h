/* SPDX-License-Identifier: BSD-2-Clause */
/* Small helpers for all rooms: scoped release, growing arrays, time. */
#ifndef PROFTRACE_UTIL_H
#define PROFTRACE_UTIL_H

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "common/clock.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Released when the scope ends. */
static inline void cleanup__free(void *p) { free(*(void **)p); }
static inline void cleanup__close(const int *fd) { if (*fd >= 0) close(*fd); }
static inline void cleanup__fclose(FILE **f) { if (*f) fclose(*f); }
#define auto_free __attribute__((cleanup(cleanup__free)))
#define auto_close __attribute__((cleanup(cleanup__close)))
#define auto_fclose __attribute__((cleanup(cleanup__fclose)))

/* Repeats a system call until no signal interrupts it. The value is the call's last result. */
#define UNINTERRUPTED(call)                                                                        \
	({                                                                                         \
		__typeof__(call) result_;                                                          \
		do                                                                                 \
			result_ = (call);                                                          \
		while (result_ < 0 && errno == EINTR);                                             \
		result_;                                                                           \
	})

/* Makes room for one more element of a growing array; 0 or -ENOMEM. */
int array__reserve(void **items, size_t *cap, size_t cnt, size_t item_size);

/* Appends `item` to the array `items`, whose variables `cnt` and `cap` are size_t. */
#define ARRAY_PUSH(items, cnt, cap, item)                                                          \
	({                                                                                         \
		int err__ = array__reserve((void **)&(items), &(cap), (cnt), sizeof(*(items)));    \
		if (!err__)                                                                        \
			(items)[(cnt)++] = (item);                                                 \
		err__;                                                                             \
	})

/* `cnt` items are sorted such that `is_first` (an expression with index i) is true for the first
 * ones. The number of these, by binary search. */
#define COUNT_FIRST(cnt, i, is_first)                                                              \
	({                                                                                         \
		size_t low__ = 0, high__ = (cnt);                                                  \
		while (low__ < high__) {                                                           \
			size_t mid__ = low__ + (high__ - low__) / 2;                               \
			const size_t i = mid__;                                                    \
			if (is_first)                                                              \
				low__ = mid__ + 1;                                                 \
			else                                                                       \
				high__ = mid__;                                                    \
		}                                                                                  \
		low__;                                                                             \
	})

/* Equal texts? Either may be NULL; NULL equals nothing. */
static inline bool text__is(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static inline uint64_t clock__ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Reads a whole small file (of procfs, too), NUL-terminated. *len gets the length, if not NULL.
 * Caller frees. NULL with errno on error; EFBIG: it is larger than FILE_READ_MAX. */
#define FILE_READ_MAX (64u << 20)
char *file__read(const char *path, size_t *len);
/* Reads at most `limit` bytes, NUL-terminated; limit is at least 1. *cut: the file has more. */
char *file__read_up_to(const char *path, size_t limit, size_t *len, bool *cut);
/* The entries of a directory; use closedir(). The directory's descriptor may be of O_PATH and stays
 * open. NULL on error. */
DIR *dir__entries(int dir);
/* Do both paths lead to one file that exists? */
bool file__is_same(const char *a, const char *b);

/* What the process shows as its /proc/PID/cmdline or environ. At most PROC_TEXT_MAX bytes; there is
 * a warning if it has more. Three such processes are named; others are counted at exit.
 * NUL-terminated; caller frees; NULL with errno on error. */
#define PROC_TEXT_MAX (1u << 20)
char *proc__text(pid_t pid, const char *name, size_t *len);

/* Calls fn for each thread of the process. Stops at the first result that is not 0, and returns it.
 * 0 also if the process is gone. */
int proc__each_task(pid_t pid, int (*fn)(void *ctx, pid_t tid), void *ctx);
/* Calls fn for each child of each thread of the process. Stops at the first result that is not 0,
 * and returns it. 0 also if the process is gone. */
int proc__each_child(pid_t pid, int (*fn)(void *ctx, pid_t child), void *ctx);

/* The begin of the value in "name:\tvalue" in the text of /proc/TID/status. NULL: there is none. */
const char *status__field(const char *status, const char *name);
/* The last number of a field such as "4242\t17", which belongs to the innermost namespace. 0:
 * none. */
pid_t status__last_number(const char *field);

/* Nanoseconds of CPU time of all threads of a process, ended ones included. 0: the process is
 * gone. */
uint64_t process__cpu_ns(pid_t pid);

/* The number after "field:" in /proc/TID/status; 0 if there is none. */
int proc__status(pid_t tid, const char *field);

/* A thread's own number in its innermost pid namespace. 0: the thread is gone. */
pid_t proc__innermost_tid(pid_t tid);

#endif

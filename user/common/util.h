/* SPDX-License-Identifier: BSD-2-Clause */
/* Small things that everything uses: scoped release, growing arrays, time. */
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

/* What a system call returns once no signal interrupts it. */
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

/* Appends `item` to `items` (pointer), with `cnt` and `cap` (size_t) beside it. */
#define ARRAY_PUSH(items, cnt, cap, item)                                                          \
	({                                                                                         \
		int err__ = array__reserve((void **)&(items), &(cap), (cnt), sizeof(*(items)));    \
		if (!err__)                                                                        \
			(items)[(cnt)++] = (item);                                                 \
		err__;                                                                             \
	})

/* Of `cnt` items in order, how many are the first ones: those for whose index `i` the expression
 * `is_first` is true. Binary search. */
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

/* Either may be NULL: then they are not the same. */
static inline bool text__is(const char *a, const char *b) { return a && b && !strcmp(a, b); }

static inline uint64_t clock__ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

/* Reads a whole small file (procfs too), NUL-terminated; length in *len if not NULL.
 * Caller frees; NULL with errno set on error, EFBIG for one of more than FILE_READ_MAX. */
#define FILE_READ_MAX (64u << 20)
char *file__read(const char *path, size_t *len);
/* Reads at most `limit` bytes, at least 1, NUL-terminated; *cut: there are more. */
char *file__read_up_to(const char *path, size_t limit, size_t *len, bool *cut);
/* The entries of a directory, whose descriptor may be of O_PATH and stays open; closedir() them. NULL on
 * error. */
DIR *dir__entries(int dir);
/* Do both paths lead to one file that exists? */
bool file__is_same(const char *a, const char *b);

/* What the process chose to show as /proc/PID/cmdline or environ: its first PROC_TEXT_MAX bytes,
 * with a warning if there are more. Three such processes are named, and the others counted when we
 * exit. NUL-terminated; caller frees; NULL with errno set on error. */
#define PROC_TEXT_MAX (1u << 20)
char *proc__text(pid_t pid, const char *name, size_t *len);

/* Calls fn for each thread of the process, up to the first result other than 0, and returns it. 0 also if
 * the process is gone. */
int proc__each_task(pid_t pid, int (*fn)(void *ctx, pid_t tid), void *ctx);
/* Calls fn for each child of each thread of the process, up to the first result other than 0, and returns
 * it. 0 also if the process is gone. */
int proc__each_child(pid_t pid, int (*fn)(void *ctx, pid_t child), void *ctx);

/* Where the value of "name:\tvalue" begins in the text of /proc/TID/status; NULL: there is none. */
const char *status__field(const char *status, const char *name);
/* The last of the numbers of a field, "4242\t17", which is one of the innermost namespace; 0: none. */
pid_t status__last_number(const char *field);

/* Nanoseconds that all threads of a process have run, those that ended too; 0: it is gone. */
uint64_t process__cpu_ns(pid_t pid);

/* The number after "field:" in /proc/TID/status; 0 if there is none. */
int proc__status(pid_t tid, const char *field);

/* What a thread calls itself, in the innermost pid namespace that it is in; 0: it is gone. */
pid_t proc__innermost_tid(pid_t tid);

#endif

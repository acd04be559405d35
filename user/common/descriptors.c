// SPDX-License-Identifier: BSD-2-Clause
#include "common/descriptors.h"
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include "common/util.h"

void descriptors__allow_most(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

/* after: UINT_MAX closes up to the last descriptor. */
static void close_between(int before, unsigned int after)
{
	const unsigned int first = (unsigned int)before + 1,
			   last = after == UINT_MAX ? after : after - 1;

	if (first > last || !syscall(SYS_close_range, first, last, 0))
		return;
	/* for kernels before Linux 5.9 */
	for (unsigned int i = (unsigned int)sysconf(_SC_OPEN_MAX); i-- > first;)
		if (i <= last)
			close((int)i);
}

/* If one of fds has this number, moves it to a free number from `first` on. */
static int move_away(int *fds, size_t cnt, int number, int first)
{
	for (size_t i = 0; i < cnt; i++)
		if (fds[i] == number) {
			fds[i] = fcntl(number, F_DUPFD_CLOEXEC, first);
			return fds[i] < 0 ? -errno : 0;
		}
	return 0;
}

int descriptors__keep(int *fds, size_t cnt, int first)
{
	for (size_t i = 0; i < cnt; i++) {
		const int to = first + (int)i;
		int err = move_away(fds + i + 1, cnt - i - 1, to, first + (int)cnt);

		if (err)
			return err;
		if (fds[i] != to && dup3(fds[i], to, O_CLOEXEC) < 0)
			return -errno;
		fds[i] = to;
	}
	close_between(first + (int)cnt - 1, UINT_MAX);
	return 0;
}

int descriptors__keep_only(int fd, int first)
{
	int err = descriptors__keep(&fd, 1, first);

	return err ? err : fd;
}

void descriptors__keep_two(int a, int b, int first)
{
	const int low = a < b ? a : b, high = a < b ? b : a;

	close_between(first - 1, (unsigned int)low);
	close_between(low, (unsigned int)high);
	close_between(high, UINT_MAX);
}

size_t descriptors__open_cnt(void)
{
	struct rlimit files = {.rlim_cur = 1024};
	size_t cnt = 0;

	getrlimit(RLIMIT_NOFILE, &files);
	for (rlim_t fd = 0; fd < files.rlim_cur; fd++)
		cnt += fcntl((int)fd, F_GETFD) >= 0;
	return cnt;
}

const char *descriptors__why(int err, size_t needed)
{
	static _Thread_local char text[256];
	struct rlimit files = {0};
	size_t open_cnt, enough = 1024;
	char more[64] = "";

	if (err == -ENFILE) {
		snprintf(text, sizeof(text),
			 "the machine's limit of open files is reached; raise it (sysctl "
			 "fs.file-max)");
		return text;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	open_cnt = descriptors__open_cnt();
	while (enough < open_cnt + 2 * needed)
		enough *= 2;
	/* Other descriptors may have been closed since. Then this call did not need too many. */
	if (open_cnt + needed > files.rlim_cur && needed)
		snprintf(more, sizeof(more), ", and at least %zu more are needed", needed);
	snprintf(text, sizeof(text),
		 "too many open files: %zu are open, the limit is %llu%s; raise it (ulimit -n %zu)",
		 open_cnt, (unsigned long long)files.rlim_cur, more, enough);
	return text;
}

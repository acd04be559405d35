// SPDX-License-Identifier: BSD-2-Clause
#include "common/util.h"
#include "common/err.h"
#include "common/message_table.h"
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int array__reserve(void **items, size_t *cap, size_t cnt, size_t item_size)
{
	size_t want;
	void *grown;

	if (cnt < *cap)
		return 0;
	want = *cap ? *cap * 2 : 16;
	if (want > SIZE_MAX / item_size)
		return -ENOMEM;
	grown = realloc(*items, want * item_size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*cap = want;
	return 0;
}

bool file__is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* Makes room for one more byte than was read, up to limit. False: out of memory. */
static bool make_room(char **buf, size_t *cap, size_t cnt, size_t limit)
{
	size_t want = *cap ? *cap * 2 : 4096;
	char *grown;

	if (cnt + 1 < *cap)
		return true;
	if (want > limit + 1)
		want = limit + 1;
	grown = realloc(*buf, want);
	if (!grown)
		return false;
	*buf = grown;
	*cap = want;
	return true;
}

char *file__read_up_to(const char *path, size_t limit, size_t *len, bool *cut)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t cap = 0, cnt = 0;
	char *buf = NULL, more;
	ssize_t n = 1;

	if (fd < 0)
		return NULL;
	while (n > 0 && cnt < limit) {
		if (!make_room(&buf, &cap, cnt, limit))
			goto fail;
		n = read(fd, buf + cnt, cap - cnt - 1);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n < 0)
			goto fail;
		else
			cnt += (size_t)n;
	}
	*cut = n > 0 && UNINTERRUPTED(read(fd, &more, 1)) > 0;
	buf[cnt] = '\0';
	if (len)
		*len = cnt;
	return buf;
fail:
	free(buf);
	return NULL;
}

char *file__read(const char *path, size_t *len)
{
	bool cut;
	char *text = file__read_up_to(path, FILE_READ_MAX, len, &cut);

	if (!text || !cut)
		return text;
	free(text);
	errno = EFBIG;
	return NULL;
}

/* Many short-lived processes may each have such a long text. */
#define CUTS_NAMED 3

static size_t unnamed_cuts;

static void warn_unnamed_cuts(void)
{
	log__warn(MESSAGE_PROCESS_TEXTS_CUT_OFF, PROC_TEXT_MAX >> 10, unnamed_cuts);
}

/* Several parts of proftrace read the same process. */
static void warn_cut(pid_t pid, const char *name)
{
	static pid_t named[CUTS_NAMED];
	static size_t cnt;

	for (size_t i = 0; i < cnt; i++)
		if (named[i] == pid)
			return;
	if (cnt == CUTS_NAMED) {
		if (!unnamed_cuts++)
			atexit(warn_unnamed_cuts);
		return;
	}
	named[cnt++] = pid;
	log__warn(MESSAGE_PROCESS_TEXT_CUT_OFF, pid, name, PROC_TEXT_MAX >> 10);
}

char *proc__text(pid_t pid, const char *name, size_t *len)
{
	char path[40], *text;
	bool cut = false;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	text = file__read_up_to(path, PROC_TEXT_MAX, len, &cut);
	if (text && cut)
		warn_cut(pid, name);
	return text;
}

/* Format of /proc/PID/task/TID/children: pids separated by blanks. */
static int each_listed(const char *list, int (*fn)(void *ctx, pid_t child), void *ctx)
{
	char *rest;
	int err = 0;

	for (long pid = strtol(list, &rest, 10); pid > 0 && !err; pid = strtol(list, &rest, 10)) {
		list = rest;
		err = fn(ctx, (pid_t)pid);
	}
	return err;
}

int proc__each_task(pid_t pid, int (*fn)(void *ctx, pid_t tid), void *ctx)
{
	const struct dirent *entry;
	char path[64];
	DIR *tasks;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return errno == ENOMEM ? -ENOMEM : 0;
	while (!err && (entry = readdir(tasks))) {
		const pid_t tid = (pid_t)atoi(entry->d_name);

		err = tid ? fn(ctx, tid) : 0;
	}
	closedir(tasks);
	return err;
}

struct each_child {
	pid_t pid;
	int (*fn)(void *ctx, pid_t child);
	void *ctx;
};

static int children_of_task(void *ctx, pid_t tid)
{
	const struct each_child *e = ctx;
	auto_free char *list = NULL;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", e->pid, tid);
	list = file__read(path, NULL);
	return list ? each_listed(list, e->fn, e->ctx) : 0;
}

int proc__each_child(pid_t pid, int (*fn)(void *ctx, pid_t child), void *ctx)
{
	return proc__each_task(pid, children_of_task, &(struct each_child){pid, fn, ctx});
}

const char *status__field(const char *status, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = status; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) == 0 && line[len] == ':')
			return line + len + 1 + strspn(line + len + 1, "\t ");
	}
	return NULL;
}

pid_t status__last_number(const char *field)
{
	pid_t n = 0;

	while (field && isdigit((unsigned char)*field)) {
		char *end;

		n = (pid_t)strtol(field, &end, 10);
		field = end + strspn(end, "\t ");
	}
	return n;
}

static char *read_status(pid_t tid)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	return file__read(path, NULL);
}

uint64_t process__cpu_ns(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) ? 0 : clock__ns(clock);
}

int proc__status(pid_t tid, const char *field)
{
	auto_free char *status = read_status(tid);
	const char *value = status__field(status, field);

	return value ? atoi(value) : 0;
}

pid_t proc__innermost_tid(pid_t tid)
{
	auto_free char *status = read_status(tid);

	return status__last_number(status__field(status, "NSpid"));
}

DIR *dir__entries(int dir)
{
	const int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *entries = own < 0 ? NULL : fdopendir(own);

	if (!entries && own >= 0)
		close(own);
	return entries;
}

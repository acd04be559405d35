// SPDX-License-Identifier: BSD-2-Clause
/* The present state of a process: its threads, memory and files. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include "common/err.h"
#include "target/message_table.h"
#include "common/regular_file.h"
#include "common/util.h"
#include "target/in_root.h"
#include "target/target_priv.h"

#define MAX_THREADS    (1u << 20)
#define MAX_FILE_BYTES (64 << 20)

struct proc_path proc_path(pid_t pid, const char *entry)
{
	struct proc_path p;

	snprintf(p.s, sizeof(p.s), "/proc/%d/%s", pid, entry);
	return p;
}

int target__no_process(pid_t pid)
{
	return err__set(-ESRCH, MESSAGE_PROCESS_MISSING, pid);
}

struct thread_list {
	pid_t pid;
	struct target_thread *threads;
	size_t cnt, cap;
};

static int add_thread(void *ctx, pid_t tid)
{
	struct thread_list *list = ctx;
	struct target_thread th = {.tid = tid};
	char path[64];
	auto_free char *comm = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", list->pid, tid);
	comm = file__read(path, NULL);
	if (!comm) /* the thread ended after the directory was read */
		return 0;
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(th.comm, sizeof(th.comm), "%s", comm);
	if (list->cnt >= MAX_THREADS)
		return -E2BIG;
	return ARRAY_PUSH(list->threads, list->cnt, list->cap, th);
}

int target__threads(const struct target *t, struct target_thread **out, size_t *cnt)
{
	struct thread_list list = {.pid = t->pid};
	int err = proc__each_task(t->pid, add_thread, &list);

	if (err) {
		free(list.threads);
		return err__set(err, MESSAGE_THREADS_UNREADABLE, t->pid, strerror(-err));
	}
	if (!list.cnt)
		return target__no_process(t->pid);
	*out = list.threads;
	*cnt = list.cnt;
	return 0;
}

bool target_threads__any(pid_t pid, bool (*fits)(const char *comm))
{
	const struct target t = {.pid = pid};
	auto_free struct target_thread *threads = NULL;
	size_t cnt = 0;
	int err = target__threads(&t, &threads, &cnt);

	if (err)
		err__take(err); /* the process has ended */
	for (size_t i = 0; i < cnt; i++)
		if (fits(threads[i].comm))
			return true;
	return false;
}

int target__read_of(pid_t pid, uint64_t addr, void *buf, size_t len)
{
	struct iovec local = {buf, len}, remote = {(void *)(uintptr_t)addr, len}; // NOLINT
	auto_close int fd = -1;
	size_t done = 0;

	if (process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)len)
		return 0;
	/* Seccomp, or a page without read permission: /proc/PID/mem may still work. */
	fd = open(proc_path(pid, "mem").s, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (done < len) {
		ssize_t n = pread(fd, (char *)buf + done, len - done, (off_t)(addr + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

int target__read(const struct target *t, uint64_t addr, void *buf, size_t len)
{
	return target__read_of(t->pid, addr, buf, len);
}

/* The target controls the path. So links cannot lead out of its root, and pipes and devices are
 * refused. */
int target__open_file(const struct target *t, const char *path)
{
	auto_close int root = open(proc_path(t->pid, "root").s, O_PATH | O_CLOEXEC | O_DIRECTORY);
	auto_close int seen = -1;

	if (root < 0)
		return -errno;
	seen = in_root__find(root, path);
	return seen < 0 ? seen : regular_file__reopen(seen, O_RDONLY);
}

const char *target__own_path(const struct target *t, const char *listed)
{
	size_t len = t->root ? strlen(t->root) : 0;

	return !strncmp(listed, t->root ? t->root : "", len) && listed[len] == '/' ? listed + len
										   : listed;
}

char *target__read_file(const struct target *t, const char *path, size_t *len)
{
	auto_close int fd = target__open_file(t, path);
	struct stat st;
	char self[32];

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > MAX_FILE_BYTES) {
		errno = fd < 0 ? -fd : EFBIG;
		return NULL;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	return file__read(self, len);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "target/target.h"
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/mounts.h"
#include "common/regular_file.h"
#include "common/util.h"
#include "target/in_root.h"
#include "target/rank.h"
#include "target/target_priv.h"

#define MAX_THREADS    (1u << 20)
#define MAX_FILE_BYTES (64 << 20)
#define PF_KTHREAD     0x00200000 /* include/linux/sched.h */

struct proc_path proc_path(pid_t pid, const char *entry)
{
	struct proc_path p;

	snprintf(p.s, sizeof(p.s), "/proc/%d/%s", pid, entry);
	return p;
}

/* ---- identity ---- */

struct proc_stat {
	char comm[16];
	char state;
	unsigned int flags;
	uint64_t start_time;
};

static int read_stat(pid_t pid, struct proc_stat *st)
{
	auto_free char *text = file__read(proc_path(pid, "stat").s, NULL);
	char *open_paren, *close_paren;

	if (!text)
		return -errno;
	/* The name may hold spaces and parentheses: it ends at the last one. */
	open_paren = strchr(text, '(');
	close_paren = strrchr(text, ')');
	if (!open_paren || !close_paren || close_paren < open_paren)
		return -EIO;
	*close_paren = '\0';
	snprintf(st->comm, sizeof(st->comm), "%s", open_paren + 1);
	if (sscanf(close_paren + 1,
		   " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %lu",
		   &st->state, &st->flags, &st->start_time) != 3)
		return -EIO;
	return 0;
}

static bool state_is_stopped(char state)
{
	return state == 'T' || state == 't';
}

static int no_such_process(pid_t pid)
{
	return err__set(-ESRCH, "no process %d: it has exited or never was; see `ps -e`", pid);
}

static int unread_status(pid_t pid, int err)
{
	if (err == -ENOMEM)
		return err__set(err, "process %d: cannot read its status: out of memory", pid);
	if (descriptors__lack(err))
		return err__set(err, "process %d: cannot read its status: %s", pid,
				descriptors__why(err, 0));
	/* A process that can be signalled exists. */
	if (kill(pid, 0) == 0 || errno == EPERM)
		return err__set(-EACCES,
				"process %d exists, but /proc hides it (its mount option hidepid); "
				"run with sudo",
				pid);
	return no_such_process(pid);
}

static int read_identity(struct target *t)
{
	auto_free char *status = file__read(proc_path(t->pid, "status").s, NULL);
	struct proc_stat st;
	const char *field;
	int err;

	if (!status)
		return unread_status(t->pid, -errno);
	err = read_stat(t->pid, &st);
	if (err == -ENOMEM)
		return unread_status(t->pid, err);
	if (err)
		return no_such_process(t->pid);
	field = status__field(status, "Tgid");
	if (field && atoi(field) != t->pid)
		return err__set(-EINVAL, "%d is a thread (%s) of process %d; use -p %d", t->pid,
				st.comm, atoi(field), atoi(field));
	field = status__field(status, "PPid");
	if ((st.state == 'Z' || st.state == 'X') && field && atoi(field) == getpid())
		return err__set(-ESRCH,
				"process %d (%s) has ended already: too soon to be profiled; does "
				"another process do its work?",
				t->pid, st.comm);
	if (st.state == 'Z' || st.state == 'X')
		return err__set(-ESRCH,
				"process %d (%s) is a zombie: it has exited, its parent has not "
				"collected it; there is nothing left to profile",
				t->pid, st.comm);
	field = status__field(status, "Uid");
	t->uid = field ? (uid_t)strtoul(field, NULL, 10) : 0;
	t->ns_pid = status__last_number(status__field(status, "NSpid"));
	if (!t->ns_pid)
		t->ns_pid = t->pid;
	memcpy(t->comm, st.comm, sizeof(t->comm));
	t->start_time = st.start_time;
	t->is_kthread = st.flags & PF_KTHREAD;
	t->is_stopped = state_is_stopped(st.state);
	return 0;
}

/* Namespaces are told apart by device and inode of the link's target; unreadable counts as ours. */
static bool is_foreign_ns(pid_t pid, const char *ns)
{
	struct stat ours, theirs;
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/%s", ns);
	if (stat(self, &ours) < 0 || stat(proc_path(pid, ns).s, &theirs) < 0)
		return false;
	return ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino;
}

/* /proc lists paths from our root on, or from the root of the target's mounts if ours is not among
 * them. A target in a chroot calls them by shorter paths. */
static int read_root(struct target *t)
{
	char path[PATH_MAX];
	ssize_t len = readlink(proc_path(t->pid, "root").s, path, sizeof(path) - 1);

	path[len > 1 ? len : 0] = '\0'; /* "/" begins them all */
	t->root = strdup(path);
	return t->root ? 0 : -ENOMEM;
}

static int read_exe(struct target *t)
{
	struct elf_file *elf = NULL;
	char path[PATH_MAX];
	ssize_t len = readlink(proc_path(t->pid, "exe").s, path, sizeof(path) - 1);
	int err;

	if (len < 0 && errno == ENOENT && t->is_kthread)
		return 0;
	if (len < 0 && (errno == EACCES || errno == EPERM))
		return err__set(errno == EACCES ? -EACCES : -EPERM,
				"cannot inspect process %d (%s, user %u): %s", t->pid, t->comm,
				t->uid, capability__why_refused(CAPABILITY(CAP_SYS_PTRACE)));
	if (len < 0)
		return no_such_process(t->pid);
	path[len] = '\0';
	t->exe = strdup(path);
	if (!t->exe)
		return -ENOMEM;
	err = elf_file__open(proc_path(t->pid, "exe").s, &elf);
	if (err == -EPROTONOSUPPORT)
		t->is_32bit = true;
	if (!err)
		t->is_static = elf_file__is_static(elf);
	elf_file__close(elf);
	return 0;
}

#define ARGS_MAX 65536 /* of which a process can show a million empty ones */

int target_argv__split(const char *text, size_t len, char ***argv)
{
	size_t cnt = 0, cap = 0;

	*argv = NULL;
	/* A title (setproctitle) leaves NULs where the arguments were. */
	while (len > 1 && !text[len - 1] && !text[len - 2])
		len--;
	for (size_t at = 0; at < len && cnt < ARGS_MAX; at += strlen(text + at) + 1) {
		char *arg;

		/* The array stays terminated, so that close frees what is there. */
		if (array__reserve((void **)argv, &cap, cnt + 1, sizeof(**argv)))
			return -ENOMEM;
		arg = strdup(text + at);
		(*argv)[cnt] = arg;
		if (!arg)
			return -ENOMEM;
		(*argv)[++cnt] = NULL;
	}
	if (!*argv)
		*argv = calloc(1, sizeof(**argv));
	return *argv ? 0 : -ENOMEM;
}

static int read_argv(struct target *t)
{
	size_t len = 0;
	auto_free char *text = proc__text(t->pid, "cmdline", &len);

	return target_argv__split(text, text ? len : 0, &t->argv);
}

/* ---- life cycle ---- */

int target__open(pid_t pid, struct target **out)
{
	struct target_priv *priv = calloc(1, sizeof(*priv));
	struct target *t;
	int err;

	if (!priv)
		return err__set(-ENOMEM, "out of memory");
	t = &priv->pub;
	t->pid = pid;
	err = mounts__check_proc("/proc");
	if (!err)
		err = read_identity(t);
	if (!err)
		err = read_exe(t);
	if (!err)
		err = read_root(t);
	if (!err)
		err = read_argv(t);
	if (err)
		goto fail;
	t->foreign_mnt_ns = is_foreign_ns(pid, "ns/mnt");
	t->foreign_pid_ns = is_foreign_ns(pid, "ns/pid");
	rank__read(t->pid, &t->rank, &t->local_rank, &t->world_size);
	err = target__refresh_libs(t);
	if (err)
		goto fail;
	if (t->rank < 0)
		rank__read_own(t, &t->rank, &t->local_rank, &t->world_size);
	t->python = target_python__version(t);
	*out = t;
	return 0;
fail:
	target__close(t);
	return err;
}

void target__close(struct target *t)
{
	struct target_priv *priv = (struct target_priv *)t;

	if (!t)
		return;
	for (size_t i = 0; i < priv->elf_cnt; i++) {
		elf_file__close(priv->elfs[i].file);
		free(priv->elfs[i].host_path);
	}
	free(priv->elfs);
	target_libs__free(t->libs, t->lib_cnt);
	for (char **arg = t->argv; arg && *arg; arg++)
		free(*arg);
	free(t->argv);
	free(t->exe);
	free(t->root);
	free(t->unreadable);
	free(t->copied_text);
	free(t->python);
	free(priv);
}

int target__refresh_libs(struct target *t)
{
	struct target_lib *libs;
	size_t cnt;
	int err = target_libs__read(t, &libs, &cnt);

	if (err)
		return err;
	target_libs__free(t->libs, t->lib_cnt);
	t->libs = libs;
	t->lib_cnt = cnt;
	return 0;
}

const struct target_lib *target__find_lib(const struct target *t, const char *pattern)
{
	for (size_t i = 0; i < t->lib_cnt; i++) {
		const char *slash = strrchr(t->libs[i].path, '/');

		if (fnmatch(pattern, slash ? slash + 1 : t->libs[i].path, 0) == 0)
			return &t->libs[i];
	}
	return NULL;
}

/* A file that its owner has cut off since has nothing more to tell. */
static struct elf_file *whole(const struct target_lib *lib, struct elf_file *file)
{
	if (!elf_file__is_torn(file))
		return file;
	err__set(-ESTALE, "%s: was cut off while it was read", lib->path);
	return NULL;
}

struct elf_file *target__elf(struct target *t, const struct target_lib *lib)
{
	struct target_priv *priv = (struct target_priv *)t;
	struct kept_elf kept;

	for (size_t i = 0; i < priv->elf_cnt; i++) {
		if (strcmp(priv->elfs[i].host_path, lib->host_path) == 0)
			return whole(lib, priv->elfs[i].file);
	}
	if (elf_file__open(lib->host_path, &kept.file) < 0)
		return NULL;
	kept.host_path = strdup(lib->host_path);
	if (!kept.host_path || ARRAY_PUSH(priv->elfs, priv->elf_cnt, priv->elf_cap, kept)) {
		free(kept.host_path);
		elf_file__close(kept.file);
		err__set(-ENOMEM, "%s: out of memory", lib->path);
		return NULL;
	}
	return kept.file;
}

void target__drop_elfs(struct target *t)
{
	struct target_priv *priv = (struct target_priv *)t;

	for (size_t i = 0; i < priv->elf_cnt; i++)
		elf_file__drop(priv->elfs[i].file);
}

const struct target_lib *target__lib_at(struct target *t, uint64_t address, uint64_t *vaddr)
{
	const struct target_lib *lib = NULL;
	struct elf_file *elf;
	uint64_t offset;

	for (size_t i = 0; i < t->lib_cnt; i++) {
		const struct target_lib *other = &t->libs[i];

		if (other->base <= address && (!lib || other->base > lib->base))
			lib = other;
	}
	elf = lib ? target__elf(t, lib) : NULL;
	*vaddr = lib ? address - lib->base : 0;
	return elf && !elf_file__offset(elf, *vaddr, &offset) ? lib : NULL;
}

/* ---- as of now ---- */

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
	if (!comm) /* gone since the directory was read */
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
		return err__set(err, "process %d: cannot list its threads: %s", t->pid,
				strerror(-err));
	}
	if (!list.cnt)
		return no_such_process(t->pid);
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
		err__take(err); /* it has ended */
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
	/* Seccomp or a page without read permission: /proc/PID/mem may still do. */
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

/* The path is the target's to shape: links stay inside its root, pipes and devices are refused. */
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

bool target__alive(struct target *t)
{
	struct proc_stat st;

	if (read_stat(t->pid, &st) || st.start_time != t->start_time)
		return false;
	t->is_stopped = state_is_stopped(st.state);
	return st.state != 'Z' && st.state != 'X';
}

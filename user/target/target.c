// SPDX-License-Identifier: BSD-2-Clause
#include "target/target.h"
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "common/message_table.h"
#include "target/message_table.h"
#include "common/mounts.h"
#include "common/util.h"
#include "target/rank_variables.h"
#include "target/target_priv.h"

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

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
	/* The name may contain spaces and parentheses. It ends at the last one. */
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

static int unread_status(pid_t pid, int err)
{
	if (err == -ENOMEM)
		return err__set(err, MESSAGE_PROCESS_STATUS_OUT_OF_MEMORY, pid);
	if (descriptors__lack(err))
		return err__set(err, MESSAGE_PROCESS_STATUS_UNREADABLE, pid,
				descriptors__why(err, 0));
	/* A process that can be signalled exists. */
	if (kill(pid, 0) == 0 || errno == EPERM)
		return err__set(-EACCES, MESSAGE_PROCESS_HIDDEN, pid);
	return target__no_process(pid);
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
		return target__no_process(t->pid);
	field = status__field(status, "Tgid");
	if (field && atoi(field) != t->pid)
		return err__set(-EINVAL, MESSAGE_PROCESS_IS_THREAD, t->pid, st.comm, atoi(field),
				atoi(field));
	field = status__field(status, "PPid");
	if ((st.state == 'Z' || st.state == 'X') && field && atoi(field) == getpid())
		return err__set(-ESRCH, MESSAGE_PROCESS_ENDED_EARLY, t->pid, st.comm);
	if (st.state == 'Z' || st.state == 'X')
		return err__set(-ESRCH, MESSAGE_PROCESS_IS_ZOMBIE, t->pid, st.comm);
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

/* Compares namespaces by device and inode of the link's target. Unreadable counts as ours. */
static bool is_foreign_ns(pid_t pid, const char *ns)
{
	struct stat ours, theirs;
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/%s", ns);
	if (stat(self, &ours) < 0 || stat(proc_path(pid, ns).s, &theirs) < 0)
		return false;
	return ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino;
}

/* /proc lists paths from our root, or from the root of the target's mounts if ours does not contain
 * them. A target in a chroot uses shorter paths. */
static int read_root(struct target *t)
{
	char path[PATH_MAX];
	ssize_t len = readlink(proc_path(t->pid, "root").s, path, sizeof(path) - 1);

	path[len > 1 ? len : 0] = '\0'; /* every path begins with "/" */
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
		return err__set(errno == EACCES ? -EACCES : -EPERM, MESSAGE_PROCESS_NOT_PERMITTED,
				t->pid, t->comm, t->uid,
				capability__why_refused(CAPABILITY(CAP_SYS_PTRACE)));
	if (len < 0)
		return target__no_process(t->pid);
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

#define ARGS_MAX 65536 /* limit, because a process can show a million empty arguments */

int target_argv__split(const char *text, size_t len, char ***argv)
{
	size_t cnt = 0, cap = 0;

	*argv = NULL;
	/* A title (setproctitle) leaves NULs of former arguments. */
	while (len > 1 && !text[len - 1] && !text[len - 2])
		len--;
	for (size_t at = 0; at < len && cnt < ARGS_MAX; at += strlen(text + at) + 1) {
		char *arg;

		/* The array is always terminated, so target__close() can free it. */
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
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
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

bool target__alive(struct target *t)
{
	struct proc_stat st;

	if (read_stat(t->pid, &st) || st.start_time != t->start_time)
		return false;
	t->is_stopped = state_is_stopped(st.state);
	return st.state != 'Z' && st.state != 'X';
}

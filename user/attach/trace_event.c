// SPDX-License-Identifier: BSD-2-Clause
#include "attach/trace_event.h"
#include <bpf/bpf.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include "bpf/probe_cfg.h"
#include "common/err.h"
#include "common/util.h"

struct trace_event {
	char name[96]; /* GROUP/EVENT */
	uint32_t serial;
	pid_t pid;
	int rows_fd;
	struct pt_address *addresses; /* rows of the map that belong to this event */
	size_t address_cnt, address_cap;
};

/* ---- tracefs ---- */

/* Opens tracefs. If the system has not mounted it, mounts it for this process alone. -1:
 * impossible. */
static int tracefs_open(void)
{
	int context, mount = -1;

	mount = open("/sys/kernel/tracing", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mount >= 0 && !faccessat(mount, "uprobe_events", W_OK, 0))
		return mount;
	if (mount >= 0)
		close(mount);
	context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	mount = syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0)
			? -1
			: (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	close(context);
	return mount;
}

/* The prefix of our own groups. Other pid namespaces have other prefixes. */
static void group_prefix(char *out, size_t size)
{
	struct stat ns = {};

	stat("/proc/self/ns/pid", &ns);
	snprintf(out, size, "proftrace_%lu_", (unsigned long)ns.st_ino);
}

static struct {
	bool asked;
	int dir;      /* open for the life of the process; -1: unavailable */
	int commands; /* the same for the file of commands: a recording process has no right to
			 open it later */
	pid_t owner;  /* the process that owns the events: attaching runs in another process */
} tracefs = {.dir = -1, .commands = -1};

static int command(const char *text, size_t len)
{
	if (UNINTERRUPTED(write(tracefs.commands, text, len)) != (ssize_t)len)
		return errno ? -errno : -EIO;
	return 0;
}

static void undefine(const char *name)
{
	char text[128];
	int len = snprintf(text, sizeof(text), "-:%s\n", name);

	if (command(text, (size_t)len))
		log__debug("cannot remove the trace event %s", name);
}

/* The name of the event that a line of uprobe_events defines ("p:GROUP/EVENT PATH:0x..."), if the
 * event belongs to a proftrace that ended. Else NULL. */
static char *stale_name(char *line, const char *prefix)
{
	char *name = strlen(line) > 2 ? line + 2 : line;
	long pid;

	name[strcspn(name, " ")] = '\0';
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return NULL;
	pid = strtol(name + strlen(prefix), NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) && errno == ESRCH ? name : NULL;
}

/* A killed proftrace leaves definitions. Its breakpoints ended with it. */
static void remove_stale(int dir)
{
	auto_free char *text = NULL;
	char prefix[64], path[64], *rest = NULL;
	const char *last = "";

	group_prefix(prefix, sizeof(prefix));
	snprintf(path, sizeof(path), "/proc/self/fd/%d/uprobe_events", dir);
	text = file__read(path, NULL);
	if (!text)
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *name = stale_name(line, prefix);

		if (name && strcmp(name, last) != 0) {
			undefine(name);
			last = name;
		}
	}
}

void trace_event__prepare(void)
{
	if (tracefs.asked)
		return;
	tracefs.asked = true;
	tracefs.owner = getpid();
	tracefs.dir = tracefs_open();
	if (tracefs.dir < 0)
		return;
	tracefs.commands = openat(tracefs.dir, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (tracefs.commands >= 0)
		remove_stale(tracefs.dir);
}

void trace_event__own(void)
{
	tracefs.owner = getpid();
}

bool trace_event__usable(const char *path)
{
	return tracefs.commands >= 0 && !strpbrk(path, " \t\n");
}

/* ---- definition ---- */

static int define(const struct trace_event *e, const char *path, bool is_return,
		  const struct trace_probe *probes, size_t cnt)
{
	char text[4000]; /* the kernel reads only whole lines of less than 4096 bytes */
	size_t len = 0;
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++) {
		char line[1024];
		int n = snprintf(line, sizeof(line), "%c:%s %s:0x%lx\n", is_return ? 'r' : 'p',
				 e->name, path, (unsigned long)probes[i].offset);

		if (n < 0 || (size_t)n >= sizeof(line))
			return -ENAMETOOLONG;
		if (len + (size_t)n > sizeof(text)) {
			err = command(text, len);
			len = 0;
		}
		memcpy(text + len, line, (size_t)n);
		len += (size_t)n;
	}
	return err ? err : command(text, len);
}

static int add_row(struct trace_event *e, uint64_t ip, uint32_t row)
{
	struct pt_address key = {.ip = ip, .event = e->serial};

	if (bpf_map_update_elem(e->rows_fd, &key, &row, BPF_ANY))
		return -errno;
	return ARRAY_PUSH(e->addresses, e->address_cnt, e->address_cap, key);
}

/* Adds a row for each place where the process maps this part of the file. */
static int add_rows(struct trace_event *e, const char *path, const struct trace_probe *probes,
		    size_t cnt)
{
	char maps_path[32], perms[5];
	auto_free char *text = NULL;
	char *rest = NULL;
	struct stat file;
	int err = 0;

	snprintf(maps_path, sizeof(maps_path), "/proc/%d/maps", e->pid);
	text = file__read(maps_path, NULL);
	if (!text || stat(path, &file))
		return -errno;
	for (char *line = strtok_r(text, "\n", &rest); line && !err;
	     line = strtok_r(NULL, "\n", &rest)) {
		unsigned long start, end, offset, inode;
		unsigned int major, minor;

		/* For an overlay's file the device number differs here. So only the inode is
		 * compared. A row for an address without a breakpoint does no harm. */
		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &start, &end, perms, &offset, &major,
			   &minor, &inode) != 7 ||
		    perms[2] != 'x' || inode != file.st_ino)
			continue;
		for (size_t i = 0; i < cnt && !err; i++)
			if (probes[i].offset >= offset && probes[i].offset - offset < end - start)
				err = add_row(e, start + probes[i].offset - offset, probes[i].row);
	}
	return err;
}

int trace_event__new(const char *path, bool is_return, const struct trace_probe *probes, size_t cnt,
		     pid_t pid, int rows_fd, struct trace_event **out)
{
	static atomic_uint serials;
	struct trace_event *e = calloc(1, sizeof(*e));
	char prefix[64];
	int err;

	if (!e)
		return -ENOMEM;
	e->serial = atomic_fetch_add(&serials, 1);
	e->pid = pid;
	e->rows_fd = rows_fd;
	group_prefix(prefix, sizeof(prefix));
	snprintf(e->name, sizeof(e->name), "%s%d/e%u", prefix, tracefs.owner, e->serial);
	/* Programs of return probes find their row through the call's frame. */
	err = is_return ? 0 : add_rows(e, path, probes, cnt);
	if (!err)
		err = define(e, path, is_return, probes, cnt);
	if (err) {
		trace_event__free(e);
		return err;
	}
	*out = e;
	return 0;
}

static int64_t event_id(const struct trace_event *e)
{
	char path[160], text[32];
	ssize_t len;

	snprintf(path, sizeof(path), "events/%s/id", e->name);
	auto_close int fd = openat(tracefs.dir, path, O_RDONLY | O_CLOEXEC);

	len = fd < 0 ? -1 : UNINTERRUPTED(read(fd, text, sizeof(text) - 1));
	if (len <= 0)
		return -ENOENT;
	text[len] = '\0';
	return strtol(text, NULL, 10);
}

int trace_event__open(const struct trace_event *e)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.sample_period = 1,
		.wakeup_events = 1,
	};
	int64_t id = event_id(e);
	int fd;

	if (id < 0)
		return (int)id;
	attr.config = (uint64_t)id;
	fd = (int)syscall(SYS_perf_event_open, &attr, e->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

uint64_t trace_event__cookie(const struct trace_event *e)
{
	return PT_COOKIE_BY_ADDRESS | e->serial;
}

void trace_event__free(struct trace_event *e)
{
	if (!e)
		return;
	undefine(e->name);
	for (size_t i = 0; i < e->address_cnt; i++)
		bpf_map_delete_elem(e->rows_fd, &e->addresses[i]);
	free(e->addresses);
	free(e);
}

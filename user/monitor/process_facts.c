// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/process_facts.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "common/util.h"
#include "frameworks/framework.h"

#define KERNEL_THREAD	 0x00200000 /* PF_KTHREAD of linux/sched.h */
#define STAT_BYTES_MAX	 4096
#define MAPS_BYTES_MAX	 (16u << 20)
#define CGROUP_BYTES_MAX (64u << 10)

static char *read_text(pid_t pid, const char *name, size_t limit)
{
	char path[64];
	bool cut;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return file__read_up_to(path, limit, NULL, &cut);
}

int process_facts__parse(const char *line, struct process_facts *out)
{
	/* The name may contain blanks and parentheses. */
	const char *name = strchr(line, '('), *behind = strrchr(line, ')');
	unsigned long long start;
	unsigned int flags;
	int parent;
	char state;

	if (!name || !behind || behind < name ||
	    sscanf(behind,
		   ") %c %d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &state, &parent, &flags, &start) != 4)
		return -EINVAL;
	if (state == 'Z' || state == 'X')
		return -ESRCH;
	out->parent = parent;
	out->is_kernel = flags & KERNEL_THREAD;
	out->start_ticks = start;
	snprintf(out->command, sizeof(out->command), "%.*s", (int)(behind - name - 1), name + 1);
	return 0;
}

int process_facts__read(pid_t pid, struct process_facts *out)
{
	auto_free char *line = read_text(pid, "stat", STAT_BYTES_MAX);

	*out = (struct process_facts){.pid = pid};
	return line ? process_facts__parse(line, out) : -ESRCH;
}

uint64_t process_facts__age_ns(const struct process_facts *p)
{
	const uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK),
		       now_ns = clock__ns(CLOCK_BOOTTIME), start_ns = p->start_ticks * tick_ns;

	return now_ns > start_ns ? now_ns - start_ns : 0;
}

/* Debuggers and proftrace also map libraries of others to read them. So only code counts. */
static bool is_code(const char *line)
{
	unsigned long long from, to;
	char rights[5];

	return sscanf(line, "%llx-%llx %4s", &from, &to, rights) == 3 && rights[2] == 'x';
}

static bool maps_library(const char *maps, const char *name)
{
	for (const char *at = maps; (at = strstr(at, name)); at++) {
		const char *line = memrchr(maps, '\n', (size_t)(at - maps));

		if (at > maps && at[-1] == '/' && is_code(line ? line + 1 : maps))
			return true;
	}
	return false;
}

/* The session finds out whether the process can be recorded. */
bool process_facts__has_framework(const char *maps)
{
	for (const struct framework *const *f = frameworks__all(); *f; f++)
		if (maps_library(maps, (*f)->library))
			return true;
	return false;
}

bool process_facts__maps_framework(pid_t pid)
{
	auto_free char *maps = read_text(pid, "maps", MAPS_BYTES_MAX);

	return maps && process_facts__has_framework(maps);
}

bool process_facts__is_proftrace(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return file__is_same(path, "/proc/self/exe");
}

char *process_facts__cgroup(pid_t pid)
{
	char *text = read_text(pid, "cgroup", CGROUP_BYTES_MAX);

	return text ? text : strdup("");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Does the next argument belong to this option of Python? */
static bool takes_argument(const char *option)
{
	return !strcmp(option, "-W") || !strcmp(option, "-X") ||
	       !strcmp(option, "--check-hash-based-pycs");
}

/* Each argument ends with a NUL. NULL: there is no other. */
static const char *next_argument(const char *at, const char *end)
{
	at += strlen(at) + 1;
	return at < end ? at : NULL;
}

/* NULL: Python runs the text of -c, or asks for text. */
static const char *script_of(const char *at, const char *end)
{
	while (at && (at = next_argument(at, end))) {
		if (!strcmp(at, "-m"))
			return next_argument(at, end);
		if (!strcmp(at, "-c"))
			return NULL;
		if (takes_argument(at))
			at = next_argument(at, end);
		else if (*at != '-')
			return base_name(at);
	}
	return NULL;
}

void process_facts__program_of(const char *arguments, size_t len, char *out, size_t size)
{
	const char *program = len ? base_name(arguments) : "",
		   *script = strncmp(program, "python", strlen("python"))
				     ? NULL
				     : script_of(arguments, arguments + len);

	snprintf(out, size, "%s", script ? script : program);
}

void process_facts__program(pid_t pid, char *out, size_t size)
{
	size_t len = 0;
	auto_free char *arguments = proc__text(pid, "cmdline", &len);

	process_facts__program_of(arguments ? arguments : "", arguments ? len : 0, out, size);
}

uid_t process_facts__user(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) ? (uid_t)-1 : st.st_uid;
}

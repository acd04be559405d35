// SPDX-License-Identifier: BSD-2-Clause
#include "attach/privilege.h"
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "attach/calibrate.h"
#include "common/capability.h"
#include "common/capability_set.h"
#include "common/err.h"
#include "attach/message_table.h"
#include "common/util.h"

int privilege__require(void)
{
	const char *lack = capability__lack(CAPABILITIES_TO_LOAD);

	return *lack ? err__set(-EPERM, MESSAGE_BPF_NOT_PERMITTED, lack) : 0;
}

/* Number of the perf event type for uprobes. Each kernel assigns it anew. */
static int type_of_uprobes(uint32_t *type)
{
	auto_free char *text = file__read("/sys/bus/event_source/devices/uprobe/type", NULL);

	return text && sscanf(text, "%u", type) == 1 ? 0 : -ENOENT;
}

/* Tries a uprobe on a function of our own, made the way libbpf makes it. */
static bool may_probe(void)
{
	struct attach_point point;
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int fd;

	if (type_of_uprobes(&attr.type))
		return false;
	calibration__point(CALIBRATE_EMULATED, &point);
	attr.uprobe_path = (uint64_t)(uintptr_t)point.path;
	attr.probe_offset = point.offset;
	fd = (int)syscall(SYS_perf_event_open, &attr, getpid(), -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd >= 0;
}

static bool may_probe_without_admin(void)
{
	int status = 1;
	pid_t pid = fork();

	if (!pid)
		_exit(capability_set__keep(CAPABILITIES_TO_LOAD) || !may_probe());
	return pid > 0 && UNINTERRUPTED(waitpid(pid, &status, 0)) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

bool privilege__keeps_admin(enum attach_method method)
{
	static bool is_known, keeps;

	if (method != ATTACH_PERF_EVENT)
		return false;
	if (!is_known)
		keeps = !may_probe_without_admin();
	is_known = true;
	return keeps;
}

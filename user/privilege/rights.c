// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/rights.h"
#include <string.h>
#include "common/capability.h"
#include "common/err.h"
#include "common/util.h"
#include "common/capability_set.h"

/* Of linux/capability.h since Linux 5.9. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define RIGHT(name, last, why) {name, #name, why, last}

static const struct right all[] = {
	RIGHT(CAP_SYS_ADMIN, RIGHTS_ATTACH,
	      "uprobes by perf events, tracefs; kept while it records if perf events attach"),
	RIGHT(CAP_BPF, RIGHTS_RECORD, "BPF programs and maps"),
	RIGHT(CAP_PERFMON, RIGHTS_RECORD, "probes and data breakpoints"),
	RIGHT(CAP_SYS_PTRACE, RIGHTS_FILES,
	      "memory and maps of the process; --inject; who took the place of one that ended"),
	RIGHT(CAP_CHECKPOINT_RESTORE, RIGHTS_RECORD, "its libraries, by /proc/PID/map_files"),
	RIGHT(CAP_DAC_READ_SEARCH, RIGHTS_RECORD, "its libraries, in directories of others"),
	RIGHT(CAP_SYS_NICE, RIGHTS_RECORD, "probes go in and out at once on a busy machine"),
	RIGHT(CAP_DAC_OVERRIDE, RIGHTS_FILES, "output files in directories of others"),
	RIGHT(CAP_FOWNER, RIGHTS_FILES, "output files that replace the caller's"),
	RIGHT(CAP_CHOWN, RIGHTS_FILES, "output files become the caller's"),
	RIGHT(CAP_SETUID, RIGHTS_FILES, "the output is made as the caller"),
	RIGHT(CAP_SETGID, RIGHTS_FILES, "the same"),
	RIGHT(CAP_SETPCAP, RIGHTS_FILES, "capabilities are given up for good"),
	RIGHT(CAP_KILL, RIGHTS_FILES, "signals are passed to the program of `run`"),
};

const struct right *rights__all(size_t *cnt)
{
	*cnt = ARRAY_SIZE(all);
	return all;
}

const char *rights__stage_name(enum rights_stage stage)
{
	static const char *const names[] = {"attach", "record", "files", "output"};

	return names[stage];
}

uint64_t rights__of(enum rights_stage stage, bool by_perf_events)
{
	uint64_t rights = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].last >= stage)
			rights |= CAPABILITY(all[i].capability);
	if (stage == RIGHTS_RECORD && by_perf_events)
		rights |= CAPABILITY(CAP_SYS_ADMIN);
	return rights;
}

const char *rights__names(enum rights_stage stage, bool by_perf_events)
{
	static _Thread_local char text[512];
	const uint64_t has = capability_set__permitted() & rights__of(stage, by_perf_events) &
			     ~rights__of(stage + 1, by_perf_events);
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (has & CAPABILITY(all[i].capability))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						len ? ", " : "", all[i].name);
	return len ? text : "none";
}

void rights__enter(enum rights_stage stage, bool by_perf_events)
{
	int err = capability_set__keep(rights__of(stage, by_perf_events));

	if (err)
		log__warn("cannot give up capabilities: %s", strerror(-err));
}

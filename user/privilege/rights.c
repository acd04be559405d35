// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/rights.h"
#include <string.h>
#include "common/capability.h"
#include "common/err.h"
#include "privilege/message_table.h"
#include "common/util.h"
#include "common/capability_set.h"

/* In linux/capability.h only since Linux 5.9. */
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define RIGHT(name, last, why) {name, #name, why, last}

static const struct right all[] = {
	RIGHT(CAP_SYS_ADMIN, RIGHTS_ATTACH,
	      "tracefs; kept while it records if perf events attach and the kernel wants it"),
	RIGHT(CAP_BPF, RIGHTS_RECORD, "BPF programs and maps"),
	RIGHT(CAP_PERFMON, RIGHTS_RECORD, "probes and data breakpoints"),
	RIGHT(CAP_SYS_PTRACE, RIGHTS_END,
	      "memory and maps of the process; --inject; who took the place of one that ended"),
	RIGHT(CAP_CHECKPOINT_RESTORE, RIGHTS_RECORD, "its libraries, by /proc/PID/map_files"),
	RIGHT(CAP_DAC_READ_SEARCH, RIGHTS_END,
	      "its libraries, in directories of others; recordings"),
	RIGHT(CAP_SYS_NICE, RIGHTS_RECORD, "probes go in and out at once on a busy machine"),
	RIGHT(CAP_SETUID, RIGHTS_END, "the output and its directories are made as the caller"),
	RIGHT(CAP_SETGID, RIGHTS_END, "the same"),
	RIGHT(CAP_SETPCAP, RIGHTS_END, "capabilities are given up for good"),
	RIGHT(CAP_KILL, RIGHTS_END, "signals are passed to the program of `run`"),
	/* For the process that opens files. */
	RIGHT(CAP_DAC_OVERRIDE, RIGHTS_STAGE_CNT, "output files in directories of others"),
	RIGHT(CAP_FOWNER, RIGHTS_STAGE_CNT, "output files that replace the caller's"),
	RIGHT(CAP_CHOWN, RIGHTS_STAGE_CNT, "output files become the caller's"),
};

const struct right *rights__all(size_t *cnt)
{
	*cnt = ARRAY_SIZE(all);
	return all;
}

const char *rights__stage_name(enum rights_stage stage)
{
	static const char *const names[] = {"attach", "record", "end", "output"};

	return names[stage];
}

uint64_t rights__of(enum rights_stage stage, bool needs_admin)
{
	uint64_t rights = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].last != RIGHTS_STAGE_CNT && all[i].last >= stage)
			rights |= CAPABILITY(all[i].capability);
	if (stage == RIGHTS_RECORD && needs_admin)
		rights |= CAPABILITY(CAP_SYS_ADMIN);
	return rights;
}

static uint64_t with_substitute(uint64_t has, uint64_t wanted)
{
	return has &
	       (wanted & CAPABILITIES_TO_LOAD & ~has ? wanted | CAPABILITY(CAP_SYS_ADMIN) : wanted);
}

/* In some containers, root's only right to read files of others is CAP_DAC_OVERRIDE. A session's
 * filter prevents it from writing with that. */
static uint64_t with_reading(uint64_t has, uint64_t wanted)
{
	return wanted & CAPABILITY(CAP_DAC_READ_SEARCH) & ~has
		       ? wanted | CAPABILITY(CAP_DAC_OVERRIDE)
		       : wanted;
}

uint64_t rights__held(uint64_t has, enum rights_stage stage, bool needs_admin)
{
	return with_substitute(has, with_reading(has, rights__of(stage, needs_admin)));
}

static const char *names_of(uint64_t rights)
{
	static _Thread_local char text[512];
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (rights & CAPABILITY(all[i].capability))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						len ? ", " : "", all[i].name);
	return len ? text : "none";
}

const char *rights__names(uint64_t has, enum rights_stage stage, bool needs_admin)
{
	return names_of(rights__held(has, stage, needs_admin) &
			~rights__held(has, stage + 1, needs_admin));
}

const char *rights__names_for(uint64_t has, enum rights_use use)
{
	return names_of(has & rights__for(use));
}

static void keep(uint64_t wanted)
{
	int err = capability_set__keep(with_substitute(capability_set__permitted(), wanted));

	if (err)
		log__warn(MESSAGE_CAPABILITIES_KEPT, strerror(-err));
}

void rights__enter(enum rights_stage stage, bool needs_admin)
{
	keep(with_reading(capability_set__permitted(), rights__of(stage, needs_admin)));
}

uint64_t rights__for(enum rights_use use)
{
	const uint64_t leave =
		CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_SETPCAP);
	const uint64_t examine = CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_CHECKPOINT_RESTORE) |
				 CAPABILITY(CAP_DAC_READ_SEARCH);

	switch (use) {
	case RIGHTS_TO_WATCH:
		return leave | CAPABILITIES_TO_LOAD;
	case RIGHTS_TO_EXAMINE:
		return examine;
	case RIGHTS_TO_TRY:
		return leave | examine | CAPABILITIES_TO_LOAD | CAPABILITY(CAP_SYS_ADMIN) |
		       CAPABILITY(CAP_SYS_NICE);
	case RIGHTS_TO_OPEN:
		return CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_FOWNER) |
		       CAPABILITY(CAP_CHOWN) | leave;
	default:
		return leave;
	}
}

void rights__cut(enum rights_use use)
{
	keep(rights__for(use));
}

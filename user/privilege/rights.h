/* SPDX-License-Identifier: BSD-2-Clause */
/* Which capabilities proftrace holds when. Each stage has fewer than the one before. */
#ifndef PROFTRACE_RIGHTS_H
#define PROFTRACE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rights_stage {
	RIGHTS_ATTACH, /* from the start until the probes are in */
	RIGHTS_RECORD, /* probes come and go, the target's memory and libraries are read */
	RIGHTS_FILES,  /* the probes are out: files are opened for the process that makes the output */
	RIGHTS_OUTPUT, /* that process: none */
	RIGHTS_STAGE_CNT,
};

struct right {
	int capability; /* CAP_..., capabilities(7) */
	const char *name, *why;
	enum rights_stage last; /* stage that needs it */
};
const struct right *rights__all(size_t *cnt);
/* "attach", ... */
const char *rights__stage_name(enum rights_stage stage);

/* Mask of CAPABILITY() bits. by_perf_events: probes are attached by perf events, which needs
 * CAP_SYS_ADMIN for as long as probes are attached (tracefs; Linux 6.16 and later). */
uint64_t rights__of(enum rights_stage stage, bool by_perf_events);

/* "CAP_BPF, CAP_PERFMON": those that this process has and that are given up when the stage ends;
 * "none". Kept until the thread's next call. */
const char *rights__names(enum rights_stage stage, bool by_perf_events);

/* Cuts what the calling thread has, and what it starts later, to the stage's, for good. */
void rights__enter(enum rights_stage stage, bool by_perf_events);

#endif

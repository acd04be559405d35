/* SPDX-License-Identifier: BSD-2-Clause */
/* Which capabilities proftrace has at which time. Each stage has fewer than the one before. */
#ifndef PROFTRACE_RIGHTS_H
#define PROFTRACE_RIGHTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rights_stage {
	RIGHTS_ATTACH, /* from the start until the probes are attached */
	RIGHTS_RECORD, /* probes are attached and detached, and the target's memory and libraries
			  are read */
	RIGHTS_END,    /* from the detach until the output is made */
	RIGHTS_OUTPUT, /* the process that makes the output: it has none */
	RIGHTS_STAGE_CNT,
};

struct right {
	int capability; /* CAP_..., capabilities(7) */
	const char *name, *why;
	enum rights_stage last; /* last stage that needs it; RIGHTS_STAGE_CNT: a session does not
				   need it */
};
const struct right *rights__all(size_t *cnt);
/* "attach", ... */
const char *rights__stage_name(enum rights_stage stage);

/* Mask of CAPABILITY() bits. needs_admin: probes are perf events, for which this kernel wants
 * CAP_SYS_ADMIN (attach/privilege.h), so it is kept until they are detached. */
uint64_t rights__of(enum rights_stage stage, bool needs_admin);

/* Which capabilities of `has` (capability_set__permitted() at the start) are kept in the stage.
 * CAP_SYS_ADMIN is kept in place of a missing CAP_BPF or CAP_PERFMON, because it includes them. So
 * is CAP_DAC_OVERRIDE in place of CAP_DAC_READ_SEARCH. */
uint64_t rights__held(uint64_t has, enum rights_stage stage, bool needs_admin);

/* Names of the capabilities of `has` that are given up when the stage ends, as "CAP_BPF,
 * CAP_PERFMON", or "none". Kept until the thread's next call. */
const char *rights__names(uint64_t has, enum rights_stage stage, bool needs_admin);

/* Reduces the calling thread's capabilities, and those of its later children, to the stage's,
 * permanently. */
void rights__enter(enum rights_stage stage, bool needs_admin);

/* Capabilities of other commands than a recording. All but RIGHTS_TO_EXAMINE can then enter the
 * sandbox (privilege/sandbox.h). */
enum rights_use {
	RIGHTS_TO_LEAVE,   /* none: ctl */
	RIGHTS_TO_WATCH,   /* load and attach programs to tracepoints: cpu */
	RIGHTS_TO_EXAMINE, /* look into a process after giving up root: doctor -p */
	RIGHTS_TO_TRY,	   /* all that probes need, and looking into a process: doctor */
	RIGHTS_TO_OPEN,	   /* files for a session: privilege/file_process.h */
};
uint64_t rights__for(enum rights_use use);
/* Names of the capabilities of `has` that are kept for this use, as rights__names gives them. */
const char *rights__names_for(uint64_t has, enum rights_use use);
/* Reduces capabilities as rights__enter does. */
void rights__cut(enum rights_use use);

#endif

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
	RIGHTS_END,    /* the probes are out, until the output is made */
	RIGHTS_OUTPUT, /* the process that makes it: none */
	RIGHTS_STAGE_CNT,
};

struct right {
	int capability; /* CAP_..., capabilities(7) */
	const char *name, *why;
	enum rights_stage last; /* stage that needs it; RIGHTS_STAGE_CNT: none of a session's */
};
const struct right *rights__all(size_t *cnt);
/* "attach", ... */
const char *rights__stage_name(enum rights_stage stage);

/* Mask of CAPABILITY() bits. needs_admin: probes are attached by perf events, for which
 * this kernel wants CAP_SYS_ADMIN (attach/privilege.h): kept until they are out. */
uint64_t rights__of(enum rights_stage stage, bool needs_admin);

/* Those of `has` (capability_set__permitted() at the start) that are kept in the stage. CAP_SYS_ADMIN
 * stays as long as CAP_BPF or CAP_PERFMON should and is missing: it stands for them. So does
 * CAP_DAC_OVERRIDE for CAP_DAC_READ_SEARCH. */
uint64_t rights__held(uint64_t has, enum rights_stage stage, bool needs_admin);

/* "CAP_BPF, CAP_PERFMON": those of `has` that are given up when the stage ends; "none". Kept until
 * the thread's next call. */
const char *rights__names(uint64_t has, enum rights_stage stage, bool needs_admin);

/* Cuts what the calling thread has, and what it starts later, to the stage's, for good. */
void rights__enter(enum rights_stage stage, bool needs_admin);

/* What is held elsewhere than in a session. Commands but RIGHTS_TO_EXAMINE can leave: enter the
 * sandbox (privilege/sandbox.h). */
enum rights_use {
	RIGHTS_TO_LEAVE,   /* nothing else: ctl */
	RIGHTS_TO_WATCH,   /* load and attach programs to tracepoints: cpu */
	RIGHTS_TO_EXAMINE, /* look into a process, once root is given up: doctor -p */
	RIGHTS_TO_TRY,	   /* all that probes need, and to look into a process: doctor */
	RIGHTS_TO_OPEN,	   /* files for a session: privilege/file_process.h */
};
uint64_t rights__for(enum rights_use use);
/* Names of what is kept of `has` then, as rights__names gives them. */
const char *rights__names_for(uint64_t has, enum rights_use use);
/* Cuts as rights__enter does. */
void rights__cut(enum rights_use use);

#endif

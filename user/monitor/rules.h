/* SPDX-License-Identifier: BSD-2-Clause */
/* --allow and --deny: which processes the monitor may watch. */
#ifndef PROFTRACE_RULES_H
#define PROFTRACE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define RULES_JOBS 64 /* most rules of kind job: in a list */

struct rule {
	enum rule_kind { RULE_COMMAND, RULE_PROGRAM, RULE_USER, RULE_CGROUP, RULE_PID, RULE_JOB, RULE_KIND_CNT } kind;
	const char *pattern; /* of a command, program or cgroup */
	uid_t uid;
	pid_t pid;
	uint64_t start_ticks; /* of the job's launcher, because its pid may be reused */
	uint64_t job;	      /* one bit, different for each rule of kind job: */
};

struct rules {
	struct rule *items;
	size_t cnt, cap, job_cnt;
};

/* What rules judge a process by. */
struct rule_subject {
	pid_t pid;
	const char *command; /* the name of its main thread, at most 15 bytes */
	const char *program; /* see process_facts__program() */
	uid_t uid;
	const char *cgroup; /* text of /proc/PID/cgroup */
	uint64_t jobs;	    /* bits of the job: rules whose launcher started it */
};

/* Adds "command:GLOB", "program:GLOB", "user:NAME", "cgroup:GLOB", "pid:NUMBER" or "job:NUMBER". option: its name,
 * for messages. The launcher of job:NUMBER must be alive now. 0, or a negative errno with
 * err__set. */
int rules__add(struct rules *r, const char *option, const char *value);
/* Does any rule match? */
bool rules__match(const struct rules *r, const struct rule_subject *s);
/* Bits of the job: rules whose launcher is this process. */
uint64_t rules__jobs_of(const struct rules *r, pid_t pid, uint64_t start_ticks);
void rules__free(struct rules *r);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the ranks of this host's jobs by scans of /proc. */
#ifndef PROFTRACE_DISCOVERY_H
#define PROFTRACE_DISCOVERY_H

#include <stdint.h>
#include "monitor/messages.h"
#include "monitor/process_facts.h"
#include "monitor/rules.h"

struct discovery_opts {
	struct rules allow, deny;
	uint64_t scan_ns;  /* between two scans */
	uint64_t young_ns; /* processes younger than this are left alone */
};

struct found_rank {
	pid_t pid;
	uint64_t start_ticks;
	int rank; /* -1: unknown */
	struct job_key key;
	uid_t uid;
};

struct discovery;

/* opts: borrowed. NULL: out of memory. */
struct discovery *discovery__new(const struct discovery_opts *opts);
/* Replaces the options from the next scan on. They are borrowed. */
void discovery__set_opts(struct discovery *d, const struct discovery_opts *opts);
/* Scans again. 0, or a negative errno. */
int discovery__scan(struct discovery *d);
/* The ranks that may be watched, by the latest scan; valid until the next. */
const struct found_rank *discovery__ranks(const struct discovery *d, size_t *cnt);
/* Number of other processes, by reason. */
const uint64_t *discovery__unwatched(const struct discovery *d);
void discovery__free(struct discovery *d);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events in the life of the targets: PT_REC_TASK records in the shared ring, by bpf/task.bpf.c (new threads, forks,
 * execs, exits, renames). Used beside sched_source in the same order: prepare before the load, start after `targets` is
 * filled. Functions return 0 or a negative errno with err__set.
 */
#ifndef PROFTRACE_TASK_SOURCE_H
#define PROFTRACE_TASK_SOURCE_H

#include <stdbool.h>

struct proftrace_bpf;
struct task_source;

/* Chooses the programs. */
int task_source__prepare(struct proftrace_bpf *skel);

/*
 * Attaches the programs. follow_forks: a child of a target becomes a target before it runs. Its index is the next one
 * after ctl.target_cnt. The caller has set ctl.target_cnt to the number of targets in the map.
 */
int task_source__start(struct proftrace_bpf *skel, bool follow_forks, struct task_source **out);

/* Detaches and frees; NULL is allowed. */
void task_source__stop(struct task_source *s);

#endif

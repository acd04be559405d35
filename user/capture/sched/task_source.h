/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The life of the targets as a source of events: PT_REC_TASK records in the shared ring out of
 * bpf/task.bpf.c (new threads, forks, execs, exits, renames). Used beside sched_source, in the same
 * order: prepare before load, start after `targets` is filled. Functions return 0 or a negative
 * errno with err__set.
 */
#ifndef PROFTRACE_TASK_SOURCE_H
#define PROFTRACE_TASK_SOURCE_H

#include <stdbool.h>

struct proftrace_bpf;
struct task_source;

/* Chooses the programs. */
int task_source__prepare(struct proftrace_bpf *skel);

/*
 * Attaches. follow_forks: a child of a target becomes a target before it runs. Its index is the
 * next one after ctl.target_cnt. The loader has set that to the number of targets that it put in
 * the map.
 */
int task_source__start(struct proftrace_bpf *skel, bool follow_forks, struct task_source **out);

/* Detaches and frees; NULL is allowed. */
void task_source__stop(struct task_source *s);

#endif

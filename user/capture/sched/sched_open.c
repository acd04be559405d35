// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sched/sched_open.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

/* Reads until two reads agree, so that the copy is of one state. */
static int open_read(int fd, uint32_t tid, struct pt_sched_open *o)
{
	struct pt_sched_open again;
	int err;

	do {
		err = bpf_map_lookup_elem(fd, &tid, o);
		if (!err)
			err = bpf_map_lookup_elem(fd, &tid, &again);
	} while (!err && memcmp(o, &again, sizeof(again)) != 0);
	return err;
}

static int tid_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Lists the threads sorted and without repeats. A walk of the map starts over when the thread at
 * its position exits. */
static int threads_list(int fd, uint32_t **tids, size_t *cnt)
{
	uint32_t tid, *prev = NULL;
	size_t cap = 0, all = 0;
	int err = 0;

	*cnt = 0;
	while (!err && all < 4 * PT_SCHED_MAX_THREADS && !bpf_map_get_next_key(fd, prev, &tid)) {
		prev = &tid;
		err = ARRAY_PUSH(*tids, all, cap, tid);
	}
	if (all)
		qsort(*tids, all, sizeof(**tids), tid_compare);
	for (size_t i = 0; i < all; i++)
		if (!i || (*tids)[i] != (*tids)[*cnt - 1])
			(*tids)[(*cnt)++] = (*tids)[i];
	return err;
}

/* Reads a thread's state letter and the kernel's count of its run time. Returns false if the thread
 * has ended. */
static bool thread_look(uint32_t tgid, uint32_t tid, char *state, uint64_t *exec_ns)
{
	auto_free char *stat = NULL, *schedstat = NULL;
	char path[64], *end;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", tgid, tid);
	stat = file__read(path, NULL);
	snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", tgid, tid);
	schedstat = file__read(path, NULL);
	end = stat ? strrchr(stat, ')') : NULL;
	if (!end || !end[1] || !schedstat)
		return false;
	*state = end[2];
	*exec_ns = strtoull(schedstat, NULL, 10);
	return true;
}

/*
 * By the map the thread is running, but it may have left its CPU by a switch that was not seen (see
 * bpf/sched.bpf.c). Then *span becomes the part in which it ran, and *rest the time blocked since.
 */
static bool missed_out(const struct pt_sched_open *o, struct pt_sched_span *span,
		       struct pt_sched_span *rest)
{
	uint64_t exec_ns;
	char state;

	if (o->state != PT_SCHED_RUN || !thread_look(span->tgid, span->tid, &state, &exec_ns) ||
	    !strchr("SDITt", state) || exec_ns < o->exec_ns ||
	    exec_ns - o->exec_ns >= span->end_ns - span->begin_ns)
		return false;
	*rest = *span;
	span->end_ns = rest->begin_ns = span->begin_ns + (exec_ns - o->exec_ns);
	span->cpu_ns = exec_ns - o->exec_ns;
	rest->cpu_ns = 0;
	rest->state = PT_SCHED_BLOCKED;
	return true;
}

/*
 * By the map the thread is off the CPU, but an unseen switch may have put it on a CPU. Then its run
 * time exceeds the time since the window's end. *span becomes the part before, and *rest the part
 * in which it ran.
 */
static bool missed_in(const struct pt_sched_open *o, struct pt_sched_span *span,
		      struct pt_sched_span *rest)
{
	uint64_t exec_ns, ran, since_close, gone = span->end_ns - span->begin_ns;
	char state;

	if (o->state == PT_SCHED_RUN || !thread_look(span->tgid, span->tid, &state, &exec_ns) ||
	    state != 'R' || exec_ns < o->exec_ns)
		return false;
	ran = exec_ns - o->exec_ns;
	since_close = clock__monotonic_ns() - span->end_ns;
	if (ran <= since_close)
		return false;
	ran = ran - since_close < gone ? ran - since_close : gone;
	*rest = *span;
	span->end_ns = rest->begin_ns = span->end_ns - ran;
	rest->cpu_ns = ran;
	rest->state = PT_SCHED_RUN;
	rest->reason = 0;
	return true;
}

struct still_open {
	uint64_t close_ns;
	struct sched_spans *out;
};

static int open_add(void *ctx, uint32_t tid, const struct pt_sched_open *o)
{
	struct still_open *still = ctx;
	struct sched_spans *list = still->out;
	struct pt_sched_span rest,
		span = {
			.begin_ns = o->since_ns,
			.end_ns = still->close_ns,
			.cpu_ns = o->state == PT_SCHED_RUN ? still->close_ns - o->since_ns : 0,
			.tid = tid,
			.tgid = o->tgid,
			.reason = o->reason,
			.state = o->state,
		};
	int err = 0;

	if (o->since_ns >= still->close_ns)
		return 0;
	if (o->state < PT_ENTRY_SYSCALL &&
	    (missed_out(o, &span, &rest) || missed_in(o, &span, &rest)))
		err = ARRAY_PUSH(list->items, list->cnt, list->cap, rest);
	return err ? err : ARRAY_PUSH(list->items, list->cnt, list->cap, span);
}

int sched_open__threads(const struct sched_table *t, uint64_t close_ns, struct sched_spans *out)
{
	struct still_open still = {close_ns, out};

	return sched_table__open(t, open_add, &still);
}

int sched_open__entries(const struct bpf_map *map, uint64_t close_ns, struct sched_spans *out)
{
	struct still_open still = {close_ns, out};
	int fd = bpf_map__fd(map);
	auto_free uint32_t *tids = NULL;
	size_t cnt;
	int err = threads_list(fd, &tids, &cnt);

	for (size_t i = 0; i < cnt && !err; i++) {
		struct pt_sched_open o;

		if (!open_read(fd, tids[i], &o))
			err = open_add(&still, tids[i], &o);
	}
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "attach/watchpoint.h"
#include "common/err.h"
#include "attach/message_table.h"
#include "common/util.h"
#include <bpf/libbpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>

struct watchpoints {
	struct bpf_link **links;
	size_t cnt, cap;
};

/* inherit_thread: also watches threads that this thread starts, but not processes (Linux 5.13,
 * 2b26f0aa004995). */
static int event_open(const struct watch_point *point, pid_t tid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = point->writes_alone ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.bp_addr = point->address,
		.bp_len = HW_BREAKPOINT_LEN_1,
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = !point->tid,
		.inherit_thread = !point->tid,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The link owns the event's descriptor. */
static int attach(struct watchpoints *w, const struct watch_point *point, pid_t tid)
{
	int fd = event_open(point, tid), err;
	struct bpf_link *link;

	if (fd < 0)
		return fd;
	link = bpf_program__attach_perf_event(point->prog, fd);
	if (!link) {
		err = -errno;
		close(fd);
		return err;
	}
	err = ARRAY_PUSH(w->links, w->cnt, w->cap, link);
	if (err)
		bpf_link__destroy(link);
	return err;
}

/* A thread that has ended needs no watchpoint. */
static int attach_thread(struct watchpoints *w, const struct watch_point *points, size_t cnt,
			 pid_t tid)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		if (!points[i].tid || points[i].tid == tid)
			err = attach(w, &points[i], tid);
	return err == -ESRCH ? 0 : err;
}

static int attach_threads(struct watchpoints *w, const struct watch_point *points, size_t cnt,
			  const pid_t *tids, size_t tid_cnt)
{
	int err = 0;

	for (size_t i = 0; i < tid_cnt && !err; i++)
		err = attach_thread(w, points, cnt, tids[i]);
	return err;
}

static const char *reason(int err)
{
	return err == -ENOSPC ? "another tool uses the processor's breakpoints" : strerror(-err);
}

int watchpoints__attach(const struct watch_point *points, size_t cnt, const pid_t *tids,
			size_t tid_cnt, struct watchpoints **out)
{
	struct watchpoints *w = calloc(1, sizeof(*w));
	int err = w ? attach_threads(w, points, cnt, tids, tid_cnt) : -ENOMEM;

	*out = NULL;
	if (err) {
		watchpoints__free(w);
		return err__set(err, MESSAGE_WATCHPOINT_NOT_SET, reason(err));
	}
	*out = w;
	return 0;
}

void watchpoints__free(struct watchpoints *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->cnt; i++)
		bpf_link__destroy(w->links[i]);
	free(w->links);
	free(w);
}

/* Short rounds, so that some are undisturbed. */
enum { ROUNDS = 20, TIMES = 20, FILL_BYTES = 16384 };

static volatile uint8_t place;

static void hit(void)
{
	(void)place;
}

static void fill(void)
{
	static char room[FILL_BYTES];

	memset(room, 1, sizeof(room));
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* Nanoseconds for doing the work TIMES times, in the fastest round. */
static uint64_t least_ns(void (*work)(void))
{
	uint64_t least = UINT64_MAX;

	for (int r = 0; r < ROUNDS; r++) {
		uint64_t begin = clock__monotonic_ns(), ns;

		for (int i = 0; i < TIMES; i++)
			work();
		ns = clock__monotonic_ns() - begin;
		if (ns < least)
			least = ns;
	}
	return least;
}

struct watchpoint_cost watchpoint__cost(struct bpf_program *prog)
{
	const struct watch_point point = {.address = (uint64_t)(uintptr_t)&place, .prog = prog};
	const pid_t self = 0;
	const uint64_t without = least_ns(fill);
	struct watchpoint_cost cost = {0};
	struct watchpoints *w;
	int err = watchpoints__attach(&point, 1, &self, 1, &w);

	if (err) {
		err__take(err);
		return cost;
	}
	cost.hit_ns = least_ns(hit) / TIMES;
	cost.slows = without ? (double)least_ns(fill) / (double)without : 0;
	watchpoints__free(w);
	return cost;
}

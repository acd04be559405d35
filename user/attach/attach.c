// SPDX-License-Identifier: BSD-2-Clause
#include "attach/attach.h"
#include "attach/allow.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include "attach/shield.h"
#include "attach/site.h"
#include "attach/trace_event.h"
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "attach/message_table.h"
#include "common/message_table.h"
#include "common/regular_file.h"
#include "common/util.h"

#ifndef ENOTSUPP
/* include/linux/errno.h; an internal number that the kernel returns to user space here */
#define ENOTSUPP 524
#endif

/* BPF_TRACE_UPROBE_MULTI of linux/bpf.h. Debian 12 has an older linux/bpf.h than libbpf. */
#define TRACE_UPROBE_MULTI ((enum bpf_attach_type)48)

struct point {
	struct bpf_program *prog;
	char *path;
	uint64_t offset, cookie;
	char *symbol;
	bool is_return;
	bool refused; /* because of its first instruction, or by the kernel */
};

struct held_link {
	struct bpf_link *link;
	struct trace_event *event; /* the event that carries the link, or NULL */
	size_t offset_cnt;
	pid_t pid;
};

struct attach_set {
	char *name;
	enum attach_method method;
	int rows_fd; /* -1: none */
	const struct allowed_returns *returns;
	struct point *points;
	size_t cnt, cap;
	bool sorted; /* points are sorted by group; a new point clears it */
	struct held_link *links;
	size_t link_cnt, link_cap;
};

/* Points that share one multi link. */
struct group {
	struct attach_set *set;
	struct point *points;
	size_t cnt;
	pid_t pid;
};

void attach_method__prepare(struct bpf_program *prog, enum attach_method method)
{
	bool multi = method == ATTACH_UPROBE_MULTI;

	bpf_program__set_expected_attach_type(prog, multi ? TRACE_UPROBE_MULTI : 0);
}

struct attach_set *attach_set__new(const char *name, enum attach_method method,
				   const struct allowed_returns *returns)
{
	struct attach_set *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->name = strdup(name);
	s->method = method;
	s->returns = returns;
	s->rows_fd = -1;
	if (!s->name) {
		free(s);
		return NULL;
	}
	return s;
}

void attach_set__rows(struct attach_set *s, int map_fd)
{
	s->rows_fd = map_fd;
	if (s->method == ATTACH_PERF_EVENT)
		trace_event__prepare();
}

void attach__forked(void)
{
	trace_event__own();
}

bool attach__has_trace_events(void)
{
	trace_event__prepare();
	return trace_event__usable("");
}

int attach_set__add(struct attach_set *s, struct bpf_program *prog, const struct attach_point *p)
{
	struct point own = {.prog = prog,
			    .path = strdup(p->path),
			    .offset = p->offset,
			    .cookie = p->cookie,
			    .symbol = strdup(p->symbol ? p->symbol : "?"),
			    .is_return = p->is_return};

	if (p->is_return && !allowed_returns__has(s->returns, p->symbol)) {
		free(own.path);
		free(own.symbol);
		return err__set(-EPERM, MESSAGE_RETURN_PROBE_REFUSED, p->symbol ? p->symbol : "?");
	}
	if (!own.path || !own.symbol || ARRAY_PUSH(s->points, s->cnt, s->cap, own)) {
		free(own.path);
		free(own.symbol);
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, s->name);
	}
	s->sorted = false;
	return 0;
}

size_t attach_set__cnt(const struct attach_set *s)
{
	return s->cnt;
}

size_t attach_set__refused(const struct attach_set *s)
{
	size_t refused = 0;

	for (size_t i = 0; i < s->cnt; i++)
		refused += s->points[i].refused;
	return refused;
}

size_t attach_set__links(const struct attach_set *s)
{
	return s->link_cnt;
}

/* ---- order: one group per (program, file, kind), in it by offset ---- */

/* Return probes come first, so that each begin that is seen has its end. */
static int compare_groups(const struct point *a, const struct point *b)
{
	if (a->is_return != b->is_return)
		return b->is_return - a->is_return;
	if (a->prog != b->prog)
		return a->prog < b->prog ? -1 : 1;
	if (a->refused != b->refused)
		return a->refused - b->refused;
	return strcmp(a->path, b->path);
}

static int compare_points(const void *a, const void *b)
{
	const struct point *x = a, *y = b;
	int order = compare_groups(x, y);

	if (order)
		return order;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* A single refused instruction fails a whole multi link, so refused ones are left out
 * beforehand. */
static void refuse_by_class(struct attach_set *s)
{
	const char *open_path = NULL;
	int fd = -1;

	for (size_t i = 0; i < s->cnt; i++) {
		struct point *p = &s->points[i];
		uint8_t code[16];
		size_t insn_len;
		ssize_t n;

		if (!open_path || strcmp(open_path, p->path) != 0) {
			if (fd >= 0)
				close(fd);
			fd = regular_file__open(p->path);
			open_path = p->path;
		}
		n = fd < 0 ? -1 : pread(fd, code, sizeof(code), (off_t)p->offset);
		if (n > 0 && site__classify(code, (size_t)n, &insn_len) == SITE_REFUSED)
			p->refused = true;
	}
	if (fd >= 0)
		close(fd);
}

static void sort_points(struct attach_set *s)
{
	if (s->sorted || !s->cnt)
		return;
	qsort(s->points, s->cnt, sizeof(*s->points), compare_points);
	refuse_by_class(s);
	qsort(s->points, s->cnt, sizeof(*s->points), compare_points);
	s->sorted = true;
}

/* ---- the ladder ---- */

static void let_go(const struct held_link *held)
{
	bpf_link__destroy(held->link);
	trace_event__free(held->event);
}

static int keep_link(const struct group *g, struct bpf_link *link, struct trace_event *event)
{
	struct attach_set *s = g->set;
	struct held_link held = {link, event, g->cnt, g->pid};
	int err = ARRAY_PUSH(s->links, s->link_cnt, s->link_cap, held);

	if (err)
		let_go(&held);
	return err;
}

static int attach_multi(const struct group *g)
{
	auto_free unsigned long *offsets = malloc(g->cnt * sizeof(*offsets));
	auto_free uint64_t *cookies = malloc(g->cnt * sizeof(*cookies));
	struct bpf_link *link;
	LIBBPF_OPTS(bpf_uprobe_multi_opts, opts, .offsets = offsets,
		    .cookies = (const __u64 *)cookies, .cnt = g->cnt,
		    .retprobe = g->points[0].is_return);

	if (!offsets || !cookies)
		return -ENOMEM;
	for (size_t i = 0; i < g->cnt; i++) {
		offsets[i] = g->points[i].offset;
		cookies[i] = g->points[i].cookie;
	}
	link = bpf_program__attach_uprobe_multi(g->points[0].prog, g->pid, g->points[0].path, NULL,
						&opts);
	return link ? keep_link(g, link, NULL) : -errno;
}

static int attach_trace_event(const struct group *g)
{
	auto_free struct trace_probe *probes = malloc(g->cnt * sizeof(*probes));
	const struct point *first = &g->points[0];
	struct trace_event *event;
	struct bpf_link *link;
	int err, fd;
	LIBBPF_OPTS(bpf_perf_event_opts, opts);

	if (!probes)
		return -ENOMEM;
	for (size_t i = 0; i < g->cnt; i++)
		probes[i] =
			(struct trace_probe){g->points[i].offset, (uint32_t)g->points[i].cookie};
	err = trace_event__new(first->path, first->is_return, probes, g->cnt, g->pid,
			       g->set->rows_fd, &event);
	if (err)
		return err;
	fd = trace_event__open(event);
	opts.bpf_cookie = trace_event__cookie(event);
	link = fd < 0 ? NULL : bpf_program__attach_perf_event_opts(first->prog, fd, &opts);
	if (link)
		return keep_link(g, link, event);
	err = fd < 0 ? fd : -errno;
	if (fd >= 0)
		close(fd);
	trace_event__free(event);
	return err;
}

static int attach_single(const struct group *g)
{
	const struct point *p = &g->points[0];
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = p->cookie, .retprobe = p->is_return);
	struct bpf_link *link =
		bpf_program__attach_uprobe_opts(p->prog, g->pid, p->path, p->offset, &opts);

	return link ? keep_link(g, link, NULL) : -errno;
}

/* Errors about a single offset: the instruction can carry no probe, the offset is not in the file,
 * or the bytes differ from the file's (someone patched them). Any other error ends the attach. */
static bool is_about_point(int err)
{
	return err == -ENOTSUPP || err == -EINVAL || err == -ENOEXEC || err == -EIO ||
	       err == -EEXIST;
}

/* Halves the group until refused points are alone: n refused points of m take n log m attempts. */
static int attach_halving(const struct group *g, int (*attach)(const struct group *g))
{
	struct group low = *g, high = *g;
	int err = shield__orphaned() ? -ECANCELED : attach(g);

	if (!err || !is_about_point(err))
		return err;
	if (g->cnt == 1) {
		log__debug("%s: the kernel refuses a probe at %s+%#lx: %s", g->points[0].symbol,
			   g->points[0].path, g->points[0].offset,
			   err == -ENOTSUPP ? "instruction not supported" : strerror(-err));
		g->points[0].refused = true;
		return 0;
	}
	low.cnt = g->cnt / 2;
	high.points += low.cnt;
	high.cnt -= low.cnt;
	err = attach_halving(&low, attach);
	return err ? err : attach_halving(&high, attach);
}

static int attach_one_by_one(const struct group *g)
{
	int err = 0;

	for (size_t i = 0; i < g->cnt && !err; i++) {
		const struct group one = {
			.set = g->set, .points = &g->points[i], .cnt = 1, .pid = g->pid};

		err = attach_halving(&one, attach_single);
	}
	return err;
}

static int attach_group(const struct group *g)
{
	if (g->set->method != ATTACH_PERF_EVENT)
		return attach_halving(g, attach_multi);
	if (g->set->rows_fd < 0 || !trace_event__usable(g->points[0].path))
		return attach_one_by_one(g);
	return attach_halving(g, attach_trace_event);
}

static int log_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char text[512];
	int len = vsnprintf(text, sizeof(text), fmt, ap);

	if (level <= LIBBPF_INFO && len > 0)
		log__debug("%.*s", (int)strcspn(text, "\n"), text);
	return 0;
}

void attach__hush_libbpf(void)
{
	libbpf_set_print(log_libbpf);
}

/* libbpf's error for an object of ours, which is valid. So libbpf may lack memory: it then takes
 * global functions for unknown to the kernel, and the verifier follows them at each call. */
const char *attach__libbpf_error(int err)
{
	static _Thread_local char text[128];

	if (err == -E2BIG)
		return "the verifier gave up after a million instructions, as it does if libbpf "
		       "has no memory to ask what the kernel can do";
	if (err == -LIBBPF_ERRNO__LIBELF)
		return "libelf failed, as it does without memory";
	libbpf_strerror(err, text, sizeof(text));
	return text;
}

/* Linux 6.16 wants CAP_SYS_ADMIN for a uprobe of perf_event_open. */
static uint64_t capabilities_to_attach(enum attach_method method)
{
	return method == ATTACH_PERF_EVENT && kernel__at_least(6, 16)
		       ? CAPABILITIES_TO_LOAD | CAPABILITY(CAP_SYS_ADMIN)
		       : CAPABILITIES_TO_LOAD;
}

/* The least number: one descriptor for a link of many points; else an event and a link for each
 * point. */
static size_t descriptors_needed(const struct attach_set *s)
{
	size_t cnt = 0;

	for (size_t i = 0; i < s->cnt; i++) {
		const struct point *p = &s->points[i];

		if (p->refused)
			continue;
		if (s->method == ATTACH_PERF_EVENT &&
		    (s->rows_fd < 0 || !trace_event__usable(p->path)))
			cnt += 2;
		else
			cnt += !i || compare_groups(p, p - 1);
	}
	return cnt;
}

static int explain(const struct attach_set *s, pid_t pid, int err)
{
	if (err == -EPERM || err == -EACCES)
		return err__set(err, MESSAGE_PROBES_NOT_ATTACHED, s->name, pid,
				capability__why_refused(capabilities_to_attach(s->method)));
	if (descriptors__lack(err))
		return err__set(err, MESSAGE_PROBES_LACK_DESCRIPTORS, s->name, pid,
				descriptors__why(err, descriptors_needed(s)));
	if (err == -ESRCH)
		return err__set(err, MESSAGE_PROBES_PROCESS_ENDED, s->name, pid);
	return err__set(err, MESSAGE_PROBES_NOT_ATTACHED, s->name, pid,
			err == -ENOTSUPP ? "not supported by this kernel" : strerror(-err));
}

static void destroy_links(struct attach_set *s, size_t from);

struct attaching {
	struct attach_set *set;
	pid_t pid;
};

static int attach_groups(void *arg)
{
	const struct attaching *a = arg;
	struct attach_set *s = a->set;
	size_t links_before = s->link_cnt;
	int err = 0;

	sort_points(s);
	for (size_t i = 0, next; i < s->cnt && !err; i = next) {
		struct group g = {.set = s, .points = &s->points[i], .pid = a->pid};

		for (next = i + 1; next < s->cnt; next++) {
			if (compare_groups(&s->points[i], &s->points[next]))
				break;
		}
		g.cnt = next - i;
		if (g.points[0].refused)
			continue;
		err = attach_group(&g);
	}
	if (!err && s->cnt && s->link_cnt == links_before)
		err = -ENOTSUPP;
	if (err) {
		destroy_links(s, links_before);
		return explain(s, a->pid, err);
	}
	return 0;
}

int attach_set__attach(struct attach_set *s, pid_t pid)
{
	struct attaching a = {s, pid};

	return shield__run(attach_groups, &a);
}

/* ---- detach ---- */

struct held_links {
	struct held_link *links;
	size_t cnt;
};

/* Closes every step-th link, beginning with the first. */
struct closing {
	const struct held_link *links;
	size_t cnt, step;
};

static void *close_part(void *arg)
{
	const struct closing *c = arg;

	for (size_t i = 0; i < c->cnt; i += c->step)
		let_go(&c->links[i]);
	return NULL;
}

static int compare_held(const void *a, const void *b)
{
	const struct held_link *x = a, *y = b;

	return x->offset_cnt < y->offset_cnt ? -1 : x->offset_cnt > y->offset_cnt;
}

/* Time to remove one breakpoint on an idle machine: 10 ms for 3110. */
#define REMOVE_NS   4000
#define MAX_OFFSETS 100000

/*
 * Closing a link removes its breakpoints one by one, each under a lock of the whole machine
 * (dup_mmap_sem in kernel/events/uprobes.c). Then the kernel waits for two RCU grace periods
 * (uprobe_unregister_sync), about 40 ms for any number of offsets. So threads close links side by
 * side, to share the grace periods. Each thread starts when the thread before should have removed
 * its breakpoints. Two threads that compete for the lock would switch contexts at each offset.
 */
static int close_side_by_side(void *arg)
{
	const struct held_links *held = arg;
	struct held_link *links = held->links;
	size_t cnt = held->cnt;
	enum { MAX_PARTS = 64 };
	struct closing parts[MAX_PARTS];
	pthread_t threads[MAX_PARTS];
	size_t part_cnt = cnt < MAX_PARTS ? cnt : MAX_PARTS, started = 0;

	qsort(links, cnt, sizeof(*links), compare_held);
	for (size_t i = 0; i < part_cnt; i++)
		parts[i] = (struct closing){links + i, cnt - i, part_cnt};
	/* This thread closes the last part, and the parts for which no thread could be started. */
	while (started + 1 < part_cnt &&
	       pthread_create(&threads[started], NULL, close_part, &parts[started]) == 0) {
		struct timespec head_start = {
			.tv_nsec = (long)(links[started].offset_cnt % MAX_OFFSETS * REMOVE_NS)};

		nanosleep(&head_start, NULL);
		started++;
	}
	for (size_t i = started; i < part_cnt; i++)
		close_part(&parts[i]);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void close_links(struct held_link *links, size_t cnt)
{
	struct held_links held = {links, cnt};

	if (cnt)
		shield__run(close_side_by_side, &held);
}

static void destroy_links(struct attach_set *s, size_t from)
{
	if (s->link_cnt > from)
		close_links(s->links + from, s->link_cnt - from);
	s->link_cnt = from;
}

void attach_set__detach(struct attach_set *s)
{
	destroy_links(s, 0);
}

static bool holds(const struct held_link *link, const pid_t *pids, size_t pid_cnt)
{
	for (size_t i = 0; i < pid_cnt; i++)
		if (link->pid == pids[i])
			return true;
	return !pids;
}

/* Moves to `links` the links that belong to one of the pids, or all links if pids is NULL. */
static size_t take_links(struct attach_set *s, const pid_t *pids, size_t pid_cnt,
			 struct held_link *links)
{
	size_t taken = 0, kept = 0;

	for (size_t i = 0; i < s->link_cnt; i++) {
		if (holds(&s->links[i], pids, pid_cnt))
			links[taken++] = s->links[i];
		else
			s->links[kept++] = s->links[i];
	}
	s->link_cnt = kept;
	return taken;
}

void attach_sets__release(struct attach_set *const *sets, size_t cnt, const pid_t *pids,
			  size_t pid_cnt)
{
	auto_free struct held_link *links = NULL;
	size_t total = 0;

	for (size_t i = 0; i < cnt; i++)
		total += sets[i] ? sets[i]->link_cnt : 0;
	links = malloc((total ? total : 1) * sizeof(*links));
	if (!links) /* they are closed with their sets */
		return;
	total = 0;
	for (size_t i = 0; i < cnt; i++)
		if (sets[i])
			total += take_links(sets[i], pids, pid_cnt, links + total);
	close_links(links, total);
}

void attach_sets__detach(struct attach_set *const *sets, size_t cnt)
{
	attach_sets__release(sets, cnt, NULL, 0);
	for (size_t i = 0; i < cnt; i++)
		if (sets[i]) /* without memory, each set is closed by itself */
			attach_set__detach(sets[i]);
}

void attach_set__free(struct attach_set *s)
{
	if (!s)
		return;
	attach_set__detach(s);
	for (size_t i = 0; i < s->cnt; i++) {
		free(s->points[i].path);
		free(s->points[i].symbol);
	}
	free(s->points);
	free(s->links);
	free(s->name);
	free(s);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/discovery.h"
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/err.h"
#include "common/util.h"
#include "target/rank.h"

/* a process is examined again after a quarter of its age, at most after this */
#define LOOK_MAX_NS 600000000000ull

struct process {
	struct process_facts facts;
	uint64_t look_ns; /* next reading of its maps; for a root: also next search for ranks */
	uint64_t tree;	  /* of a root: its descendants when its ranks were found */
	uint32_t scan;	  /* latest scan that saw it */
	pid_t root;	  /* root under which it was looked for as a rank, 0: none */
	bool has_framework, is_ours, is_rank;
	int rank;
};

struct discovery {
	const struct discovery_opts *opts;
	struct process *items; /* sorted by pid */
	size_t cnt, cap;
	uint32_t scan;
	struct found_rank *ranks;
	size_t rank_cnt, rank_cap;
	uint64_t unwatched[UNWATCHED_CNT];
};

/* ---- the processes ---- */

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	return (x->facts.pid > y->facts.pid) - (x->facts.pid < y->facts.pid);
}

static struct process *find_among(const struct discovery *d, pid_t pid, size_t cnt)
{
	const struct process key = {.facts.pid = pid};

	return cnt ? bsearch(&key, d->items, cnt, sizeof(key), by_pid) : NULL;
}

static struct process *find(const struct discovery *d, pid_t pid)
{
	return find_among(d, pid, d->cnt);
}

/* known: the number of sorted items. A pid may be reused by another process. */
static int note(struct discovery *d, pid_t pid, size_t known)
{
	struct process fresh = {.scan = d->scan};
	struct process *p = find_among(d, pid, known);

	if (process_facts__read(pid, &fresh.facts) || fresh.facts.is_kernel)
		return 0;
	if (p && p->facts.start_ticks == fresh.facts.start_ticks) {
		p->facts = fresh.facts;
		p->scan = d->scan;
		return 0;
	}
	if (p) {
		*p = fresh;
		return 0;
	}
	return ARRAY_PUSH(d->items, d->cnt, d->cap, fresh);
}

static void drop_gone(struct discovery *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->cnt; i++)
		if (d->items[i].scan == d->scan)
			d->items[kept++] = d->items[i];
	d->cnt = kept;
	if (kept)
		qsort(d->items, kept, sizeof(*d->items), by_pid);
}

static int read_processes(struct discovery *d)
{
	const size_t known = d->cnt;
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int err = 0;

	if (!proc)
		return -errno;
	d->scan++;
	while (!err && (entry = readdir(proc)))
		if (isdigit((unsigned char)entry->d_name[0]))
			err = note(d, (pid_t)atoi(entry->d_name), known);
	closedir(proc);
	drop_gone(d);
	return err;
}

static uint64_t next_look(const struct discovery *d, const struct process *p, uint64_t now_ns)
{
	uint64_t wait_ns = process_facts__age_ns(&p->facts) / 4;

	if (wait_ns < d->opts->scan_ns / 2)
		wait_ns = d->opts->scan_ns / 2;
	return now_ns + (wait_ns < LOOK_MAX_NS ? wait_ns : LOOK_MAX_NS);
}

/* A framework may be loaded at any time, and an exec may end it. */
static void look_for_frameworks(struct discovery *d, uint64_t now_ns)
{
	for (size_t i = 0; i < d->cnt; i++) {
		struct process *p = &d->items[i];

		if (now_ns < p->look_ns)
			continue;
		p->has_framework = process_facts__maps_framework(p->facts.pid);
		p->is_ours = process_facts__is_proftrace(p->facts.pid);
		if (!p->has_framework)
			p->look_ns = next_look(d, p, now_ns);
	}
}

/* ---- jobs ---- */

static bool is_candidate(const struct process *p)
{
	return p->has_framework && !p->is_ours;
}

/* The topmost ancestor that also has a framework. */
static struct process *root_of(const struct discovery *d, struct process *p)
{
	struct process *root = p;
	size_t hops = 0;

	for (struct process *up = find(d, p->facts.parent); up && hops++ < d->cnt;
	     up = find(d, up->facts.parent))
		if (is_candidate(up))
			root = up;
	return root;
}

static uint64_t mix(uint64_t tree, const struct process_facts *p)
{
	return tree + (((uint64_t)p->pid << 40) ^ p->start_ticks) * 0x9E3779B97F4A7C15ull;
}

static void find_roots(struct discovery *d)
{
	for (size_t i = 0; i < d->cnt; i++)
		d->items[i].root =
			is_candidate(&d->items[i]) ? root_of(d, &d->items[i])->facts.pid : 0;
}

static uint64_t tree_of(const struct discovery *d, pid_t root)
{
	uint64_t tree = 0;

	for (size_t i = 0; i < d->cnt; i++)
		if (d->items[i].root == root)
			tree = mix(tree, &d->items[i].facts);
	return tree;
}

static const struct discovery *asked; /* used by fits(), which gets no context */

static bool fits(pid_t pid)
{
	const struct process *p = find(asked, pid);

	return p && is_candidate(p);
}

static void choose(struct discovery *d, pid_t pid, int rank)
{
	struct process *p = find(d, pid);

	if (!p)
		return;
	p->is_rank = true;
	p->rank = rank;
}

/* Finds the root's ranks as `--job` does. A process without ranks is a job by itself. */
static void find_ranks(struct discovery *d, pid_t root)
{
	struct ranks ranks;
	int err;

	for (size_t i = 0; i < d->cnt; i++)
		if (d->items[i].root == root)
			d->items[i].is_rank = false;
	asked = d;
	err = ranks__of_launcher(root, fits, &ranks);
	if (err)
		err__take(err);
	for (size_t i = 0; i < ranks.cnt; i++)
		choose(d, ranks.items[i].pid, ranks.items[i].rank);
	if (!ranks.cnt && !ranks.serving_cnt)
		choose(d, root, -1);
	ranks__clear(&ranks);
}

static void look_for_ranks(struct discovery *d, uint64_t now_ns)
{
	find_roots(d);
	for (size_t i = 0; i < d->cnt; i++) {
		struct process *p = &d->items[i];
		uint64_t tree;

		if (!p->root || p->root != p->facts.pid)
			continue;
		tree = tree_of(d, p->root);
		if (tree == p->tree && now_ns < p->look_ns)
			continue;
		p->tree = tree;
		p->look_ns = next_look(d, p, now_ns);
		find_ranks(d, p->root);
	}
	/* Processes under a root are not examined separately. */
	for (size_t i = 0; i < d->cnt; i++)
		if (d->items[i].root && d->items[i].root != d->items[i].facts.pid &&
		    now_ns >= d->items[i].look_ns)
			d->items[i].look_ns = next_look(d, &d->items[i], now_ns);
}

/* ---- who may be watched ---- */

/* Why the process may not be watched. UNWATCHED_CNT: it may. */
static enum unwatched judge(const struct discovery *d, const struct process *p, uid_t uid,
			    const char *cgroup)
{
	const struct discovery_opts *o = d->opts;

	if (rules__match(&o->deny, p->facts.pid, p->facts.command, uid, cgroup))
		return UNWATCHED_DENIED;
	if (o->allow.cnt && !rules__match(&o->allow, p->facts.pid, p->facts.command, uid, cgroup))
		return UNWATCHED_NOT_ALLOWED;
	if (process_facts__age_ns(&p->facts) < o->young_ns)
		return UNWATCHED_YOUNG;
	return UNWATCHED_CNT;
}

/* If the rank is the topmost process found, its parent is the launcher, which also started the
 * other ranks. */
static void name_job(const struct discovery *d, const struct process *p, const char *cgroup,
		     struct job_key *out)
{
	const struct process *launcher = find(d, p->root);
	size_t len = 0;
	auto_free char *env = proc__text(p->facts.pid, "environ", &len);

	if (p->rank >= 0 && launcher == p && find(d, p->facts.parent))
		launcher = find(d, p->facts.parent);
	if (!launcher)
		launcher = p;
	job_key__make(env ? env : "", env ? len : 0, cgroup, launcher->facts.command,
		      launcher->facts.pid, out);
}

static int take_rank(struct discovery *d, const struct process *p)
{
	struct found_rank rank = {.pid = p->facts.pid,
				  .start_ticks = p->facts.start_ticks,
				  .rank = p->rank,
				  .uid = process_facts__user(p->facts.pid)};
	auto_free char *cgroup = process_facts__cgroup(p->facts.pid);
	enum unwatched why;

	if (!cgroup)
		return -ENOMEM;
	why = judge(d, p, rank.uid, cgroup);
	if (why != UNWATCHED_CNT) {
		d->unwatched[why]++;
		return 0;
	}
	name_job(d, p, cgroup, &rank.key);
	return ARRAY_PUSH(d->ranks, d->rank_cnt, d->rank_cap, rank);
}

static int take_ranks(struct discovery *d)
{
	int err = 0;

	memset(d->unwatched, 0, sizeof(d->unwatched));
	d->rank_cnt = 0;
	for (size_t i = 0; i < d->cnt && !err; i++) {
		const struct process *p = &d->items[i];

		if (p->is_ours)
			continue;
		if (!p->has_framework)
			d->unwatched[UNWATCHED_NO_FRAMEWORK]++;
		else if (!p->is_rank)
			d->unwatched[UNWATCHED_PART_OF_JOB]++;
		else
			err = take_rank(d, p);
	}
	return err;
}

struct discovery *discovery__new(const struct discovery_opts *opts)
{
	struct discovery *d = calloc(1, sizeof(*d));

	if (d)
		d->opts = opts;
	return d;
}

void discovery__set_opts(struct discovery *d, const struct discovery_opts *opts)
{
	d->opts = opts;
}

int discovery__scan(struct discovery *d)
{
	const uint64_t now_ns = clock__monotonic_ns();
	int err = read_processes(d);

	if (err)
		return err;
	look_for_frameworks(d, now_ns);
	look_for_ranks(d, now_ns);
	return take_ranks(d);
}

const struct found_rank *discovery__ranks(const struct discovery *d, size_t *cnt)
{
	*cnt = d->rank_cnt;
	return d->ranks;
}

const uint64_t *discovery__unwatched(const struct discovery *d)
{
	return d->unwatched;
}

void discovery__free(struct discovery *d)
{
	if (!d)
		return;
	free(d->items);
	free(d->ranks);
	free(d);
}

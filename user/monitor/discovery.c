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
/* Between two starts of its ranks, torchrun looks like a rank without a number, since it uses the
 * job's store. A launcher's ranks without a number are taken after this time. */
#define UNNUMBERED_NS 10000000000ull

struct process {
	struct process_facts facts;
	uint64_t look_ns;   /* next reading of its maps */
	uint64_t search_ns; /* of a root: next search for ranks */
	uint64_t tree;	    /* of a root: its descendants when its ranks were found */
	uint32_t scan;	    /* latest scan that saw it */
	pid_t root;	    /* root under which it was looked for as a rank, 0: none */
	bool has_framework, is_ours, is_rank;
	int rank;
	uint64_t unnumbered_ns; /* when it was found as a rank without a number; 0: it is none */
	/* Bits of the job: rules whose launcher started it. They stay when the launcher ends, and
	 * the kernel gives the process another parent. */
	uint64_t allowed_jobs, denied_jobs;
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
		p->look_ns = next_look(d, p, now_ns);
	}
}

/* ---- launchers of job: rules ---- */

static uint64_t launches(const struct discovery *d, const struct process *p)
{
	return rules__jobs_of(&d->opts->allow, p->facts.pid, p->facts.start_ticks);
}

static void take_jobs(const struct discovery *d, struct process *p)
{
	const struct rules *allow = &d->opts->allow, *deny = &d->opts->deny;
	size_t hops = 0;

	for (const struct process *up = p; up && hops++ < d->cnt; up = find(d, up->facts.parent)) {
		p->allowed_jobs |= up->allowed_jobs |
				   rules__jobs_of(allow, up->facts.pid, up->facts.start_ticks);
		p->denied_jobs |= up->denied_jobs |
				  rules__jobs_of(deny, up->facts.pid, up->facts.start_ticks);
	}
}

static void find_jobs(struct discovery *d)
{
	if (!d->opts->allow.job_cnt && !d->opts->deny.job_cnt)
		return;
	for (size_t i = 0; i < d->cnt; i++)
		take_jobs(d, &d->items[i]);
}

/* ---- jobs ---- */

static bool is_candidate(const struct process *p)
{
	return p->has_framework && !p->is_ours;
}

/* The topmost launcher of an allowed job, else the topmost ancestor that also has a framework. */
static struct process *root_of(const struct discovery *d, struct process *p)
{
	struct process *root = p, *launcher = launches(d, p) ? p : NULL;
	size_t hops = 0;

	for (struct process *up = find(d, p->facts.parent); up && hops++ < d->cnt;
	     up = find(d, up->facts.parent)) {
		if (is_candidate(up))
			root = up;
		if (launches(d, up))
			launcher = up;
	}
	return launcher ? launcher : root;
}

static uint64_t mix(uint64_t tree, const struct process_facts *p)
{
	return tree + (((uint64_t)p->pid << 40) ^ p->start_ticks) * 0x9E3779B97F4A7C15ull;
}

static void find_roots(struct discovery *d)
{
	for (size_t i = 0; i < d->cnt; i++)
		d->items[i].root = is_candidate(&d->items[i]) || launches(d, &d->items[i])
					   ? root_of(d, &d->items[i])->facts.pid
					   : 0;
}

/* youngest: of its processes. */
static uint64_t tree_of(const struct discovery *d, pid_t root, const struct process **youngest)
{
	uint64_t tree = 0;

	*youngest = NULL;
	for (size_t i = 0; i < d->cnt; i++) {
		const struct process *p = &d->items[i];

		if (p->root != root)
			continue;
		tree = mix(tree, &p->facts);
		if (!*youngest || p->facts.start_ticks > (*youngest)->facts.start_ticks)
			*youngest = p;
	}
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

/* Finds the root's ranks as `record --job` does. A root without ranks is a job by itself, but not
 * a launcher of an allowed job. */
static void find_ranks(struct discovery *d, pid_t root, bool is_launcher)
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
	if (!ranks.cnt && !ranks.serving_cnt && !is_launcher)
		choose(d, root, -1);
	ranks__clear(&ranks);
}

/* True: some must wait. */
static bool delay_unnumbered(struct discovery *d, pid_t launcher, uint64_t now_ns)
{
	bool some = false;

	for (size_t i = 0; i < d->cnt; i++) {
		struct process *p = &d->items[i];

		if (p->root != launcher)
			continue;
		if (!p->is_rank || p->rank >= 0)
			p->unnumbered_ns = 0;
		else if (!p->unnumbered_ns)
			p->unnumbered_ns = now_ns;
		if (p->unnumbered_ns && now_ns < p->unnumbered_ns + UNNUMBERED_NS) {
			p->is_rank = false;
			some = true;
		}
	}
	return some;
}

static void look_for_ranks(struct discovery *d, uint64_t now_ns)
{
	find_roots(d);
	for (size_t i = 0; i < d->cnt; i++) {
		const struct process *youngest;
		struct process *p = &d->items[i];
		uint64_t tree;

		if (!p->root || p->root != p->facts.pid)
			continue;
		tree = tree_of(d, p->root, &youngest);
		if (tree == p->tree && now_ns < p->search_ns)
			continue;
		p->tree = tree;
		p->search_ns = next_look(d, youngest, now_ns);
		find_ranks(d, p->root, launches(d, p));
		if (launches(d, p) && delay_unnumbered(d, p->root, now_ns))
			p->search_ns = now_ns + d->opts->scan_ns / 2;
	}
}

/* ---- who may be watched ---- */

/* Why the process may not be watched. UNWATCHED_CNT: it may. */
static enum unwatched judge(const struct discovery *d, const struct process *p, uid_t uid,
			    const char *cgroup)
{
	const struct discovery_opts *o = d->opts;
	char program[256];
	struct rule_subject subject = {.pid = p->facts.pid,
				       .command = p->facts.command,
				       .program = program,
				       .uid = uid,
				       .cgroup = cgroup,
				       .jobs = p->denied_jobs};

	process_facts__program(p->facts.pid, program, sizeof(program));
	if (rules__match(&o->deny, &subject))
		return UNWATCHED_DENIED;
	subject.jobs = p->allowed_jobs;
	if (o->allow.cnt && !rules__match(&o->allow, &subject))
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
	for (size_t i = 0; i < d->cnt; i++)
		d->items[i].allowed_jobs = d->items[i].denied_jobs = 0;
}

int discovery__scan(struct discovery *d)
{
	const uint64_t now_ns = clock__monotonic_ns();
	int err = read_processes(d);

	if (err)
		return err;
	find_jobs(d);
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

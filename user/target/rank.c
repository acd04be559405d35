// SPDX-License-Identifier: BSD-2-Clause
#include "target/rank.h"
#include "target/rank_variables.h"
#include "common/err.h"
#include "target/message_table.h"
#include "common/util.h"
#include "target/store.h"
#include "target/target_priv.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PROCESSES 65536 /* most descendants of a launcher that are examined */

int rank__find(pid_t pid)
{
	struct target *t;
	int rank;

	if (target__open(pid, &t)) {
		err__take(-ESRCH);
		return -1;
	}
	rank = t->rank;
	target__close(t);
	return rank;
}

/* ---- the descendants of a launcher ---- */

#define NONE SIZE_MAX

struct process {
	pid_t pid;
	size_t parent; /* index of the parent; NONE: the launcher */
	int rank;      /* -1: none is set */
	size_t which;  /* which variable gave it */
	size_t head;   /* topmost process with the same rank from the same variable; NONE: it has
			  no rank */
	size_t chosen; /* of a head: the process chosen as the rank; NONE: none yet */
	bool launches; /* of a head: it has descendants with other ranks */
	struct rank_role role;
};

struct tree {
	struct process *items;
	size_t cnt, cap;
};

/* For a process with a rank, which is item i of the tree. */
static void find_head(struct tree *t, struct process *p, size_t i)
{
	p->head = i;
	for (size_t up = p->parent; up < t->cnt; up = t->items[up].parent) { /* up to the
										launcher, NONE */
		const struct process *above = &t->items[up];

		if (above->rank < 0)
			continue;
		if (above->rank == p->rank && above->which == p->which)
			p->head = above->head;
		else
			t->items[above->head].launches = true;
	}
}

static int add(struct tree *t, pid_t pid, size_t parent)
{
	struct process p = {.pid = pid, .parent = parent, .head = NONE, .chosen = NONE};
	int local, world;

	p.rank = rank_variables__given(pid, &local, &world, &p.which, &p.role);
	if (p.rank >= 0)
		find_head(t, &p, t->cnt);
	return ARRAY_PUSH(t->items, t->cnt, t->cap, p);
}

struct descendant {
	struct tree *tree;
	size_t parent;
};

static int add_child(void *ctx, pid_t pid)
{
	const struct descendant *b = ctx;

	return b->tree->cnt < MAX_PROCESSES ? add(b->tree, pid, b->parent) : 0;
}

/* A shell comes before its program, and the program before its workers. */
static void choose(struct tree *t, bool (*fits)(pid_t pid))
{
	for (size_t i = 0; i < t->cnt; i++) {
		struct process *head =
			t->items[i].head == NONE ? NULL : &t->items[t->items[i].head];

		if (head && head->chosen == NONE && !head->launches && fits(t->items[i].pid))
			head->chosen = i;
	}
}

/* Names of threads that PyTorch (2.4 and later) and gloo start for a process group begin so. */
static bool is_of_group(const char *comm)
{
	static const char *const names[] = {"pt_gloo_", "pt_nccl_", "gloo_tcp"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(comm, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool has_ranks(const struct tree *t)
{
	for (size_t i = 0; i < t->cnt; i++)
		if (t->items[i].rank >= 0 || t->items[i].chosen != NONE)
			return true;
	return false;
}

static bool is_descendant(const struct tree *t, size_t i, size_t above)
{
	for (size_t up = t->items[i].parent; up != NONE; up = t->items[up].parent)
		if (up == above)
			return true;
	return false;
}

/* Launchers are ancestors of ranks. Workers of data loaders are descendants. */
static bool is_beside_ranks(const struct tree *t, size_t i)
{
	for (size_t k = 0; k < t->cnt; k++)
		if (t->items[k].head == k && t->items[k].chosen == k &&
		    (k == i || is_descendant(t, i, k) || is_descendant(t, k, i)))
			return false;
	return true;
}

/* Reads ranks from variables that processes set themselves, as those of paddle.distributed.spawn
 * do. */
static void read_own_ranks(struct tree *t, bool (*fits)(pid_t pid))
{
	for (size_t i = 0; i < t->cnt; i++) {
		struct process *p = &t->items[i];
		struct target *target = NULL;
		struct rank_role role;
		int local, world;

		if (!fits(p->pid))
			continue;
		if (target__open(p->pid, &target)) {
			err__take(-ESRCH);
			continue;
		}
		p->rank = rank_variables__now(target, &local, &world, &p->which, &role);
		if (p->rank >= 0)
			find_head(t, p, i);
		target__close(target);
	}
}

/* Chooses workers without a number: the topmost that fit, because processes that they fork have the
 * same variables. */
static void choose_by_role(struct tree *t, bool (*fits)(pid_t pid))
{
	for (size_t i = 0; i < t->cnt; i++)
		if (t->items[i].role.works && fits(t->items[i].pid) && is_beside_ranks(t, i))
			t->items[i].head = t->items[i].chosen = i;
}

/* Chooses ranks that were told so by arguments, as by torch.multiprocessing.spawn: they have
 * threads of a process group, and a data loader's workers do not. Their numbers stay unknown. */
static void choose_by_group(struct tree *t, bool (*fits)(pid_t pid))
{
	for (size_t i = 0; i < t->cnt; i++)
		if (fits(t->items[i].pid) && target_threads__any(t->items[i].pid, is_of_group))
			t->items[i].head = t->items[i].chosen = i;
}

/* The same by connections, if threads have no such names, as NCCL's of PyTorch 2.15. */
static void choose_by_store(struct tree *t, bool (*fits)(pid_t pid))
{
	struct store store = {0};

	for (size_t i = 0; i < t->cnt; i++)
		store__add_server(&store, t->items[i].pid);
	for (size_t i = 0; i < t->cnt; i++) {
		const size_t parent = t->items[i].parent;

		if (fits(t->items[i].pid) &&
		    store__is_client(&store, t->items[i].pid,
				     parent == NONE ? 0 : t->items[parent].pid))
			t->items[i].head = t->items[i].chosen = i;
	}
}

static int by_rank(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
				  : (x->pid > y->pid) - (x->pid < y->pid);
}

/* ---- who may become a rank ---- */

/* Is it the topmost process with variables of a worker? */
static bool starts_worker(const struct tree *t, size_t i)
{
	const size_t parent = t->items[i].parent;

	return t->items[i].role.works && (parent == NONE || !t->items[parent].role.works);
}

static bool is_missing(const struct tree *t, size_t i, bool told, bool (*fits)(pid_t pid))
{
	const struct process *p = &t->items[i];

	if (told)
		return p->head == i && !p->launches && p->chosen == NONE;
	return !p->role.serves && (starts_worker(t, i) || fits(p->pid)) && is_beside_ranks(t, i);
}

static int add_missing(const struct tree *t, bool (*fits)(pid_t pid), struct ranks *out)
{
	size_t cap = 0;
	bool told = false;
	int err = 0;

	for (size_t i = 0; i < t->cnt; i++)
		told |= t->items[i].rank >= 0;
	for (size_t i = 0; i < t->cnt && !err; i++)
		if (is_missing(t, i, told, fits))
			err = ARRAY_PUSH(out->missing, out->missing_cnt, cap, t->items[i].pid);
	return err;
}

static int add_serving(const struct tree *t, bool (*fits)(pid_t pid), struct ranks *out)
{
	size_t cap = 0;
	int err = 0;

	for (size_t i = 0; i < t->cnt && !err; i++)
		if (t->items[i].role.serves && fits(t->items[i].pid))
			err = ARRAY_PUSH(out->serving, out->serving_cnt, cap, t->items[i].pid);
	return err;
}

static void name_all(const pid_t *pids, size_t cnt, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < cnt && i < RANKS_NAMED; i++)
		len += (size_t)snprintf(text + len, size - len, "%s%d", i ? ", " : "", pids[i]);
	if (cnt > RANKS_NAMED)
		snprintf(text + len, size - len, " and %zu more", cnt - RANKS_NAMED);
}

void ranks__name_missing(const struct ranks *r, char *text, size_t size)
{
	name_all(r->missing, r->missing_cnt, text, size);
}

void ranks__name_serving(const struct ranks *r, char *text, size_t size)
{
	name_all(r->serving, r->serving_cnt, text, size);
}

/* Processes that fit may be workers of a forking server, for example. */
static int none_found(const struct tree *t, pid_t launcher, const struct ranks *found)
{
	char names[RANKS_NAMES];
	size_t ranks = 0;

	for (size_t i = 0; i < t->cnt; i++)
		ranks += t->items[i].rank >= 0 || t->items[i].role.works;
	if (ranks)
		return err__set(-ENOENT, MESSAGE_RANKS_WITHOUT_FRAMEWORK, launcher, ranks);
	ranks__name_missing(found, names, sizeof(names));
	if (names[0])
		return err__set(-ENOENT, MESSAGE_RANKS_MISSING_SUGGESTED, launcher, t->cnt, names);
	return err__set(-ENOENT, MESSAGE_RANKS_MISSING, launcher, t->cnt);
}

/* ---- all of them ---- */

void ranks__clear(struct ranks *r)
{
	free(r->items);
	free(r->missing);
	free(r->serving);
	*r = (struct ranks){0};
}

static int add_chosen(const struct tree *t, struct ranks *out)
{
	size_t cap = 0;
	int err = 0;

	for (size_t i = 0; i < t->cnt && !err; i++) {
		const struct process *p = &t->items[i];

		if (p->head == i && !p->launches && p->chosen != NONE)
			err = ARRAY_PUSH(out->items, out->cnt, cap,
					 ((struct rank){t->items[p->chosen].pid, p->rank}));
	}
	if (out->cnt)
		qsort(out->items, out->cnt, sizeof(*out->items), by_rank);
	return err;
}

int ranks__of_launcher(pid_t launcher, bool (*fits)(pid_t pid), struct ranks *out)
{
	struct tree t = {0};
	int err = 0;

	*out = (struct ranks){0};
	if (access(proc_path(launcher, "stat").s, F_OK))
		return err__set(-ESRCH, MESSAGE_PROCESS_MISSING, launcher);
	err = add(&t, launcher, NONE);
	for (size_t i = 0; i < t.cnt && !err; i++)
		err = proc__each_child(t.items[i].pid, add_child, &(struct descendant){&t, i});
	choose(&t, fits);
	if (!has_ranks(&t)) {
		read_own_ranks(&t, fits);
		choose(&t, fits);
	}
	if (!has_ranks(&t))
		choose_by_role(&t, fits);
	if (!has_ranks(&t))
		choose_by_group(&t, fits);
	if (!has_ranks(&t))
		choose_by_store(&t, fits);
	if (!err)
		err = add_chosen(&t, out);
	if (!err)
		err = add_missing(&t, fits, out);
	if (!err)
		err = add_serving(&t, fits, out);
	if (!err && !out->cnt)
		err = none_found(&t, launcher, out);
	free(t.items);
	return err;
}

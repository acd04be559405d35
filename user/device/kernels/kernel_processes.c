// SPDX-License-Identifier: BSD-2-Clause
#include "device/kernels/kernel_processes.h"
#include "common/err.h"
#include "common/util.h"

struct child {
	pid_t pid;
	struct target *target; /* NULL: the process could not be opened */
	struct kernel_names *names;
};

struct kernel_processes {
	struct target *target;
	struct kernel_names *names;
	struct child *children;
	size_t cnt, cap;
};

struct kernel_processes *kernel_processes__new(struct target *t)
{
	struct kernel_processes *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->target = t;
	p->names = kernel_names__new(t, NULL);
	if (p->names)
		return p;
	free(p);
	return NULL;
}

static void child_clear(struct child *c)
{
	kernel_names__free(c->names);
	target__close(c->target);
}

static void clear_children(struct kernel_processes *p)
{
	for (size_t i = 0; i < p->cnt; i++)
		child_clear(&p->children[i]);
	p->cnt = 0;
}

void kernel_processes__free(struct kernel_processes *p)
{
	if (!p)
		return;
	clear_children(p);
	kernel_names__free(p->names);
	free(p->children);
	free(p);
}

void kernel_processes__forget(struct kernel_processes *p)
{
	clear_children(p);
	kernel_names__forget_ids(p->names);
}

void kernel_processes__prepare(struct kernel_processes *p)
{
	kernel_names__prepare(p->names);
}

static struct child child_open(struct kernel_processes *p, pid_t pid)
{
	struct child c = {.pid = pid};

	if (target__open(pid, &c.target)) {
		err__take(-ESRCH);
		return (struct child){.pid = pid};
	}
	c.names = kernel_names__new(c.target, p->names);
	if (c.names)
		kernel_names__prepare(c.names);
	return c;
}

struct kernel_names *kernel_processes__of(struct kernel_processes *p, pid_t pid)
{
	struct child c;

	if (pid == p->target->pid)
		return p->names;
	for (size_t i = 0; i < p->cnt; i++)
		if (p->children[i].pid == pid)
			return p->children[i].names;
	c = child_open(p, pid);
	if (ARRAY_PUSH(p->children, p->cnt, p->cap, c)) {
		child_clear(&c);
		return NULL;
	}
	return c.names;
}

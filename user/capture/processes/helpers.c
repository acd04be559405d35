// SPDX-License-Identifier: BSD-2-Clause
#include "capture/processes/helpers.h"
#include "common/util.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

static enum helper_kind kind_of(const struct helper_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].pid == pid)
			return list->items[i].kind;
	return HELPER_NONE;
}

static void forget(struct helper_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (list->items[i].pid == pid)
			list->items[i--] = list->items[--list->cnt];
}

static enum helper_kind look(const struct helper_list *list, pid_t pid)
{
	const pid_t parent = proc__status(pid, "PPid");
	struct command_line own = {0}, parents = {0};
	auto_free char *text = proc__text(pid, "cmdline", &own.len);
	auto_free char *parent_text = proc__text(parent, "cmdline", &parents.len);

	own.text = text;
	parents.text = parent_text;
	return helper_process__kind(own, parents, kind_of(list, parent));
}

int helpers__note(struct helper_list *list, pid_t pid)
{
	struct helper h = {.pid = pid};

	forget(list, pid);
	h.kind = look(list, pid);
	return h.kind ? ARRAY_PUSH(list->items, list->cnt, list->cap, h) : 0;
}

static void forget_ended(struct helper_list *list)
{
	for (size_t i = 0; i < list->cnt; i++)
		if (kill(list->items[i].pid, 0) && errno == ESRCH)
			list->items[i--] = list->items[--list->cnt];
}

json_t *helpers__take(struct helper_list *list)
{
	json_t *array = list->cnt ? json_array() : NULL;

	for (size_t i = 0; i < list->cnt; i++)
		json_array_append_new(array,
				      json_pack("{s:i, s:s}", "pid", (int)list->items[i].pid,
						"kind", helper_kind__name(list->items[i].kind)));
	forget_ended(list);
	return array;
}

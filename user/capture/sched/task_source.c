// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sched/task_source.h"
#include "bpf/events.h"
#include "bpf/skeleton.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include <bpf/libbpf.h>
#include <string.h>

#define PROG_CNT 5

struct task_source {
	struct bpf_link *links[PROG_CNT];
};

static void programs(struct proftrace_bpf *skel, struct bpf_program *progs[PROG_CNT])
{
	progs[0] = skel->progs.task_free;
	progs[1] = skel->progs.task_fork;
	progs[2] = skel->progs.task_exec;
	progs[3] = skel->progs.task_exit;
	progs[4] = skel->progs.task_rename;
}

int task_source__prepare(struct proftrace_bpf *skel)
{
	struct bpf_program *progs[PROG_CNT];

	programs(skel, progs);
	for (size_t i = 0; i < PROG_CNT; i++)
		bpf_program__set_autoload(progs[i], true);
	return 0;
}

int task_source__start(struct proftrace_bpf *skel, bool follow_forks, struct task_source **out)
{
	struct task_source *s = calloc(1, sizeof(*s));
	struct bpf_program *progs[PROG_CNT];

	if (!s)
		return -ENOMEM;
	skel->bss->ctl.follow_forks = follow_forks;
	programs(skel, progs);
	for (size_t i = 0; i < PROG_CNT; i++) {
		int err;

		s->links[i] = bpf_program__attach(progs[i]);
		if (s->links[i])
			continue;
		err = -errno;
		task_source__stop(s);
		return err__set(err, MESSAGE_TASKS_PROGRAM_NOT_ATTACHED,
				bpf_program__section_name(progs[i]), strerror(-err));
	}
	*out = s;
	return 0;
}

void task_source__stop(struct task_source *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < PROG_CNT; i++)
		bpf_link__destroy(s->links[i]);
	free(s);
}

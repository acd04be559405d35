// SPDX-License-Identifier: BSD-2-Clause
/* Makes the parts of a session once the plan is known, and frees them at the end. */
#include "capture/session.h"
#include "bpf/skeleton.h"
#include "capture/arming/arm_groups.h"
#include "capture/capture_ring.h"
#include "capture/control/control.h"
#include "capture/decode/long_names.h"
#include "capture/decode/python_stacks.h"
#include "capture/device/cupti_watch.h"
#include "capture/no_window.h"
#include "capture/steps/find_period.h"
#include "common/err.h"
#include "common/util.h"
#include <bpf/libbpf.h>

static uint64_t asleep_since(void *ctx, uint32_t tid)
{
	const struct session *s = ctx;

	return s->sched ? sched_source__asleep_since(s->sched, tid) : 0;
}

int session__load(struct session *s)
{
	int err = probes__load(&s->probes, s->target, s->opts, &s->plan);

	if (err)
		return err;
	s->plan.row_max = bpf_map__max_entries(s->probes.skel->maps.probe_cfg);
	control__loaded(s);
	s->probes.pruned = s->pruned.rows;
	find_period__hide_probes(s);
	optimizer_step__loaded(s);
	s->probes.ctl->target_pid = (uint32_t)s->target->pid;
	s->probes.ctl->target_cnt = 1;
	err = probes__add_target(&s->probes, s->target->pid);
	if (err)
		return err;
	s->records.decoder =
		decoder__new(s->target, s->match.framework, &s->plan, &s->probes.ctl->ended);
	s->records.long_names =
		long_names__new(bpf_map__fd(s->probes.skel->maps.long_names),
				bpf_map__max_entries(s->probes.skel->maps.long_names),
				&s->probes.ctl->long_name_cnt);
	if (!s->records.decoder || !s->records.long_names)
		return -ENOMEM;
	decoder__set_stacks(s->records.decoder, s->records.stacks);
	decoder__set_long_names(s->records.decoder, s->records.long_names);
	decoder__set_asleep(s->records.decoder, asleep_since, s);
	return capture_ring__new(s, session__on_record);
}

void session__free(struct session *s)
{
	uint64_t begin = clock__monotonic_ns();

	s->res->target_gone = s->target_gone;
	s->res->target_execed = s->target_execed;
	control__close(s);
	no_window__seen(s);
	cupti_watch__stop(s->cupti.watch);
	device_source__free(s->device);
	shim_link__free(s->cupti.link);
	free(s->held_steps.list);
	task_source__stop(s->tasks);
	sched_source__stop(s->sched);
	ring__free(s->records.ring);
	arm__hurry(true);
	if (s->probes.skel)
		probes__free(&s->probes);
	arm__hurry(false);
	log__debug("detached in %.1f ms", (double)(clock__monotonic_ns() - begin) / 1e6);
	decoder__free(s->records.decoder);
	long_names__free(s->records.long_names);
	optimizer_step__free(s);
	python_stacks__free(s->records.stacks);
	probe_plan__free(&s->plan);
	free(s->pruned.rows);
	pointer_hooks__free(s);
	free(s->pruned.list);
	call_log__free(&s->records.log);
	free(s->children.pids);
	free(s->children.helpers.items);
	free(s->children.newborn);
	free(s->children.gone);
	if (s->target)
		target__close(s->target);
}

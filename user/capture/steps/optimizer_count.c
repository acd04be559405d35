// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/optimizer_count.h"
#include "bpf/ctl.h"
#include "capture/session.h"

void optimizer_step__forget(struct session *s, enum probe_group group)
{
	if (group == GROUP_WATCH)
		s->probes.ctl->optimizer_step.refs = 0;
	if (group == GROUP_WATCH || group == GROUP_ENCLOSING)
		s->probes.ctl->optimizer_step.under_way = 1;
}

void optimizer_step__read_count(struct session *s)
{
	struct pt_optimizer_step *o = &s->probes.ctl->optimizer_step;
	uint32_t refs = 0, unknown = 0;

	if (o->refs_at && !target__read(s->target, o->refs_at, &refs, sizeof(refs)))
		__atomic_compare_exchange_n(&o->refs, &unknown, refs, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
}

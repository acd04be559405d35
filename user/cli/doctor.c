// SPDX-License-Identifier: BSD-2-Clause
/* Facts for both output forms. */
#include "cli/doctor.h"

const char *const doctor_detail_names[DETAIL_CNT] = {"phase", "operator", "inner"};

bool doctor__can_profile(const struct doctor *d)
{
	const struct attach_caps *c = &d->caps;

	return c->btf && c->can_bpf && c->ringbuf && c->cookies &&
	       (c->uprobe_multi || c->perf_uprobe);
}

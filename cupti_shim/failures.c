// SPDX-License-Identifier: BSD-2-Clause
/* Counts what CUPTI refuses and drops, in the shared file, for the report. */
#include "cupti_shim/shim.h"
#include <stdio.h>

int failures__note(struct shim_control *c, enum shim_failure which, int result)
{
	struct shim_failed *f = &c->failed[which];

	if (result && !__atomic_fetch_add(&f->cnt, 1, __ATOMIC_RELAXED))
		f->result = result;
	return result;
}

int failures__refused(struct shim_control *c, const char *call, int result)
{
	snprintf(c->cupti_call, sizeof(c->cupti_call), "%s", call);
	c->cupti_result = result;
	switch (result) {
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		return SHIM_OTHER_SUBSCRIBER;
	case CUPTI_INSUFFICIENT_PRIVILEGES:
	case CUPTI_VIRTUALIZED_INSUFFICIENT_PRIVILEGES:
		return SHIM_NO_PRIVILEGE;
	default:
		return SHIM_CUPTI_FAILED;
	}
}

void failures__count_dropped(struct shim_control *c, const struct cupti *cupti, void *context,
			     uint32_t stream)
{
	size_t dropped = 0;

	if (!failures__note(c, SHIM_FAILS_DROPPED,
			    cupti->ActivityGetNumDroppedRecords(context, stream, &dropped)))
		__atomic_add_fetch(&c->lost_cupti, dropped, __ATOMIC_RELAXED);
}

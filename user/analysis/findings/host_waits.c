// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/host_waits.h"
#include <jansson.h>
#include <string.h>

bool span__is_wait(const struct analysis *a, const struct span *s)
{
	return s->kind == KIND_RUNTIME && strstr(analysis__name(a, s->ev.name), "Synchronize");
}

bool host_waits__are_users(const struct analysis *a, const struct step *step, const struct track *t)
{
	const json_t *runtime = json_object_get(recording__meta(a->r), "runtime");

	return analysis__is_main(a, t) &&
	       (!step || json_is_true(json_object_get(runtime, "runs_in_caller")) ||
		recording__track(a->r, step->track) == t);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/flops_sum.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int flops_names__load(struct flops_names *names, const struct recording *r)
{
	const uint32_t cnt = recording__name_cnt(r);

	if (names->formulas)
		return 0;
	names->formulas = calloc((size_t)cnt + 1, sizeof(*names->formulas));
	if (!names->formulas)
		return -ENOMEM;
	for (uint32_t id = 1; id <= cnt; id++) {
		const struct name *n = recording__name(r, id);

		names->formulas[id] = (uint8_t)flops__formula(n ? n->text : NULL);
	}
	return 0;
}

void flops_names__free(struct flops_names *names)
{
	free(names->formulas);
}

/* A call from Python shows the arguments that were passed. A call in C++ shows all arguments. */
static bool has_defaults(const struct recording *r, const struct name *n)
{
	return !n->schema && json_is_true(json_object_get(recording__meta(r), "record_values"));
}

void flops_sum__add(struct flops_sum *sum, const struct flops_names *names,
		    const struct recording *r, const struct event *call)
{
	const struct name *n = recording__name(r, call->overload ? call->overload : call->name);
	uint64_t flops;

	if (!n || !names->formulas[n->id])
		return;
	if (flops__of(names->formulas[n->id], call, has_defaults(r, n), &flops) == FLOPS_KNOWN) {
		sum->flops += flops;
		sum->known++;
	} else {
		sum->unknown++;
	}
}

bool flops_sum__shown(const struct flops_sum *sum, const struct recording *r)
{
	return sum->known ||
	       (sum->unknown && json_is_true(json_object_get(recording__meta(r), "record_shapes")));
}

static struct cell unknown(const struct flops_sum *sum)
{
	return cell__none(sum->unknown ? "its arguments are not all known"
				       : "there is no formula for it");
}

struct cell flops_sum__cell(const struct flops_sum *sum)
{
	return sum->known ? cell__large(sum->flops) : unknown(sum);
}

struct cell flops_sum__rate(const struct flops_sum *sum, const struct stat *calls)
{
	const uint64_t ns = calls->gpu.total ? calls->gpu.total : calls->cpu.total;

	if (!sum->known || sum->unknown)
		return unknown(sum);
	if (!ns)
		return cell__none("no time was seen");
	return cell__large((uint64_t)(1e9 * (double)sum->flops / (double)ns));
}

int flops_sum__note(const struct recording *r, uint64_t unknown, struct table *t)
{
	const char *detail = json_string_value(json_object_get(recording__meta(r), "detail"));
	const bool inner = detail && !strcmp(detail, "inner");
	int err =
		table__add_notef(t,
				 "FLOPs: of aten::conv2d, mm, addmm, bmm, baddbmm, add and mul, as "
				 "torch.profiler counts them%s.",
				 inner ? "" : "; those that others call need --detail inner");

	if (!err && unknown)
		err = table__add_notef(t,
				       "FLOPs of %llu of these calls are missing: what they were "
				       "given is not all known.",
				       (unsigned long long)unknown);
	return err;
}

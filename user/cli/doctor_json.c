// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include "cli/doctor.h"
#include "common/capability.h"
#include "common/json_out.h"
#include "common/util.h"
#include "privilege/rights.h"
#include "privilege/sandbox.h"

static const char *method_name(const struct attach_caps *c)
{
	if (c->uprobe_multi)
		return "uprobe_multi";
	return c->perf_uprobe ? "perf_event" : "none";
}

static json_t *cost_json(const struct doctor *d)
{
	if (!d->has_cost)
		return json_null();
	return json_pack("{s:I,s:I,s:I}", "entry_ns", (json_int_t)d->cost.entry_ns, "stepped_ns",
			 (json_int_t)d->cost.stepped_ns, "entry_return_ns",
			 (json_int_t)d->cost.entry_return_ns);
}

static json_t *names_json(uint64_t held)
{
	json_t *list = json_array();
	size_t cnt;
	const struct right *rights = rights__all(&cnt);

	for (size_t i = 0; list && i < cnt; i++)
		if (held & CAPABILITY(rights[i].capability))
			json_array_append_new(list, json_string(rights[i].name));
	return list;
}

/* Which of this process's rights it keeps in each stage of a session, and which the process that
 * opens its files keeps. */
static json_t *rights_json(const struct doctor *d)
{
	json_t *stages = json_object();

	for (enum rights_stage stage = RIGHTS_ATTACH; stages && stage < RIGHTS_STAGE_CNT; stage++)
		json_object_set_new(stages, rights__stage_name(stage),
				    names_json(rights__held(d->rights.has, stage, d->needs_admin)));
	json_object_set_new(stages, "files",
			    names_json(d->rights.has & rights__for(RIGHTS_TO_OPEN)));
	return stages;
}

static json_t *machine_json(const struct doctor *d)
{
	const struct attach_caps *c = &d->caps;

	return json_pack("{s:s,s:b,s:b,s:b,s:b,s:b,s:b,s:b,s:s,s:s,s:o,s:o,s:i,s:b}", "kernel",
			 c->kernel, "btf", c->btf, "can_bpf", c->can_bpf, "ring_buffer", c->ringbuf,
			 "attach_cookies", c->cookies, "page_faults", c->page_faults,
			 "uprobe_multi", c->uprobe_multi, "perf_uprobe", c->perf_uprobe, "method",
			 method_name(c), "missing", c->missing, "cost", cost_json(d),
			 "capabilities", rights_json(d), "landlock", d->rights.landlock, "seccomp",
			 !(d->rights.lacks & PROTECTION_SECCOMP));
}

static json_t *missing_json(const struct probe_plan *plan)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < plan->missing_cnt; i++)
		json_array_append_new(list, json_string(plan->missing[i]));
	return list;
}

static json_t *stepped_json(const struct doctor_plan *dp)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < dp->stepped_cnt; i++) {
		const struct planned_probe *p = dp->stepped[i];

		json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "function", p->symbol,
						      "address", (json_int_t)p->vaddr, "why",
						      planned_probe__why_stepped(p)));
	}
	return list;
}

static json_t *plan_json(const struct doctor_plan *dp)
{
	if (dp->err)
		return json_null();
	return json_pack(
		"{s:I,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "functions",
		(json_int_t)dp->functions, "sites", (json_int_t)dp->sites, "watched",
		(json_int_t)dp->watched, "emulated", (json_int_t)dp->by_class[SITE_EMULATED],
		"stepped", (json_int_t)dp->by_class[SITE_STEPPED], "stepped_probes",
		stepped_json(dp), "refused", (json_int_t)dp->by_class[SITE_REFUSED], "unknown",
		(json_int_t)dp->by_class[SITE_UNKNOWN], "return_probes",
		(json_int_t)dp->with_return, "return_probes_refused",
		(json_int_t)dp->returns_refused, "cheapest_call_ns", (json_int_t)dp->cheapest_ns,
		"dearest_call_ns", (json_int_t)dp->dearest_ns, "missing", missing_json(&dp->plan));
}

static json_t *framework_json(const struct doctor *d)
{
	json_t *framework, *levels;

	if (!d->match.framework)
		return json_null();
	levels = json_object();
	for (int i = 0; levels && i < DETAIL_CNT; i++)
		json_object_set_new(levels, doctor_detail_names[i], plan_json(&d->plans[i]));
	framework = json_pack("{s:s,s:s,s:b,s:s,s:s,s:o}", "name", d->match.framework->name,
			      "version", d->match.version, "known_version", d->match.known_version,
			      "why", d->match.why, "others", d->match.others, "detail", levels);
	return framework;
}

static json_t *device_json(const struct doctor *d)
{
	const struct doctor_device *device = &d->device;
	const struct shim_attached *a = &device->attached;
	json_t *json = json_pack("{s:b, s:b}", "uses_cuda", (int)device->uses_cuda, "cupti",
				 (int)device->works);

	if (json && device->works)
		json_object_update_new(json,
				       json_pack("{s:b, s:b, s:s, s:i}", "library_loaded",
						 (int)a->inject.already_loaded, "libcupti_loaded",
						 (int)a->cupti.loaded, "libcupti", a->cupti.path,
						 "cuda", (int)a->cupti.major));
	if (json && device->why_not[0])
		json_object_set_new(json, "why_not", json_string(device->why_not));
	return json;
}

int doctor__print_json(const struct doctor *d, FILE *out)
{
	json_t *all = d->target ? target__json(d->target) : json_object();
	int err = -ENOMEM;

	if (all && json_object_set_new(all, "machine", machine_json(d)) == 0 &&
	    json_object_set_new(all, "ready", json_boolean(doctor__can_profile(d))) == 0 &&
	    (!d->target || json_object_set_new(all, "framework", framework_json(d)) == 0) &&
	    (!d->target ||
	     json_object_set_new(all, "proftrace_h", json_integer((json_int_t)d->own_usdt)) == 0) &&
	    (!d->target || json_object_set_new(all, "device", device_json(d)) == 0) &&
	    json_dumpf(all, out, JSON_INDENT(2) | json_out__flags(out)) == 0) {
		fputc('\n', out);
		err = 0;
	}
	json_decref(all);
	return err;
}

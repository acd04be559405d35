// SPDX-License-Identifier: BSD-2-Clause
#include "capture/device/device_calls.h"
#include "capture/arming/arm_groups.h"
#include "common/err.h"
#include "common/util.h"
#include "device/cuda_calls.h"

/* Probes see device calls, beyond phases, in three cases: our library must not be loaded, could not
 * be loaded, or may not use CUPTI. Once true it stays true: otherwise the session could show calls
 * twice. */
static bool wanted(struct session *s)
{
	if (s->cupti.link || s->calls_on || s->opts->detail == DETAIL_PHASE)
		return s->calls_on;
	if (!s->device)
		return s->opts->no_inject || s->cupti.attach_tried;
	return !device_source__is_absent(s->device) && device_source__refusal(s->device);
}

int device_calls__plan(struct session *s)
{
	int n;

	if (!wanted(s))
		return 0;
	n = cuda_calls__plan(s->target, &s->plan);
	s->calls_on |= n > 0;
	return n < 0 ? n : 0;
}

/* The process loads CUDA's libraries when it first uses the device. Attaches to libraries that are
 * new. */
static int look(struct session *s)
{
	size_t before = s->plan.cnt;
	int err;

	if (!wanted(s) || cuda_calls__complete(&s->plan))
		return 0;
	err = target__refresh_libs(s->target);
	if (err) {
		err__take(err);
		return 0; /* the target has ended; the loop notices that */
	}
	err = device_calls__plan(s);
	if (err || s->plan.cnt == before)
		return err;
	decoder__plan_grew(s->records.decoder);
	err = probes__plan_grew(&s->probes, before);
	/* Otherwise these probes are attached with those of the next window. */
	return err || s->residency != RESIDENCY_FULL ? err : arm__reattach(s, GROUP_DEVICE);
}

static int prepare(struct session *s)
{
	int err = look(s);

	if (err || !s->calls_on)
		return err;
	if (target__refresh_libs(s->target))
		err__take(-ESRCH); /* the target has ended; the loop notices that */
	decoder__prepare_kernels(s->records.decoder);
	return 0;
}

/* Not during a window: the window keeps one source of device calls. */
static int look_between_windows(struct session *s, uint64_t *next_ns)
{
	(void)next_ns;
	return s->window.writer ? 0 : look(s);
}

static void describe(struct session *s, json_t *summary)
{
	json_t *device = json_object_get(summary, "device");
	size_t cnt = 0;

	if (!s->calls_on)
		return;
	for (size_t i = 0; i < s->plan.cnt; i++)
		cnt += s->plan.probes[i].group == GROUP_DEVICE;
	if (!device) {
		device = json_object();
		json_object_set_new(summary, "device", device);
	}
	json_object_set_new(device, "source", json_string("probes"));
	json_object_set_new(device, "functions", json_integer((json_int_t)cnt));
	if (s->opts->no_inject)
		json_array_append_new(json_object_get(summary, "notes"),
				      json_string("no device times: --no-inject"));
	json_array_append_new(
		json_object_get(summary, "notes"),
		json_string("calls of CUDA were seen by probes, which do not show when "
			    "a kernel or copy ran"));
}

const struct component component_device_calls = {
	.name = "calls of the device",
	.prepare = prepare,
	.poll = look_between_windows,
	.every_ms = 250,
	.describe = describe,
};

// SPDX-License-Identifier: BSD-2-Clause
/* Steps allocate memory from the driver and give it back: the framework's cache does not keep
 * it. */
#include "analysis/findings/call_time.h"
#include "analysis/findings/finding.h"
#include <string.h>

#define WORTH_SAYING 1.0 /* percent of the step that the calls take */

struct allocs {
	uint64_t cnt;
	struct call_time time;
};

static bool is_alloc(const char *name)
{
	static const char *const names[] = {"cudaMalloc", "cudaFree",	 "cuMemAlloc",
					    "cuMemFree",  "cuMemCreate", "cuMemRelease"};

	/* Memory of a pool, which keeps what is freed, and memory of the host do not count. */
	if (strstr(name, "Async") || strstr(name, "Host"))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static int visit(const struct analysis *a, void *state, const struct batch *b)
{
	struct allocs *c = state;
	int err = 0;

	for (size_t i = 0; i < b->track_cnt; i++) {
		if (!analysis__is_main(a, b->tracks[i].track))
			continue;
		for (const struct span *s = b->tracks[i].roots; s && !err;
		     s = span__next(s, NULL)) {
			if (s->kind != KIND_RUNTIME || !is_alloc(analysis__name(a, s->ev.name)))
				continue;
			c->cnt++;
			err = call_time__add(a, &c->time, s);
		}
	}
	return err;
}

static int judge(const struct analysis *a, void *state, struct finding *f)
{
	struct allocs *c = state;
	const uint64_t ns = call_time__ns(a, &c->time);

	if (c->cnt < a->steps.calls || finding__percent(a, ns) < WORTH_SAYING)
		return 0;
	f->cost_ns = finding__per_step(a, ns);
	snprintf(f->what, sizeof(f->what),
		 "Device memory is taken from the driver, or given back, %.1f times a step.",
		 (double)c->cnt / (double)a->steps.calls);
	snprintf(
		f->evidence, sizeof(f->evidence),
		"%llu calls of cudaMalloc, cudaFree and their like take %s of a step, and each may "
		"wait for the device",
		(unsigned long long)c->cnt, time_text(a, f->cost_ns).s);
	snprintf(f->next, sizeof(f->next),
		 "do not empty the framework's cache in the loop; sizes that change from step to "
		 "step "
		 "fragment it (PyTorch: expandable_segments); see `--profile-memory`");
	return 1;
}

static void clean(void *state)
{
	call_time__free(&((struct allocs *)state)->time);
}

const struct finding_rule finding_device_alloc = {
	.key = "device_allocation",
	.of_host = true,
	.rests_on_device = true,
	.state_size = sizeof(struct allocs),
	.visit = visit,
	.judge = judge,
	.clean = clean,
};

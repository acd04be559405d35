// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/step_parts.h"
#include <stdlib.h>
#include "common/median.h"
#include "common/util.h"

const struct step_part step_parts[STEP_PARTS] = {
	{KIND_DATALOADER, "dataloader", "Dataloader"},
	{KIND_FORWARD, "forward", "Forward"},
	{KIND_BACKWARD, "backward", "Backward"},
	{KIND_OPTIMIZATION, "optimization", "Optimization"},
	{KIND_OTHER, "others", "Others"},
};

bool step_part__is_timed(size_t part)
{
	return step_parts[part].kind == KIND_DATALOADER;
}

bool step__has_phase(const struct step *step)
{
	for (size_t i = 0; i < STEP_PHASES; i++)
		if (step->phase_ns[step_parts[i].kind])
			return true;
	return false;
}

int steps__median(const struct step *steps, size_t cnt, int part, uint64_t *median_ns)
{
	auto_free uint64_t *times = calloc(cnt + 1, sizeof(*times));

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++)
		times[i] = part == STEP_WHOLE ? steps[i].cpu_ns : steps[i].phase_ns[part];
	*median_ns = median__of(times, cnt);
	return 0;
}

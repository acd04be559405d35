// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/step_parts.h"

const struct step_part step_parts[STEP_PARTS] = {
	{KIND_DATALOADER, "dataloader", "Dataloader"},
	{KIND_FORWARD, "forward", "Forward"},
	{KIND_BACKWARD, "backward", "Backward"},
	{KIND_OPTIMIZATION, "optimization", "Optimization"},
	{KIND_OTHER, "others", "Others"},
};

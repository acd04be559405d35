/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of this room. */
#ifndef PROFTRACE_FRAMEWORKS_MESSAGE_TABLE_H
#define PROFTRACE_FRAMEWORKS_MESSAGE_TABLE_H

#include "common/message.h"

/* ---- Plans of probes ---- */

#define MESSAGE_PLAN_TOO_LARGE \
	MESSAGE("frameworks.plan-too-large", "more than %u probes planned; choose a lower --detail")
#define MESSAGE_TORCH_OPERATORS_MISSING \
	MESSAGE("frameworks.torch-operators-missing", \
		"the library has no at::_ops functions; is it a libtorch_cpu of PyTorch 1.9 or " \
		"newer?")

#endif

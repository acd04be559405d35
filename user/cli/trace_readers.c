// SPDX-License-Identifier: BSD-2-Clause
#include "cli/trace_readers.h"
#include <string.h>
#include "common/counted.h"
#include "common/err.h"
#include "cli/message_table.h"

void trace_readers__describe(const char *recording, const char *dialect,
			     const struct export_result *result)
{
	if (!result->device_events)
		return;
	if (dialect && !strcmp(dialect, "tb")) {
		log__info(MESSAGE_TRACE_READ_IN_PART_BY_HTA, recording);
		return;
	}
	if (result->negative_in_hta)
		log__info(MESSAGE_TRACE_TIMES_ROUNDED_BY_HTA,
			  counted(result->negative_in_hta, "event", "events").s);
	log__info(MESSAGE_TRACE_SHOWN_WITHOUT_DEVICE_TIME, recording);
}

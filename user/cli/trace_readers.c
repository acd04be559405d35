// SPDX-License-Identifier: BSD-2-Clause
#include "cli/trace_readers.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "common/counted.h"
#include "common/err.h"
#include "cli/message_table.h"

void trace_readers__text(const char *recording, const char *dialect,
			 const struct export_result *result, char *text, size_t size)
{
	size_t len = 0;

	*text = '\0';
	if (!result->device_events)
		return;
	if (dialect && !strcmp(dialect, "tb")) {
		snprintf(text, size,
			 "HTA reads no more than steps and call graph of this dialect; the trace "
			 "for it: proftrace export %s",
			 recording);
		return;
	}
	if (result->negative_in_hta)
		len = (size_t)snprintf(
			text, size,
			"HTA rounds %s of the device to -1 us, unless its environment has "
			"HTA_DISABLE_NS_ROUNDING=1. ",
			counted(result->negative_in_hta, "event", "events").s);
	snprintf(text + len, size - len,
		 "torch_tb_profiler 0.4 shows no device time of operators in this trace; the one "
		 "for it: proftrace export --dialect tb %s",
		 recording);
}

void trace_readers__say(const char *recording, const char *dialect,
			const struct export_result *result)
{
	char text[PATH_MAX + 512];

	trace_readers__text(recording, dialect, result, text, sizeof(text));
	if (*text)
		log__info(MESSAGE_TRACE_READERS_ADVICE, text);
}

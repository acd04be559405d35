// SPDX-License-Identifier: BSD-2-Clause
#include "common/bytes_text.h"
#include <inttypes.h>
#include <stdio.h>
#include "common/util.h"

struct bytes_text bytes_text(uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB"};
	double size = (double)bytes / 1e3;
	struct bytes_text t;
	size_t i = 0;

	if (bytes < 1000) {
		snprintf(t.s, sizeof(t.s), "%" PRIu64 " B", bytes);
		return t;
	}
	/* A size that rounds to 1000.0 becomes 1.0 of the next unit. */
	for (; size >= 999.95 && i + 1 < ARRAY_SIZE(units); i++)
		size /= 1e3;
	snprintf(t.s, sizeof(t.s), "%.1f %s", size, units[i]);
	return t;
}

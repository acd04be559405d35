// SPDX-License-Identifier: BSD-2-Clause
#include "attach/privilege.h"
#include <linux/capability.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"

/* Of linux/capability.h since Linux 5.8; CAP_SYS_ADMIN does for both. */
static const struct {
	int bit;
	const char *name;
} capabilities[] = {
	{39, "CAP_BPF"},
	{38, "CAP_PERFMON"},
};

static uint64_t effective(void)
{
	auto_free char *status = file__read("/proc/self/status", NULL);
	const char *line = status ? strstr(status, "\nCapEff:") : NULL;

	return line ? strtoull(line + strlen("\nCapEff:"), NULL, 16) : 0;
}

/* As "CAP_BPF and CAP_PERFMON"; "" if we have them all. */
static const char *missing_capabilities(void)
{
	static char text[64];
	uint64_t have = effective();

	text[0] = '\0';
	if (have & 1ull << CAP_SYS_ADMIN)
		return text;
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++) {
		size_t len = strlen(text);

		if (!(have & 1ull << capabilities[i].bit))
			snprintf(text + len, sizeof(text) - len, "%s%s", len ? " and " : "",
				 capabilities[i].name);
	}
	return text;
}

int privilege__require(void)
{
	const char *missing = missing_capabilities();

	return *missing ? err__set(-EPERM, "may not load BPF programs: needs %s; run with sudo",
				   missing)
			: 0;
}

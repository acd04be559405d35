// SPDX-License-Identifier: BSD-2-Clause
#include "cli/percent.h"
#include <errno.h>
#include <stdlib.h>
#include "common/err.h"

#define PERCENT_MAX 1000

int percent__parse(const char *option, const char *value, double *out)
{
	char *end;
	double percent = strtod(value, &end);

	if (*end == '%')
		end++;
	if (end == value || *end || !(percent >= 0 && percent <= PERCENT_MAX))
		return err__set(-EINVAL, "--%s wants a percentage like 2%%, not '%s'", option,
				value);
	*out = percent / 100;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "cli/percent.h"
#include <errno.h>
#include <stdlib.h>
#include "common/err.h"
#include "cli/message_table.h"

#define PERCENT_MAX 1000

int percent__parse(const char *option, const char *value, double *out)
{
	char *end;
	double percent = strtod(value, &end);

	if (*end == '%')
		end++;
	if (end == value || *end || !(percent >= 0 && percent <= PERCENT_MAX))
		return err__set(-EINVAL, MESSAGE_OPTION_PERCENT_INVALID, option, value);
	*out = percent / 100;
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Values of options: one parser per type. Each refuses what it does not fully understand. */
#include "cli/opts.h"
#include "common/suggest.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"
#include <string.h>

struct suffix {
	const char *name;
	uint64_t factor;
};

static const struct suffix byte_suffixes[] = {
	{"", 1},	   {"k", 1ull << 10}, {"K", 1ull << 10},
	{"M", 1ull << 20}, {"G", 1ull << 30}, {NULL, 0},
};

static const struct suffix duration_suffixes[] = {
	{"", 1000000000},  {"ns", 1},	       {"us", 1000},	     {"ms", 1000000},
	{"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {NULL, 0},
};

static uint64_t suffix_factor(const struct suffix *suffixes, const char *name)
{
	for (; suffixes->name; suffixes++)
		if (strcmp(suffixes->name, name) == 0)
			return suffixes->factor;
	return 0;
}

static int bad_value(const struct opt *opt, const char *value, const char *wanted)
{
	return err__set(-EINVAL, MESSAGE_OPTION_VALUE_INVALID, opt->name, value, wanted);
}

static int set_uint(const struct opt *opt, const char *value, void *dest)
{
	bool is_bytes = opt->unit && strcmp(opt->unit, "bytes") == 0;
	uint64_t number, factor;
	char *end;

	if (opt->once && (*(uint64_t *)dest || strchr(value, ',')))
		return err__set(-EINVAL, MESSAGE_OPTION_GIVEN_TWICE, opt->name, value, opt->once);
	/* strtoull would accept signs and blanks. */
	if (value[0] < '0' || value[0] > '9')
		return bad_value(opt, value, "a whole number");
	errno = 0;
	number = strtoull(value, &end, 10);
	factor = is_bytes ? suffix_factor(byte_suffixes, end) : *end == '\0';
	if (!factor)
		return bad_value(opt, value,
				 is_bytes ? "a number of bytes (64k, 16M, 1G)" : "a whole number");
	if (errno || __builtin_mul_overflow(number, factor, &number))
		return bad_value(opt, value, "a number that fits in 64 bits");
	if (number < opt->min && !opt->zero)
		return err__set(-EINVAL, MESSAGE_OPTION_VALUE_SMALL, opt->name, value,
				(unsigned long long)opt->min);
	if (number < opt->min && number)
		return err__set(-EINVAL, MESSAGE_OPTION_VALUE_SMALL_BUT_ZERO, opt->name, value,
				(unsigned long long)opt->min, opt->zero);
	if (opt->max && number > opt->max)
		return err__set(-EINVAL, MESSAGE_OPTION_VALUE_LARGE, opt->name, value,
				(unsigned long long)opt->max);
	*(uint64_t *)dest = number;
	return 0;
}

static int set_duration(const struct opt *opt, const char *value, void *dest)
{
	size_t digits = strspn(value, "0123456789.");
	double number, ns;
	uint64_t factor;
	char *end;

	number = strtod(value, &end);
	/* strtod would accept signs, exponents, hexadecimal and "inf". */
	if (!digits || end != value + digits)
		return bad_value(opt, value, "a duration (5s, 200ms, 1m)");
	factor = suffix_factor(duration_suffixes, end);
	if (!factor)
		return bad_value(opt, value, "a duration (5s, 200ms, 1m)");
	ns = number * (double)factor;
	if (ns > 9e18)
		return bad_value(opt, value, "a duration that fits in 64 bits of nanoseconds");
	if (ns + 0.5 < (double)opt->min)
		return err__set(-EINVAL, MESSAGE_OPTION_DURATION_ZERO, opt->name);
	*(uint64_t *)dest = (uint64_t)(ns + 0.5);
	return 0;
}

static int unknown_choice(const struct opt *opt, const char *value)
{
	struct suggestion near = {.word = value, .len = strlen(value)};
	char list[512] = "";
	size_t len = 0;

	for (const char *const *c = opt->choices; *c; c++) {
		suggest__offer(&near, *c);
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
						len ? ", " : "", *c);
	}
	if (near.best)
		return err__set(-EINVAL, MESSAGE_OPTION_CHOICE_UNKNOWN_SUGGESTED, opt->name, value,
				list, near.best);
	return err__set(-EINVAL, MESSAGE_OPTION_CHOICE_UNKNOWN, opt->name, value, list);
}

static int set_choice(const struct opt *opt, const char *value, void *dest)
{
	for (int i = 0; opt->choices[i]; i++) {
		if (strcmp(opt->choices[i], value) == 0) {
			*(int *)dest = i;
			return 0;
		}
	}
	return unknown_choice(opt, value);
}

int opt__set(const struct opt *opt, const char *value, void *base)
{
	void *dest = (char *)base + opt->offset;

	switch (opt->type) {
	case OPT_FLAG:
		*(bool *)dest = true;
		return 0;
	case OPT_STRING:
		if (!*value)
			return err__set(-EINVAL, MESSAGE_OPTION_VALUE_EMPTY, opt->name,
					opt->arg ? opt->arg : "one");
		*(const char **)dest = value;
		return 0;
	case OPT_UINT:
		return set_uint(opt, value, dest);
	case OPT_DURATION:
		return set_duration(opt, value, dest);
	case OPT_CHOICE:
		return set_choice(opt, value, dest);
	case OPT_CUSTOM:
		return opt->parse(value, dest);
	case OPT_END:
	case OPT_GROUP:
	case OPT_INCLUDE:
		break;
	}
	return err__set(-EINVAL, MESSAGE_OPTION_WITHOUT_TYPE, opt->name);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Values of options: the first two bytes choose one, the rest is its value. */
#include <string.h>
#include "cli/help.h"
#include "cli/opts.h"
#include "common/err.h"
#include "common/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* No leak check, because commands keep their parsed options until the program ends. */
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* Options of a command fit in here. */
static uint64_t base[8192];

static bool find_option(unsigned int number, struct opt *found)
{
	const struct command *const *all = commands__all();
	unsigned int cnt = 0;

	for (int round = 0; round < 2; round++) {
		unsigned int at = 0;

		for (const struct command *const *c = all; *c; c++)
			for (struct opt_iter it = opt_iter__begin((*c)->opts);
			     opt_iter__next(&it);) {
				if (it.opt.type == OPT_GROUP || !opt__takes_value(&it.opt))
					continue;
				*found = it.opt;
				if (round && at == number % cnt)
					return true;
				at++;
			}
		cnt = at;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *value = NULL;
	struct opt opt;
	int err;

	if (size < 2 || !find_option(data[0] + 256u * data[1], &opt))
		return 0;
	/* They open files that they are given the names of. */
	if (opt.file_arg)
		return 0;
	/* Kept by reference. */
	value = strndup((const char *)data + 2, size - 2);
	if (!value)
		abort();
	memset(base, 0, sizeof(base));
	err = opt__set(&opt, value, base);
	if (err && !*err__take(err))
		__builtin_trap();
	return 0;
}

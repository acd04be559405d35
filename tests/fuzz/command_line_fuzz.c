// SPDX-License-Identifier: BSD-2-Clause
/* A process's command line and environment, which it may write over while it runs. */
#include <string.h>
#include "fuzz_text.h"
#include "common/util.h"
#include "target/helper_process.h"
#include "target/rank.h"
#include "target/target_priv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t weight;

static void see_arguments(const char *text, size_t size)
{
	char **argv;

	if (target_argv__split(text, size, &argv))
		abort();
	for (char **arg = argv; *arg; arg++) {
		weight += strlen(*arg);
		free(*arg);
	}
	free(argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = text_of(data, size);
	const size_t half = size / 2;
	const struct command_line own = {text, size}, rest = {text + half, size - half};
	int rank, local, world;

	see_arguments(text, size);
	rank__parse(text, size, &rank, &local, &world);
	if (rank < -1 || local < -1 || world < -1)
		__builtin_trap();
	weight += helper_process__kind(own, rest, HELPER_NONE);
	weight += helper_process__kind(rest, own, HELPER_COMPILER);
	return 0;
}

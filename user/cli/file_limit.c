// SPDX-License-Identifier: BSD-2-Clause
#include "cli/file_limit.h"
#include <signal.h>

static struct sigaction before;

void file_limit__ignore(void)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGXFSZ, &ignore, &before);
}

void file_limit__restore(void)
{
	sigaction(SIGXFSZ, &before, NULL);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "cli/next_try.h"
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include "capture/rendezvous.h"
#include "common/err.h"
#include "cli/message_table.h"
#include "common/util.h"

/* torchrun checks its ranks every 0.1 s. If one ended, it ends the others and starts all of them
 * again. */
#define WAIT_NS	  3000000000ull
#define LOOK_NS	  50000000
#define PID_CHARS 12

struct next {
	char pids[RENDEZVOUS_MAX * PID_CHARS]; /* "4711,4712": the processes that were started */
	size_t len, started, missing;
	pid_t launcher; /* launcher of a rank that is missing; 0: none is left */
};

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) != 0;
}

static void look(const struct successor *places, size_t cnt, struct next *n)
{
	*n = (struct next){0};
	for (size_t i = 0; i < cnt; i++) {
		pid_t pid;

		if (!is_gone(places[i].pid))
			continue;
		pid = successor__find(&places[i]);
		if (pid && n->started < RENDEZVOUS_MAX) {
			n->len += (size_t)snprintf(n->pids + n->len, sizeof(n->pids) - n->len,
						   "%s%d", n->started++ ? "," : "", pid);
			continue;
		}
		n->missing++;
		if (!n->launcher)
			n->launcher = successor__launcher(&places[i]);
	}
}

void next_try__describe(const struct successor *places, size_t cnt)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};
	const uint64_t until_ns = clock__monotonic_ns() + WAIT_NS;
	struct next n;

	for (look(places, cnt, &n); n.launcher && clock__monotonic_ns() < until_ns;
	     look(places, cnt, &n))
		nanosleep(&pause, NULL);
	if (n.started == 1)
		log__warn(MESSAGE_SUCCESSOR_STARTED, n.pids, n.pids);
	else if (n.started)
		log__warn(MESSAGE_SUCCESSORS_STARTED, n.started, n.pids);
	if (n.launcher && n.missing == 1)
		log__warn(MESSAGE_LAUNCHER_OF_RANK_RUNS, n.launcher, n.launcher);
	else if (n.launcher)
		log__warn(MESSAGE_LAUNCHER_RUNS, n.launcher, n.launcher);
}

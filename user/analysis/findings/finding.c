// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/finding.h"
#include <string.h>
#include "common/util.h"

uint64_t finding__per_step(const struct analysis *a, uint64_t total_ns)
{
	return a->steps.calls ? total_ns / a->steps.calls : 0;
}

double finding__percent(const struct analysis *a, uint64_t total_ns)
{
	return a->steps.cpu.total ? 100.0 * (double)total_ns / (double)a->steps.cpu.total : 0;
}

uint64_t finding__of_clock(const struct analysis *a, uint64_t clock_ns)
{
	const uint64_t whole_ns = analysis__whole_ns(a);

	return whole_ns ? (uint64_t)((double)clock_ns * (double)a->steps.cpu.total /
				     (double)whole_ns)
			: 0;
}

static bool is_training(const struct analysis *a)
{
	return a->timer_only || a->phases[KIND_BACKWARD].calls ||
	       a->phases[KIND_OPTIMIZATION].calls;
}

const char *finding__thread(const struct analysis *a)
{
	return is_training(a) ? "training thread" : "thread of the steps";
}

bool finding__may_be_idle(const struct analysis *a, const char *reason)
{
	/* Calls in which an idle thread pool, event loop, server or worker waits. */
	static const char *const calls[] = {
		"futex",   "epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter",
		"poll",	   "ppoll",	 "select",	"pselect6",	"accept",
		"accept4", "recvfrom",	 "recvmsg",	"read",
	};

	if (is_training(a) || a->phases[KIND_DATALOADER].calls)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(reason, calls[i]))
			return true;
	return false;
}

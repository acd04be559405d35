// SPDX-License-Identifier: BSD-2-Clause
#include "capture/no_window.h"
#include "bpf/skeleton.h"
#include "capture/arming/bursts.h"
#include "capture/arming/probeless.h"
#include "capture/processes/descendant.h"
#include "capture/session.h"
#include "common/counted.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"

const char *no_window__seen(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;
	uint64_t cnt = ctl ? ctl->step_seq + ctl->counted_steps + ctl->probeless_steps : 0;
	uint64_t before = ctl && ctl->started ? cnt - probeless__step(ctl) - 1 : cnt;

	if (cnt)
		snprintf(s->res->seen, sizeof(s->res->seen), "%s seen, %llu of them before step 0",
			 counted(cnt, "step was", "steps were").s, (unsigned long long)before);
	else
		snprintf(s->res->seen, sizeof(s->res->seen), "no step was seen");
	return s->res->seen;
}

/* The program ended before proftrace knew what a step is and what it costs. */
static bool is_too_short(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	return !s->target_execed && !s->opts->no_steps && ctl && !ctl->started;
}

static int target_ended(const struct session *s)
{
	const char *seen = no_window__seen(s);

	if (s->target_execed)
		return err__set(-ESRCH, MESSAGE_WINDOW_TARGET_EXECED, s->opts->pid, seen);
	if (is_too_short(s))
		return err__set(-ESRCH, MESSAGE_WINDOW_TARGET_ENDED_SOON, s->opts->pid, seen);
	return err__set(-ESRCH, MESSAGE_WINDOW_TARGET_ENDED, s->opts->pid, seen);
}

int no_window__recorded(const struct session *s, int err)
{
	if (err == -EINTR)
		return err__set(err, MESSAGE_WINDOW_STOPPED, no_window__seen(s));
	if (err == -ESRCH && s->target_gone)
		return target_ended(s);
	if (!err)
		return err__set(-ETIMEDOUT, MESSAGE_WINDOW_TIMED_OUT);
	return err;
}

/* The job hangs, or it is a server without requests. */
static bool is_idle(const struct session *s)
{
	uint64_t ran_ns = process__cpu_ns(s->opts->pid) - s->learning.cpu_ns;

	return ran_ns < s->opts->step_timeout_ns / 100;
}

/* Did --max-overhead allow less than one whole look at the operators? */
static bool looked_little(const struct session *s)
{
	return s->bursts.calls < CALL_LOG_MAX && !bursts__may(s);
}

/* Operators were called, but in no regular order. */
static int irregular(const struct session *s, double waited_s)
{
	const char *pausing = s->learning.pausing;

	if (*pausing && looked_little(s))
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_IRREGULAR_SUGGESTED_LOOKED_LITTLE,
				waited_s, pausing);
	if (*pausing)
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_IRREGULAR_SUGGESTED, waited_s, pausing);
	if (looked_little(s))
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_IRREGULAR_LOOKED_LITTLE, waited_s);
	return err__set(-ETIMEDOUT, MESSAGE_STEPS_IRREGULAR, waited_s);
}

/* A framework's job has steps. Explains why proftrace saw none. */
static int no_steps_of_framework(const struct session *s)
{
	const double waited_s = (double)s->opts->step_timeout_ns / 1e9;

	if (s->learning.called && s->opts->step_unit == STEP_UNIT_REQUEST)
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_NO_REQUEST, waited_s);
	if (s->opts->max_overhead <= 0)
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_NO_OVERHEAD_LEFT, waited_s);
	if (s->learning.pausing[0] || s->learning.called)
		return irregular(s, waited_s);
	if (is_idle(s))
		return err__set(-ETIMEDOUT, MESSAGE_STEPS_PROCESS_IDLE, waited_s, s->opts->pid);
	return err__set(-ETIMEDOUT, MESSAGE_STEPS_MISSING, waited_s, s->opts->pid);
}

int no_window__steps(struct session *s)
{
	if (!s->opts->has_schedule) {
		if (s->match.framework && !s->opts->no_steps)
			log__info(MESSAGE_STEPS_MISSING_BY_TIME);
		return 0;
	}
	/* The parent of a pool or of a pre-forking server loads the framework, too, but only
	 * waits. */
	if (s->match.framework && !s->start.descendant_described)
		s->start.descendant_described = descendant__describe(s->opts->pid);
	if (s->opts->duration_ns) {
		log__warn(MESSAGE_STEPS_MISSING_BY_TIME_AGAIN);
		return 0;
	}
	if (s->match.framework || s->learning.pausing[0])
		return no_steps_of_framework(s);
	return err__set(-ENOTSUP, MESSAGE_STEPS_CANNOT_BE_CHOSEN, s->opts->pid);
}

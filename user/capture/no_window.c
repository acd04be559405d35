// SPDX-License-Identifier: BSD-2-Clause
#include "capture/no_window.h"
#include "bpf/skeleton.h"
#include "capture/arming/bursts.h"
#include "capture/arming/probeless.h"
#include "capture/processes/descendant.h"
#include "capture/session.h"
#include "common/counted.h"
#include "common/err.h"
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

/* It was over before it was known what a step is and costs. */
static bool is_too_short(const struct session *s)
{
	const struct pt_ctl *ctl = s->probes.ctl;

	return !s->target_execed && !s->opts->no_steps && ctl && !ctl->started;
}

int no_window__recorded(const struct session *s, int err)
{
	if (err == -EINTR)
		return err__set(err, "stopped before the window opened (%s); nothing was recorded",
				no_window__seen(s));
	if (err == -ESRCH && s->target_gone)
		return err__set(
			err,
			"process %d %s before the window opened (%s); nothing was "
			"recorded%s",
			s->opts->pid, s->target_execed ? "replaced its program (exec)" : "ended",
			no_window__seen(s),
			is_too_short(s) ? ": --no-steps records from the first moment, by time"
					: "");
	if (!err)
		return err__set(-ETIMEDOUT,
				"the window did not open within --duration; nothing was recorded");
	return err;
}

/* A job that hangs, or a server without requests. */
static bool is_idle(const struct session *s)
{
	uint64_t ran_ns = process__cpu_ns(s->opts->pid) - s->learning.cpu_ns;

	return ran_ns < s->opts->step_timeout_ns / 100;
}

/* Did --max-overhead leave room for less than one whole look at the operators? */
static const char *few_looks(const struct session *s)
{
	return s->bursts.calls >= CALL_LOG_MAX || bursts__may(s)
		       ? ""
		       : "; --max-overhead left no room to look at them for longer, a larger one "
			 "does";
}

/* A framework's job has steps; why were they not seen? */
static int no_steps_of_framework(const struct session *s)
{
	const double waited_s = (double)s->opts->step_timeout_ns / 1e9;

	if (s->learning.called && s->opts->step_unit == STEP_UNIT_REQUEST)
		return err__set(-ETIMEDOUT,
				"no request was seen in %.0f s: no operator came once for each; "
				"name a function that does with --step-probe, or make each pass "
				"over the model a step with --step-unit iteration",
				waited_s);
	if (s->opts->max_overhead <= 0)
		return err__set(
			-ETIMEDOUT,
			"no step was seen in %.0f s: only operators could show steps, and "
			"--max-overhead 0 leaves no room to probe them; raise it, choose a step "
			"with --step-probe or --step-range, or record by time with --duration 5s",
			waited_s);
	if (s->learning.pausing[0])
		return err__set(
			-ETIMEDOUT,
			"no step was seen in %.0f s: operators were, but in no order that repeats "
			"(requests of several kinds?); %s, which comes after the longest pauses, "
			"may open each step; or record by time with --duration 5s%s",
			waited_s, s->learning.pausing, few_looks(s));
	if (s->learning.called)
		return err__set(
			-ETIMEDOUT,
			"no step was seen in %.0f s: operators were, but in no order that repeats "
			"(requests of several kinds?); choose a step with --step-probe or "
			"--step-range, or record by time with --duration 5s%s",
			waited_s, few_looks(s));
	if (is_idle(s))
		return err__set(-ETIMEDOUT,
				"no step was seen in %.0f s, in which process %d hardly ran; "
				"--duration 5s --table sched shows what its threads wait for, "
				"--step-timeout waits longer",
				waited_s, s->opts->pid);
	return err__set(-ETIMEDOUT,
			"no step was seen in %.0f s: is process %d at work? Give --step-probe or "
			"--step-range, wait longer with --step-timeout, or record by time with "
			"--duration 5s",
			waited_s, s->opts->pid);
}

int no_window__steps(struct session *s)
{
	if (!s->opts->has_schedule) {
		if (s->match.framework && !s->opts->no_steps)
			log__info("no steps were seen: recording by time (--step-timeout says how "
				  "long to wait for one)");
		return 0;
	}
	/* Of a pool or a pre-forking server the parent loads the framework, too, and only waits. */
	if (s->match.framework && !s->start.descendant_described)
		s->start.descendant_described = descendant__describe(s->opts->pid);
	if (s->opts->duration_ns) {
		log__warn("no steps were seen: recording by time");
		return 0;
	}
	if (s->match.framework || s->learning.pausing[0])
		return no_steps_of_framework(s);
	return err__set(-ENOTSUP,
			"process %d shows no steps, so --record cannot choose any; name a function "
			"that runs once per step with --step-probe exe:FUNCTION, or record by time "
			"with --duration 5s",
			s->opts->pid);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Plans windows of all ranks of a job on this host. Such a window replaces one window of each
 * rank. */
#include <stdlib.h>
#include "common/util.h"
#include "monitor/monitor_internal.h"

static struct rank_info job_of(const struct found_rank *rank)
{
	return (struct rank_info){.key = rank->key, .uid = rank->uid};
}

static bool is_of(const struct rank_info *job, const struct found_rank *rank)
{
	const struct rank_info other = job_of(rank);

	return rank_info__is_same_job(job, &other);
}

static struct watch *watch_of(const struct monitor *m, const struct found_rank *rank)
{
	for (size_t i = 0; i < m->watch_cnt; i++)
		if (m->watches[i]->rank.pid == rank->pid &&
		    m->watches[i]->rank.start_ticks == rank->start_ticks)
			return m->watches[i];
	return NULL;
}

/* Chooses the time of the window for all ranks. Its length and its lead are the longest of the
 * ranks. */
static struct joint_window choose(struct watch *const *ranks, size_t cnt, uint64_t now_ns)
{
	auto_free struct schedule **schedules = calloc(cnt, sizeof(struct schedule *));
	struct joint_window joint = {0};
	uint64_t lead_ns = 0;

	if (!schedules)
		return joint;
	for (size_t i = 0; i < cnt; i++) {
		const uint64_t ns = watch__joint_ns(ranks[i]);

		joint.length_ns = ns > joint.length_ns ? ns : joint.length_ns;
		lead_ns = later(lead_ns, watch__lead_ns(ranks[i]));
		schedules[i] = &ranks[i]->schedule;
	}
	joint.ask_ns = schedule__next_of_all(schedules, cnt, now_ns, lead_ns + joint.length_ns);
	joint.at_ns = joint.ask_ns + lead_ns;
	return joint;
}

static void join(struct monitor *m, struct watch *w, const struct joint_window *joint,
		 uint64_t now_ns)
{
	if (job_windows__add(&m->job_windows, joint->id, w->id))
		watch__join(w, joint, now_ns);
}

/* Lets the ranks take part. Ranks of this host that cannot are counted. */
static void join_all(struct monitor *m, const struct rank_info *job,
		     const struct joint_window *joint, uint64_t now_ns)
{
	size_t cnt;
	const struct found_rank *found = discovery__ranks(m->discovery, &cnt);

	for (size_t i = 0; i < cnt; i++) {
		struct watch *w = is_of(job, &found[i]) ? watch_of(m, &found[i]) : NULL;

		if (!is_of(job, &found[i]))
			continue;
		if (w && watch__may_join(w, now_ns))
			join(m, w, joint, now_ns);
		else
			job_windows__miss(&m->job_windows, joint->id,
					  w && now_ns < w->held_until_ns ? JOB_MISSING_LOSS
									 : JOB_MISSING_NOT_READY);
	}
}

static size_t find_ready(const struct monitor *m, const struct rank_info *job, uint64_t now_ns,
			 struct watch **out)
{
	size_t cnt = 0;

	for (size_t i = 0; i < m->watch_cnt; i++)
		if (is_of(job, &m->watches[i]->rank) && watch__may_join(m->watches[i], now_ns))
			out[cnt++] = m->watches[i];
	return cnt;
}

static void plan(struct monitor *m, const struct rank_info *job, uint64_t now_ns)
{
	auto_free struct watch **ready = calloc(m->watch_cnt, sizeof(struct watch *));
	const size_t cnt = ready ? find_ready(m, job, now_ns, ready) : 0;
	struct joint_window joint;

	if (cnt < 2)
		return;
	joint = choose(ready, cnt, now_ns);
	joint.id = joint.at_ns ? job_windows__plan(&m->job_windows, job, joint.at_ns) : 0;
	if (joint.id)
		join_all(m, job, &joint, now_ns);
}

static bool is_due(const struct monitor *m, const struct watch *w, uint64_t now_ns)
{
	return m->opts->all_ranks && w->alone_cnt + 1 >= m->opts->all_ranks &&
	       w->state == WATCH_WAITING && watch__may_join(w, now_ns);
}

void monitor__plan_job_windows(struct monitor *m, uint64_t now_ns)
{
	for (size_t i = 0; i < m->watch_cnt; i++) {
		const struct rank_info job = job_of(&m->watches[i]->rank);

		if (is_due(m, m->watches[i], now_ns) && !job_windows__has(&m->job_windows, &job))
			plan(m, &job, now_ns);
	}
}

// SPDX-License-Identifier: BSD-2-Clause
/* Calls the components of a session in the order of their table. */
#include "capture/session.h"
#include "common/util.h"
#include <poll.h>

static bool is_due(struct session *s, size_t i, uint64_t now_ns)
{
	const uint64_t every_ns = s->components[i]->every_ms * 1000000ull;

	if (now_ns - s->turn.polled_ns[i] < every_ns)
		return false;
	s->turn.polled_ns[i] = now_ns;
	return true;
}

int components__prepare(struct session *s)
{
	int err = 0;

	for (size_t i = 0; s->components[i] && !err; i++)
		if (s->components[i]->prepare)
			err = s->components[i]->prepare(s);
	return err;
}

static bool takes_part(const struct component *c, enum wait_stage stage)
{
	if (stage == STAGE_EARLY)
		return c->early;
	return stage != STAGE_END || c->at_end;
}

int components__poll(struct session *s, enum wait_stage stage, int err, uint64_t *next_ns)
{
	const uint64_t now_ns = clock__monotonic_ns();

	for (size_t i = 0; s->components[i]; i++) {
		const struct component *c = s->components[i];
		int poll_err;

		if (!c->poll || !takes_part(c, stage) || (err && !c->after_errors) ||
		    !is_due(s, i, now_ns))
			continue;
		poll_err = c->poll(s, next_ns);
		err = err ? err : poll_err;
	}
	return err;
}

int components__poll_windows(struct session *s, uint64_t *next_ns)
{
	int err = 0;

	for (size_t i = 0; s->components[i] && !err; i++)
		if (s->components[i]->poll_windows)
			err = s->components[i]->poll_windows(s, next_ns);
	return err;
}

size_t components__wakes(const struct session *s, struct pollfd *fds, size_t most)
{
	size_t cnt = 0;

	for (size_t i = 0; s->components[i]; i++)
		if (s->components[i]->wakes)
			cnt += s->components[i]->wakes(s, &fds[cnt], most - cnt);
	return cnt;
}

void components__window_open(struct session *s)
{
	for (size_t i = 0; s->components[i]; i++)
		if (s->components[i]->window_open)
			s->components[i]->window_open(s);
}

void components__window_close(struct session *s)
{
	for (size_t i = 0; s->components[i]; i++)
		if (s->components[i]->window_close)
			s->components[i]->window_close(s);
}

int components__window_finish(struct session *s, json_t *summary)
{
	int err = 0;

	for (size_t i = 0; s->components[i] && !err; i++)
		if (s->components[i]->window_finish)
			err = s->components[i]->window_finish(s, summary);
	return err;
}

void components__describe(struct session *s, json_t *summary)
{
	for (size_t i = 0; s->components[i]; i++)
		if (s->components[i]->describe)
			s->components[i]->describe(s, summary);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/chrome/chrome_limit.h"
#include "common/counted.h"
#include "common/err.h"
#include "exporters/message_table.h"
#include "common/util.h"

int chrome_limit__take(struct chrome_limit *l, const struct text_file *out, const struct event *e,
		       bool *fits)
{
	const struct chrome_limit_step step = {e->id, e->ts_ns + e->dur_ns};

	*fits = true;
	if (!l->cut && text_file__taken(out) + CHROME_LIMIT_MARGIN > l->limit_bytes) {
		l->cut = true;
		l->cut_ns = e->ts_ns;
	}
	if (l->cut) {
		*fits = false;
		l->left_out++;
		return 0;
	}
	return e->type == EVENT_STEP ? ARRAY_PUSH(l->steps, l->step_cnt, l->step_cap, step) : 0;
}

struct whole_steps {
	uint64_t cnt, first, last;
};

/* Steps that ended before the cut: everything that began in them is in the trace. */
static struct whole_steps whole_steps(const struct chrome_limit *l)
{
	struct whole_steps w = {0};

	for (size_t i = 0; i < l->step_cnt; i++) {
		if (l->steps[i].end_ns > l->cut_ns)
			continue;
		if (!w.cnt++ || l->steps[i].index < w.first)
			w.first = l->steps[i].index;
		if (l->steps[i].index > w.last)
			w.last = l->steps[i].index;
	}
	return w;
}

static uint64_t cut_us(const struct chrome_limit *l, uint64_t base_us)
{
	return l->cut_ns / 1000 > base_us ? l->cut_ns / 1000 - base_us : 0;
}

void chrome_limit__put(const struct chrome_limit *l, struct text_file *out,
		       const struct chrome_row *row, uint64_t base_us, uint64_t steps)
{
	const struct whole_steps w = whole_steps(l);

	if (!l->cut)
		return;
	text_file__print(out,
			 ",\n{\"ph\":\"i\",\"s\":\"g\",\"cat\":\"instant\",\"name\":\"cut by "
			 "--limit-size\"%s%llu,\"args\":{\"limit_bytes\":%llu,"
			 "\"events_left_out\":%llu,\"steps\":%llu,\"whole_steps\":%llu",
			 row->head, (unsigned long long)cut_us(l, base_us),
			 (unsigned long long)l->limit_bytes, (unsigned long long)l->left_out,
			 (unsigned long long)steps, (unsigned long long)w.cnt);
	if (w.cnt)
		text_file__print(out, ",\"first_whole_step\":%llu,\"last_whole_step\":%llu",
				 (unsigned long long)w.first, (unsigned long long)w.last);
	text_file__print(out, "}}");
}

void chrome_limit__say(const struct chrome_limit *l, uint64_t base_us, uint64_t steps,
		       uint64_t events, uint64_t bytes)
{
	const struct whole_steps w = whole_steps(l);
	char whole[128] = "no step is whole";

	if (!l->cut)
		return;
	if (w.cnt)
		snprintf(whole, sizeof(whole), "steps %llu to %llu are whole (%llu of %llu)",
			 (unsigned long long)w.first, (unsigned long long)w.last,
			 (unsigned long long)w.cnt, (unsigned long long)steps);
	log__warn(MESSAGE_TRACE_LIMITED, (double)cut_us(l, base_us) / 1e3,
		  counted(events, "event", "events").s, (unsigned long long)l->left_out, whole);
	if (bytes > l->limit_bytes)
		log__warn(MESSAGE_TRACE_LIMIT_EXCEEDED, (unsigned long long)bytes);
}

void chrome_limit__free(struct chrome_limit *l)
{
	free(l->steps);
	l->steps = NULL;
}

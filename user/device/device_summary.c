// SPDX-License-Identifier: BSD-2-Clause
#include "device/device_summary.h"
#include "common/counted.h"
#include "common/util.h"
#include "cupti_shim/protocol.h"

/* Until when activities are complete. What the library held when it ended is lost, so the latest
 * that came counts. */
static uint64_t covered_until(const struct device_summary *s)
{
	const struct device_counts *c = s->counts;

	if (!c->latest_ns)
		return s->open_ns;
	return c->latest_ns < c->ended_ns ? c->latest_ns : c->ended_ns;
}

static void note_nameless(uint64_t cnt, json_t *notes)
{
	if (cnt)
		json_array_append_new(
			notes, json_sprintf("%s no full name, and no phase by it: there were more "
					    "than the %d that our library keeps of a process",
					    counted(cnt, "call of an operator has",
						    "calls of operators have")
						    .s,
					    SHIM_SEEN_NAMES));
}

uint64_t device_summary__lost_functions(const struct device_counts *counts,
					struct device_losses *losses, json_t *notes)
{
	uint64_t lost;

	note_nameless(counts->nameless, notes);
	json_decref(
		device_losses__json(losses, "the operators that our library saw", notes, &lost));
	return lost;
}

/* Why the library is still in the process. NULL: it is not, or the cause is unknown. */
static const char *stay_text(uint32_t stay)
{
	static const char *const texts[] = {
		[SHIM_STAYS_OLD] = "before CUDA 12.6 it may not leave",
		[SHIM_STAYS_FOR_GRAPHS] = "the process uses CUDA graphs, which fail where it left",
		[SHIM_STAYS_UNCALLED] = "no call of CUDA's came, in which alone it may leave",
		[SHIM_STAYS_REFUSED] = "it refused to leave",
	};

	return stay < ARRAY_SIZE(texts) ? texts[stay] : NULL;
}

/* What each loss means for the figures. */
static const struct {
	const char *call, *means;
} failures[SHIM_FAILURES] = {
	[SHIM_FAILS_ENABLE] = {"cuptiActivityEnable",
			       "copies, sets, memory or ranges are missing, or all of these"},
	[SHIM_FAILS_DISABLE] = {"cuptiActivityDisable",
				"CUPTI may go on recording in the process, at its cost"},
	[SHIM_FAILS_FLUSH] = {"cuptiActivityFlushAll",
			      "what the device did may be missing, and its times be too low"},
	[SHIM_FAILS_RECORD] =
		{"cuptiActivityGetNextRecord",
		 "the rest of a buffer is missing, and times of the device are too low"},
	[SHIM_FAILS_DROPPED] = {"cuptiActivityGetNumDroppedRecords",
				"how many records CUPTI dropped is not known"},
	[SHIM_FAILS_UNSUBSCRIBE] = {"cuptiUnsubscribe", "another tool may find CUPTI in use"},
	[SHIM_FAILS_TIMESTAMP] = {"cuptiGetTimestamp",
				  "when the device did what is not known: its clock is not ours"},
	[SHIM_FAILS_THREADS] = {"cuptiSetThreadIdType", "ranges may be of the wrong thread"},
	[SHIM_FAILS_CLOCK] = {"cuptiActivityRegisterTimestampCallback",
			      "another tool of the process may get times of another clock"},
};

/* Is work of the window's launches missing, because CUPTI did not deliver it? */
static bool misses_work(const struct device_summary *s)
{
	return (s->facts->failed[SHIM_FAILS_FLUSH].cnt ||
		s->facts->failed[SHIM_FAILS_RECORD].cnt) &&
	       s->counts->unanswered;
}

static void note_failures(const struct device_summary *s, json_t *notes)
{
	for (size_t i = 0; i < SHIM_FAILURES; i++) {
		const struct shim_failed *f = &s->facts->failed[i];

		if (f->cnt)
			json_array_append_new(notes,
					      json_sprintf("%s failed %u times (error %d): %s",
							   failures[i].call, f->cnt, f->result,
							   failures[i].means));
	}
	if (misses_work(s))
		json_array_append_new(
			notes, json_sprintf("%llu launches of the window have no device time",
					    (unsigned long long)s->counts->unanswered));
}

json_t *device_summary__json(const struct device_summary *s, struct device_losses *losses,
			     json_t *notes, uint64_t *lost)
{
	const struct device_counts *c = s->counts;
	const struct shim_facts *f = s->facts;
	json_t *json, *lost_json;

	note_nameless(c->nameless, notes);
	note_failures(s, notes);
	lost_json = device_losses__json(losses, "the device's events", notes, lost);
	if (lost_json && misses_work(s)) {
		json_object_set_new(lost_json, "unread", json_integer((json_int_t)c->unanswered));
		*lost += c->unanswered;
	}
	json = json_pack("{s:s, s:I, s:b, s:I, s:I, s:b, s:o}", "source", "CUPTI", "cupti_version",
			 (json_int_t)f->cupti_version, "own_clock", (int)f->own_clock, "calls",
			 (json_int_t)c->calls, "activities", (json_int_t)c->activities, "finalized",
			 (int)f->finalized, "lost", lost_json);
	if (!json)
		return NULL;
	if (stay_text(f->stays))
		json_object_set_new(json, "stays", json_string(stay_text(f->stays)));
	if (s->refusal)
		json_object_set_new(json, "refused", json_string(s->refusal));
	if (c->questions)
		json_object_set_new(json, "questions", json_integer((json_int_t)c->questions));
	if (c->ended_ns) {
		json_object_set_new(json, "covered_until_ns",
				    json_integer((json_int_t)covered_until(s)));
		json_object_set_new(json, "launches_without_work",
				    json_integer((json_int_t)c->unanswered));
	}
	if (!f->own_clock)
		json_object_set_new(json, "clock_error_ns",
				    json_integer((json_int_t)(f->clock_begin.bracket_ns +
							      f->clock_end.bracket_ns) /
						 2));
	if (device_events__summary(s->events, json)) {
		json_decref(json);
		return NULL;
	}
	return json;
}

// SPDX-License-Identifier: BSD-2-Clause
/* The three lines about loss and cost at the end of every report. */
#include <inttypes.h>
#include <stdio.h>
#include "analysis/losses.h"
#include "analysis/tables/facts.h"
#include "analysis/tables/own_cost.h"
#include "common/json_number.h"
#include "common/counted.h"
#include "common/util.h"

static void put_hits(const struct analysis *a, FILE *f)
{
	const json_t *cost = own_cost__json(a);
	const uint64_t steps = own_cost__steps(a), noted = json__positive(cost, "noted_calls");
	const uint64_t hits = json__positive(cost, "hits");

	if (!steps) {
		fprintf(f, "; %s", counted(hits, "probe hit", "probe hits").s);
		return;
	}
	fprintf(f, "; %s per step",
		counted((hits + steps / 2) / steps, "probe hit", "probe hits").s);
	if (noted)
		fprintf(f, "; %s per step seen without probes",
			counted((noted + steps / 2) / steps, "operator", "operators").s);
}

/* "0.94 % (0.62 to 1.25 %) of its run time, 0.262 ms per step; 172 probe hits per step" */
static void put_added(const struct analysis *a, FILE *f)
{
	const struct added_cost added = own_cost__added(a);
	const double percent = 100.0 / (double)own_cost__paid_ns(a);
	const uint64_t steps = own_cost__steps(a);

	fprintf(f, "%.2f %%", added.ns * percent);
	if (own_cost__estimated(a).has_interval)
		fprintf(f, " (%.2f to %.2f %%)", added.low_ns * percent, added.high_ns * percent);
	fputs(steps ? " of the run time" : " of the process's run time", f);
	if (steps)
		fprintf(f, ", %s per step", time_text(a, (uint64_t)(added.ns / (double)steps)).s);
	put_hits(a, f);
}

static void put_own(const struct analysis *a, FILE *f)
{
	const json_t *summary = recording__summary(a->r);
	const json_t *injection = json_object_get(summary, "injection");

	fputs(time_text(a, json__positive(own_cost__json(a), "loader_cpu_ns")).s, f);
	if (injection)
		fprintf(f, "; it stopped the target for %s to load its library",
			time_text(a, json__positive(injection, "stopped_ns")).s);
}

static char *written(const struct analysis *a, void (*put)(const struct analysis *a, FILE *f))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	put(a, f);
	return fclose(f) ? NULL : text;
}

static void put_lost(const struct analysis *a, FILE *f)
{
	char where[256];

	fprintf(f, "%" PRIu64, losses__count(a, where, sizeof(where)));
	if (*where)
		fprintf(f, " (%s)", where);
}

int own_cost__add_lines(const struct analysis *a, struct table *t)
{
	static const char why[] = "the recording does not say";
	const bool known = own_cost__json(a);
	auto_free char *lost = written(a, put_lost), *added = written(a, put_added);
	auto_free char *own = written(a, put_own);

	if (!lost || !added || !own)
		return -ENOMEM;
	return facts__add(
		t,
		(struct fact[]){
			{"lost", "events lost",
			 recording__summary(a->r) ? cell__text(lost)
						  : cell__none("the file was cut off")},
			{"added", "added time",
			 known && own_cost__paid_ns(a) ? cell__text(added) : cell__none(why)},
			{"own", "CPU time of proftrace", known ? cell__text(own) : cell__none(why)},
		},
		3);
}

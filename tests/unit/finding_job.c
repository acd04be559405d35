// SPDX-License-Identifier: BSD-2-Clause
#include "finding_job.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

struct job job__with(const char *meta)
{
	struct job j = {.s = synth__new(meta)};

	j.stream = synth__stream(&j.s, 0, 7);
	return j;
}

struct job job__new(void)
{
	return job__with("{\"process\": {\"pid\": 100}}");
}

struct job job__torch(void)
{
	return job__with("{\"process\": {\"pid\": 100}, \"detail\": \"operator\", "
			 "\"runtime\": {\"runs_in_caller\": true}}");
}

uint64_t step_plan__ms(const struct step_plan *p)
{
	return p->total ? p->total : p->loader + p->forward + p->backward + p->optimizer;
}

uint64_t job__begin_step(struct job *j, uint64_t at, const struct step_plan *p)
{
	uint64_t t = at + p->loader * MS;

	if (p->loader)
		synth__span(&j->s, j->s.main, CAT_DATALOADER, "next", at, t);
	synth__span(&j->s, j->s.main, CAT_FORWARD, "forward", t, t + p->forward * MS);
	t += p->forward * MS;
	synth__span(&j->s, j->s.main, CAT_BACKWARD, "backward", t, t + p->backward * MS);
	t += p->backward * MS;
	synth__span(&j->s, j->s.main, CAT_OPTIMIZER, "step", t, t + p->optimizer * MS);
	return at + step_plan__ms(p) * MS;
}

void job__launch(struct job *j, const char *call, enum span_category what, const char *name,
		 uint64_t call_begin, uint64_t call_end, uint64_t begin, uint64_t end,
		 int64_t bytes)
{
	struct event e = synth__event(&j->s, j->s.main, CAT_RUNTIME, call, call_begin, call_end);
	struct event d;

	e.id = ++j->id;
	synth__write(&j->s, &e);
	d = synth__event(&j->s, j->stream, what, name, begin, end);
	d.type = EVENT_DEVICE;
	d.id = j->id;
	d.value = bytes;
	synth__write(&j->s, &d);
}

void job__sched_for(struct job *j, uint32_t track, uint64_t step, uint8_t state, const char *reason,
		    uint64_t ms)
{
	const struct sched_row row = {
		.track = track,
		.step = step,
		.state = state,
		.reason = reason ? recording_writer__name(j->s.w, CAT_NONE, reason, NULL) : 0,
		.ns = ms * MS,
		.cnt = 1};

	cr_assert_eq(recording_writer__sched(j->s.w, &row), 0);
}

void job__sched(struct job *j, uint32_t track, uint64_t step, uint8_t state, uint64_t ms)
{
	job__sched_for(j, track, step, state, NULL, ms);
}

/* These findings in this order, and the text somewhere among them. */
static void expect_rows(struct job *j, const char *summary, size_t cnt, const char *const *rules,
			const char *text)
{
	static const struct report_opts opts = {.style = {.format = TABLE_JSON}};
	json_t *report, *rows;
	char *printed;

	synth__open(&j->s, summary);
	printed = synth__tables(&j->s, "findings", &opts);
	report = json_loads(printed, 0, NULL);
	rows = json_object_get(json_object_get(report, "findings"), "rows");
	cr_assert_eq(json_array_size(rows), cnt, "%s", printed);
	for (size_t i = 0; i < cnt; i++)
		cr_assert_str_eq(
			json_string_value(json_object_get(json_array_get(rows, i), "rule")),
			rules[i], "%s", printed);
	if (cnt)
		cr_assert_not_null(strstr(printed, text), "%s", printed);
	json_decref(report);
	free(printed);
	synth__free(&j->s);
}

#define BUSY_CPU "{\"cpu\": {\"busy_ns\": 99, \"idle_ns\": 1}}"

void job__expect_of(struct job *j, const char *summary, const char *rule, const char *text)
{
	expect_rows(j, summary, rule ? 1 : 0, &rule, text);
}

void job__expect(struct job *j, const char *rule, const char *text)
{
	job__expect_of(j, BUSY_CPU, rule, text);
}

void job__expect_two(struct job *j, const char *first, const char *second, const char *text)
{
	const char *const rules[] = {first, second};

	expect_rows(j, BUSY_CPU, ARRAY_SIZE(rules), rules, text);
}

void job__steps_but(struct job *j, const struct step_plan *usual, uint64_t odd,
		    const struct step_plan *odd_plan)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t end = job__begin_step(j, at, i == odd ? odd_plan : usual);

		synth__step(&j->s, i, at, end);
		at = end;
	}
}

void job__plain_steps(struct job *j, const struct step_plan *p)
{
	job__steps_but(j, p, STEPS, NULL);
}

void job__busy_device(struct job *j, uint64_t at, uint64_t end)
{
	for (uint64_t t = at; t < end; t += 10 * MS)
		job__launch(j, "cudaLaunchKernel", CAT_KERNEL, "gemm", t + MS, t + MS + 5000, t,
			    t + 10 * MS < end ? t + 10 * MS : end, 0);
}

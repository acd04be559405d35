// SPDX-License-Identifier: BSD-2-Clause
/* How busy the GPUs of a rank were: from a window's report to metrics. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/job_series.h"
#include "monitor/metrics_text.h"

TestSuite(monitor_devices);

/* Two steps of 10 and 30 ms. */
#define WINDOW(devices)                                                                            \
	"{\"steps\": {\"rows\": [{\"time_ns\": 10000000}, {\"time_ns\": 30000000}]}, "             \
	"\"device\": {\"rows\": [" devices "]}}"
#define ROW(name, share)                                                                           \
	"{\"depth\": 0, \"device\": \"" name "\", \"utilization_percent\": " share "}"

static const char two_gpus[] = WINDOW(ROW("CPU(Process)", "90.5") "," ROW(
	"GPU0",
	"50") ","
	      "{\"depth\": 1, \"device\": \"GPU0 stream 7\", \"utilization_percent\": 40}," ROW(
		      "GPU1", "0"));

static struct figures figures_of(const char *json)
{
	struct figures f;

	cr_assert_eq(figures__parse(json, strlen(json), &f), 0, "%s", json);
	return f;
}

Test(monitor_devices, only_rows_of_whole_gpus_count)
{
	struct figures f = figures_of(two_gpus);

	cr_assert_eq(f.device_cnt, 2);
	cr_expect_str_eq(f.devices[0].name, "GPU0");
	cr_expect_float_eq(f.devices[0].value, 0.5, 1e-9);
	cr_expect_str_eq(f.devices[1].name, "GPU1");
	cr_expect_float_eq(f.devices[1].value, 0, 1e-9, "an idle GPU has a figure");
	cr_expect_float_eq(figures__mean_s(&f), 0.02, 1e-9);
	figures__free(&f);
}

Test(monitor_devices, a_gpu_without_a_figure_is_left_out)
{
	struct figures f = figures_of(WINDOW(ROW("GPU0", "null") "," ROW("GPU1", "\"x\"")));

	cr_expect_eq(f.device_cnt, 0);
	figures__free(&f);
}

Test(monitor_devices, a_report_may_lie)
{
	char json[8192], *at = json + sprintf(json, "{\"steps\": {\"rows\": [{\"time_ns\": 7}]}, "
						    "\"device\": {\"rows\": [");
	struct figures f = figures_of(WINDOW(ROW("GPU0", "4000") "," ROW("GPU1", "-3")));

	cr_assert_eq(f.device_cnt, 2);
	cr_expect_eq(f.devices[0].value, 0);
	cr_expect_eq(f.devices[1].value, 0);
	figures__free(&f);
	for (int i = 0; i < FIGURES_DEVICES + 3; i++)
		at += sprintf(at, "%s" ROW("GPU%d", "1"), i ? "," : "", i);
	sprintf(at, "]}}");
	f = figures_of(json);
	cr_expect_eq(f.device_cnt, FIGURES_DEVICES);
	figures__free(&f);
}

static struct rank_series *begin(struct job_series *s, enum device_times times)
{
	const struct rank_info info = {.id = 1, .pid = 7, .rank = 0, .key.name = "j"};
	const struct rank_state state = {.id = 1, .watched_s = 10, .device_times = times};
	struct rank_series *r = job_series__begin(s, &info);

	job_series__set_state(s, &state);
	return r;
}

static void add_window(struct job_series *s, struct rank_series *r, const char *json)
{
	const struct window_ready ready = {.id = 1, .seconds = 1, .file = "a.ptrec"};
	struct figures f = figures_of(json);

	job_series__add_window(s, r, &f, &ready);
	figures__free(&f);
}

static char *metrics_of(const struct job_series *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	metrics_text__print(s, out);
	fclose(out);
	return text;
}

Test(monitor_devices, busy_time_is_the_share_of_all_steps)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s, DEVICE_TIMES_RECORDED);
	char *text;

	add_window(&s, r, two_gpus);
	add_window(&s, r, two_gpus);
	add_window(&s, r, WINDOW(""));
	text = metrics_of(&s);
	cr_expect(strstr(text, "proftrace_device_busy_seconds_total{job_name=\"j\",uid=\"0\","
			       "rank=\"0\",device=\"GPU0\"} 0.04\n"),
		  "%s", text);
	cr_expect(strstr(text, "device_sampled_seconds_total{job_name=\"j\",uid=\"0\","
			       "rank=\"0\",device=\"GPU1\"} 0.08\n"),
		  "%s", text);
	cr_expect(strstr(text, "rank=\"0\",result=\"ok\"} 2\n"), "%s", text);
	cr_expect(strstr(text, "rank=\"0\",result=\"missing\"} 1\n"), "%s", text);
	cr_expect_eq(r->device_cnt, 0, "the latest window has none");
	free(text);
	job_series__free(&s);
	cr_expect_eq(s.series_cnt, 0);
}

Test(monitor_devices, a_job_without_cuda_has_no_series_of_devices)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s, DEVICE_TIMES_WITHOUT_CUDA);
	char *text;

	add_window(&s, r, WINDOW(ROW("CPU(System)", "9")));
	text = metrics_of(&s);
	cr_expect_not(strstr(text, "device=\""), "%s", text);
	cr_expect_not(strstr(text, "result=\"missing\"} 1"), "%s", text);
	free(text);
	job_series__free(&s);
}

/* CUPTI's own cost is in no estimate. */
Test(monitor_devices, slower_steps_count_as_spent)
{
	struct job_series s = {.series_max = 1000};
	struct rank_series *r = begin(&s, DEVICE_TIMES_RECORDED);
	struct rank_state state = {.id = 1, .watched_s = 100, .growth = 0.5};
	double ratio;

	job_series__set_state(&s, &state);
	job_series__spend(r, 0.1, 2);
	cr_assert(job_series__overhead(r, &ratio));
	cr_expect_float_eq(ratio, 0.01, 1e-9, "%g", ratio);
	job_series__free(&s);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/html_text.h"
#include <math.h>
#include <string.h>
#include "common/util.h"

#define SPARK_WIDTH   130.0
#define SPARK_HEIGHT  28.0
#define PHASES_WIDTH  180.0
#define PHASES_HEIGHT 14

void html_text__put(FILE *out, const char *text)
{
	static const struct {
		char c;
		const char *entity;
	} escaped[] = {
		{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

	for (; *text; text++) {
		const char *entity = NULL;

		for (size_t i = 0; i < ARRAY_SIZE(escaped); i++)
			if (escaped[i].c == *text)
				entity = escaped[i].entity;
		if (entity)
			fputs(entity, out);
		else
			fputc(*text, out);
	}
}

void html_text__put_step(FILE *out, double seconds)
{
	if (seconds > 0)
		fprintf(out, "%.3f&nbsp;ms", 1e3 * seconds);
	else
		fputs("-", out);
}

void html_text__put_sparkline(FILE *out, const struct rank_series *r)
{
	double min = INFINITY, max = 0;

	for (size_t i = 0; i < r->past_cnt; i++) {
		min = fmin(min, r->past[i].median_s);
		max = fmax(max, r->past[i].median_s);
	}
	if (r->past_cnt < 2 || !(max > 0)) {
		fputs("-", out);
		return;
	}
	fprintf(out,
		"<svg class=\"spark\" role=\"img\" viewBox=\"0 0 %.0f %.0f\" "
		"preserveAspectRatio=\"none\" aria-label=\"Step time of the latest %zu windows: "
		"%.3f to "
		"%.3f ms\"><title>%zu windows: %.3f to %.3f ms</title><polyline points=\"",
		SPARK_WIDTH, SPARK_HEIGHT, r->past_cnt, 1e3 * min, 1e3 * max, r->past_cnt,
		1e3 * min, 1e3 * max);
	for (size_t i = 0; i < r->past_cnt; i++)
		fprintf(out, "%s%.1f,%.1f", i ? " " : "",
			SPARK_WIDTH * (double)i / (double)(r->past_cnt - 1),
			SPARK_HEIGHT - 2 - (SPARK_HEIGHT - 4) * r->past[i].median_s / max);
	fputs("\"/></svg>", out);
}

/* The CSS class for a phase's colour. Only known phases have one, as names in a recording are not
 * trusted. */
static const char *class_of(const char *phase)
{
	static const char *const known[] = {"dataloader", "forward", "backward", "optimization"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(phase, known[i]))
			return known[i];
	return "others";
}

static double sum_of_phases(const struct rank_series *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->phase_cnt; i++)
		sum += r->phases[i].value;
	return sum;
}

void html_text__put_phases(FILE *out, const struct rank_series *r)
{
	const double sum = sum_of_phases(r);
	double x = 0;

	if (!(sum > 0)) {
		fputs("-", out);
		return;
	}
	fprintf(out,
		"<svg class=\"phases\" aria-hidden=\"true\" viewBox=\"0 0 %.0f %d\" "
		"preserveAspectRatio=\"none\">",
		PHASES_WIDTH, PHASES_HEIGHT);
	for (size_t i = 0; i < r->phase_cnt; i++) {
		const double width = PHASES_WIDTH * r->phases[i].value / sum;

		fprintf(out, "<rect class=\"%s\" x=\"%.2f\" width=\"%.2f\" height=\"%d\"/>",
			class_of(r->phases[i].name), x, width, PHASES_HEIGHT);
		x += width;
	}
	fputs("</svg><div class=\"legend\">", out);
	for (size_t i = 0; i < r->phase_cnt; i++) {
		fprintf(out, "<span><i class=\"%s\"></i>", class_of(r->phases[i].name));
		html_text__put(out, r->phases[i].name);
		fprintf(out, " %.0f&nbsp;%%</span>", 100 * r->phases[i].value / sum);
	}
	fputs("</div>", out);
}

// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/session_answer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "monitor/clean_name.h"

static bool read_step(const char *line, const char *before, uint64_t *step)
{
	const size_t len = strlen(before);

	if (strncmp(line, before, len) != 0 || line[len] < '0' || line[len] > '9')
		return false;
	*step = strtoull(line + len, NULL, 10);
	return true;
}

/* "recording step 9, since step 7" */
static void read_open(const char *line, struct session_answer *out)
{
	static const char since[] = ", since step ";
	const char *at = strstr(line, since);

	out->is_open = !strncmp(line, "recording step ", strlen("recording step ")) && at &&
		       read_step(at, since, &out->since_step);
}

/* Copies the line with the state. An answer to `pause` has one line. */
static void copy_state(const char *text, char *line, size_t size)
{
	static const char field[] = "\nstate: ";
	const char *state = strstr(text, field);
	size_t len;

	if (state)
		text = state + strlen(field);
	len = strcspn(text, "\n");
	if (len >= size)
		len = size - 1;
	memcpy(line, text, len);
	line[len] = '\0';
}

#define LEAD_MAX_MS 60000

/* The line "lead: 1500 ms". */
static uint64_t read_lead_ns(const char *text)
{
	static const char field[] = "\nlead: ";
	const char *lead = strstr(text, field);
	const uint64_t ms = lead ? strtoull(lead + strlen(field), NULL, 10) : 0;

	return (ms < LEAD_MAX_MS ? ms : LEAD_MAX_MS) * 1000000;
}

/* The line "device times: refused: CAUSE". */
static void read_device_times(const char *text, struct session_answer *out)
{
	static const char field[] = "\ndevice times: ", refused[] = "refused: ";
	const char *found = strstr(text, field);
	char at[256];

	if (!found)
		return;
	found += strlen(field);
	snprintf(at, sizeof(at), "%.*s", (int)strcspn(found, "\n"), found);
	if (!strncmp(at, "yes", strlen("yes")))
		out->device_times = DEVICE_TIMES_RECORDED;
	else if (!strncmp(at, "no", strlen("no")))
		out->device_times = DEVICE_TIMES_WITHOUT_CUDA;
	if (strncmp(at, refused, strlen(refused)) != 0)
		return;
	out->device_times = DEVICE_TIMES_REFUSED;
	clean_name__copy(out->device_why, sizeof(out->device_why), at + strlen(refused));
}

void session_answer__parse(const char *text, struct session_answer *out)
{
	static const char *const before[] = {"paused, at step ", "waiting for the window, at step ",
					     "recording step ", "the window ends with step "};
	char line[256];

	*out = (struct session_answer){0};
	out->lead_ns = read_lead_ns(text);
	read_device_times(text, out);
	copy_state(text, line, sizeof(line));
	for (size_t i = 0; i < sizeof(before) / sizeof(*before) && !out->has_step; i++)
		out->has_step = read_step(line, before[i], &out->step);
	read_open(line, out);
}

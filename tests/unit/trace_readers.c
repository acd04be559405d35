// SPDX-License-Identifier: BSD-2-Clause
/* Messages about traces that some readers cannot read. */
#include <criterion/criterion.h>
#include "cli/trace_readers.h"
#include "common/err.h"

/* The keys and arguments of the lines on stderr: "key[arguments] key[arguments]". */
static const char *said(const char *dialect, uint64_t device_events, uint64_t negative)
{
	static char known[512];
	const struct export_result result = {
		.events = 9, .device_events = device_events, .negative_in_hta = negative};
	FILE *const errors = stderr;
	char *lines, *rest;
	size_t size, len = 0;

	known[0] = '\0';
	stderr = open_memstream(&lines, &size); /* a variable of glibc's */
	cr_assert(stderr != NULL);
	log__set_json(true);
	trace_readers__describe("run.ptrec", dialect, &result);
	log__set_json(false);
	fclose(stderr);
	stderr = errors;
	rest = lines;
	for (char *line; (line = strsep(&rest, "\n")) && *line;) {
		json_t *message = json_loads(line, 0, NULL);
		char *arguments = json_dumps(json_object_get(message, "arguments"), JSON_COMPACT);

		len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s%s", len ? " " : "",
					json_string_value(json_object_get(message, "key")),
					arguments);
		free(arguments);
		json_decref(message);
	}
	free(lines);
	return known;
}

Test(trace_readers, a_trace_without_device_suits_all)
{
	cr_expect_str_eq(said(NULL, 0, 0), "");
	cr_expect_str_eq(said("tb", 0, 0), "");
}

Test(trace_readers, device_time_needs_the_other_dialect)
{
	static const char *const tb = "cli.trace-shown-without-device-time[\"run.ptrec\"]";

	cr_expect_str_eq(said(NULL, 3, 0), tb);
	cr_expect_str_eq(said("kineto", 3, 0), tb);
	cr_expect_str_eq(said("tb", 3, 0), "cli.trace-read-in-part-by-hta[\"run.ptrec\"]");
}

Test(trace_readers, what_HTA_makes_negative_is_counted)
{
	cr_expect_str_eq(said(NULL, 3, 2), "cli.trace-times-rounded-by-hta[\"2 events\"] "
					   "cli.trace-shown-without-device-time[\"run.ptrec\"]");
}

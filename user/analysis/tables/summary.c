// SPDX-License-Identifier: BSD-2-Clause
/* The head of every report: what was recorded. */
#include <inttypes.h>
#include <jansson.h>
#include <string.h>
#include "analysis/losses.h"
#include "analysis/tables/facts.h"
#include "common/util.h"

static const json_t *meta(const struct analysis *a, const char *object)
{
	return json_object_get(recording__meta(a->r), object);
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* is_short: only the program's base name. */
static struct cell command_line(const json_t *argv, bool is_short, char *buf, size_t size)
{
	size_t at = 0, i;
	json_t *arg;

	buf[0] = '\0';
	json_array_foreach((json_t *)argv, i, arg)
	{
		const char *s = json_string_value(arg), *slash;

		slash = is_short && !i && s ? strrchr(s, '/') : NULL;
		s = slash && slash[1] ? slash + 1 : s;

		if (at < size && s)
			at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? " " : "", s);
	}
	return buf[0] ? cell__text(buf) : cell__none("not recorded");
}

static struct cell framework(const struct analysis *a, char *buf, size_t size)
{
	const json_t *runtime = meta(a, "runtime");
	const char *title = text(runtime, "title"), *version = text(runtime, "version");

	if (!title)
		title = text(runtime, "framework");
	if (!title)
		return cell__none("none was recognised");
	snprintf(buf, size, "%s %s", title, version ? version : "");
	buf[strlen(buf) - (version && *version ? 0 : 1)] = '\0';
	return cell__text(buf);
}

static struct cell window(const struct analysis *a, char *buf, size_t size)
{
	uint64_t ns = analysis__window_ns(a);

	if (!ns)
		return cell__none("nothing was recorded");
	if (a->steps.calls)
		snprintf(buf, size, "steps [%" PRIu64 ",%" PRIu64 "), %s", a->first_step,
			 a->last_step + 1, time_text(a, ns).s);
	else
		snprintf(buf, size, "%s", time_text(a, ns).s);
	return cell__text(buf);
}

static struct cell step_rule(const struct analysis *a, char *buf, size_t size)
{
	const json_t *steps = json_object_get(recording__summary(a->r), "steps");
	const char *source, *explain;

	if (!steps)
		steps = meta(a, "steps");
	source = text(steps, "source");
	explain = text(steps, "explain");
	if (!source && !explain)
		return cell__none(a->steps.calls || !recording__summary(a->r)
					  ? "not recorded"
					  : "no step was found");
	snprintf(buf, size, "%s%s%s", source ? source : "", source && explain ? ": " : "",
		 explain ? explain : "");
	return cell__text(buf);
}

static struct cell process(const struct analysis *a, char *buf, size_t size)
{
	const char *comm = text(meta(a, "process"), "comm");

	if (!a->main_pid)
		return cell__none("not recorded");
	snprintf(buf, size, "%u%s%s%s", a->main_pid, comm ? " (" : "", comm ? comm : "",
		 comm ? ")" : "");
	return cell__text(buf);
}

static int fill(const struct analysis *a, void *state, struct table *t)
{
	char proc[128], command[1024], fw[256], win[96], rule[512], loss[384];
	const char *missing = losses__sentence(a, loss, sizeof(loss));
	const char *detail = json_string_value(meta(a, "detail"));
	const char *host = text(meta(a, "host"), "name");
	const json_t *rank = json_object_get(meta(a, "rank"), "rank");
	const json_t *argv = json_object_get(meta(a, "process"), "argv");
	const struct fact facts[] = {
		{"process", "process", process(a, proc, sizeof(proc))},
		{"command", "command", command_line(argv, false, command, sizeof(command))},
		{"host", "host", host ? cell__text(host) : cell__none("not recorded")},
		{"framework", "framework", framework(a, fw, sizeof(fw))},
		{"detail", "detail", detail ? cell__text(detail) : cell__none("not recorded")},
		{"window", "window", window(a, win, sizeof(win))},
		{"steps", "steps", cell__count(a->steps.calls)},
		{"step_rule", "step rule", step_rule(a, rule, sizeof(rule))},
		{json_is_integer(rank) ? "rank" : NULL, "rank",
		 cell__count((uint64_t)json_integer_value(rank))},
		{missing ? "incomplete" : NULL, "incomplete", cell__text(missing ? missing : "")},
	};

	return facts__add(t, facts, ARRAY_SIZE(facts));
}

/* "4242 (python), rank 3, on host" */
static struct cell where(const struct analysis *a, char *buf, size_t size)
{
	char proc[128];
	const struct cell cell = process(a, proc, sizeof(proc));
	const json_t *rank = json_object_get(meta(a, "rank"), "rank");
	const char *host = text(meta(a, "host"), "name");
	char number[32] = "";

	if (json_is_integer(rank))
		snprintf(number, sizeof(number), ", rank %" JSON_INTEGER_FORMAT,
			 json_integer_value(rank));
	if (cell.type == CELL_NONE)
		return cell;
	snprintf(buf, size, "%s%s%s%s", proc, number, host ? ", on " : "", host ? host : "");
	return cell__text(buf);
}

/* "PyTorch 2.4.0, detail operator" */
static struct cell framework_detail(const struct analysis *a, char *buf, size_t size)
{
	char fw[256];
	const struct cell cell = framework(a, fw, sizeof(fw));
	const char *detail = json_string_value(meta(a, "detail"));

	if (cell.type == CELL_NONE)
		return cell;
	snprintf(buf, size, "%s%s%s", fw, detail ? ", detail " : "", detail ? detail : "");
	return cell__text(buf);
}

static int fill_short(const struct analysis *a, void *state, struct table *t)
{
	char place[512], command[1024], fw[320], win[96], rule[512], loss[384];
	const char *missing = losses__sentence(a, loss, sizeof(loss));
	const json_t *argv = json_object_get(meta(a, "process"), "argv");
	const struct fact facts[] = {
		{"process", "process", where(a, place, sizeof(place))},
		{"command", "command", command_line(argv, true, command, sizeof(command))},
		{"framework", "framework", framework_detail(a, fw, sizeof(fw))},
		{"window", "window", window(a, win, sizeof(win))},
		{"step_rule", "step rule", step_rule(a, rule, sizeof(rule))},
		{missing ? "incomplete" : NULL, "incomplete", cell__text(missing ? missing : "")},
	};

	return facts__add(t, facts, ARRAY_SIZE(facts));
}

const struct table_impl table_summary = {
	.def = {"summary", "process, framework, window and steps; always printed", true},
	.title = "Recording",
	.timer = true,
	.fill = fill,
	.fill_short = fill_short,
};

// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>
#include "common/err.h"
#include "common/util.h"
#include "target/target.h"

/* Paths and arguments are bytes. Invalid UTF-8 is replaced. */
static json_t *json_text(const char *bytes)
{
	auto_free char *copy = NULL;
	json_t *text;

	if (!bytes)
		return json_null();
	text = json_string(bytes);
	if (text)
		return text;
	copy = strdup(bytes);
	if (!copy)
		return NULL;
	for (char *c = copy; *c; c++) {
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	}
	return json_string(copy);
}

static json_t *json_unless_negative(int n)
{
	return n < 0 ? json_null() : json_integer(n);
}

json_t *target__json(const struct target *t)
{
	json_t *argv = json_array();

	for (char **arg = t->argv; argv && arg && *arg; arg++) {
		if (json_array_append_new(argv, json_text(*arg)) < 0) {
			json_decref(argv);
			return NULL;
		}
	}
	return json_pack("{s:{s:i,s:i,s:i,s:o,s:o,s:o,s:o,s:I,s:b,s:b},s:{s:o,s:o,s:o}}", "process",
			 "pid", t->pid, "ns_pid", t->ns_pid, "uid", (int)t->uid, "comm",
			 json_text(t->comm), "exe", json_text(t->exe), "argv", argv, "python",
			 json_text(t->python), "start_time_ticks", (json_int_t)t->start_time,
			 "foreign_mnt_ns", t->foreign_mnt_ns, "foreign_pid_ns", t->foreign_pid_ns,
			 "rank", "rank", json_unless_negative(t->rank), "local_rank",
			 json_unless_negative(t->local_rank), "world_size",
			 json_unless_negative(t->world_size));
}

// SPDX-License-Identifier: BSD-2-Clause
/* dump RECORDING: prints its windows, and the calls of a device's interface, as text. */
#include "tests/e2e/lib/dump.h"
#include <string.h>

static void print_call(const struct recording *r, const struct event *e)
{
	const struct name *n = recording__name(r, e->name), *kernel;
	const struct track *t = recording__track(r, e->track);
	struct event_call call = {.stream = EVENT_NO_ID};

	if (e->type != EVENT_SPAN || !n || !t ||
	    (n->category != CAT_RUNTIME && n->category != CAT_DRIVER))
		return;
	if (e->args_len == sizeof(call))
		memcpy(&call, e->args, sizeof(call));
	kernel = call.kernel ? recording__name(r, call.kernel) : NULL;
	printf("%s\t%s\t%u\t%" PRIu64 "\t%" PRIu64 "\t%u\t%" PRId64 "\t%" PRIx64 "\t%u\t%s\n",
	       n->category == CAT_RUNTIME ? "runtime" : "driver", n->text, t->tid, e->ts_ns,
	       e->ts_ns + e->dur_ns, e->flags, e->value, call.stream, call.copy_kind,
	       kernel ? kernel->text : "-");
}

int main(int argc, char **argv)
{
	return dump__run(argv[1], print_call);
}

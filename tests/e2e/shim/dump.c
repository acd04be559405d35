// SPDX-License-Identifier: BSD-2-Clause
/* dump RECORDING: prints its windows, device events and API calls as text, for comparison with the
 * truth. */
#include "tests/e2e/lib/dump.h"

static const char *kind_of(const struct name *n)
{
	switch (n ? n->category : CAT_NONE) {
	case CAT_KERNEL:
		return "kernel";
	case CAT_MEMCPY:
		return "memcpy";
	case CAT_MEMSET:
		return "memset";
	case CAT_SYNC:
		return "sync";
	case CAT_RUNTIME:
		return "runtime";
	case CAT_DRIVER:
		return "driver";
	default:
		return NULL;
	}
}

static void print_event(const struct recording *r, const struct event *e)
{
	const struct name *n = recording__name(r, e->name);
	const struct track *t = recording__track(r, e->track);
	const char *kind = kind_of(n);

	if (kind && t && e->type == EVENT_DEVICE)
		printf("%s\t%d\t%" PRId64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRId64
		       "\t%s\n",
		       kind, t->device, t->stream, e->ts_ns, e->ts_ns + e->dur_ns, e->id, e->value,
		       n->text);
	else if (kind && t && e->type == EVENT_SPAN)
		printf("%s\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%u\t%s\n", kind, t->pid,
		       t->tid, e->ts_ns, e->ts_ns + e->dur_ns, e->id,
		       e->flags & (EVENT_CUT_BEGIN | EVENT_CUT_END), n->text);
}

int main(int argc, char **argv)
{
	return dump__run(argv[1], print_event);
}

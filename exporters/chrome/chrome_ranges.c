// SPDX-License-Identifier: BSD-2-Clause
/* Ranges of threads as the devices ran them, on the rows of their streams. */
#include "common/util.h"
#include "exporters/chrome/chrome_args.h"
#include "exporters/chrome/chrome_writer.h"

static char *put_range_name(struct chrome_writer *w, char *p, const struct gpu_range *g)
{
	const struct chrome_name *n = &w->names.names[g->name <= w->names.cnt ? g->name : 0];

	if (!g->name) {
		p = text__u64(TEXT_LIT(p, "\"ProfilerStep#"), g->step);
		*p++ = '"';
		return p;
	}
	text_file__take(w->out, p);
	text_file__put(w->out, n->head + n->quoted, n->head_len - n->quoted);
	return text_file__room(w->out, ARGS_ROOM);
}

static int put_gpu_range(struct chrome_writer *w, const struct gpu_range *g)
{
	struct chrome_row *row = chrome_rows__find(&w->rows, g->track, false);
	uint64_t begin_ns = g->begin_ns, end_ns = g->end_ns;
	char *p;

	/* a range that was cut where it would be shown has no id */
	if (!row || !g->external_id || chrome_row__is_negative_in_hta(row, begin_ns, end_ns))
		return 0;
	if (!chrome_row__enter(row, &begin_ns, &end_ns))
		return -ENOMEM;
	if (chrome_row__is_negative_in_hta(row, begin_ns,
					   end_ns)) /* if two threads share a stream */
		return 0;
	p = chrome_writer__begin(w, text_file__room(w->out, ARGS_ROOM));
	p = TEXT_LIT(p, "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":");
	p = chrome_writer__slice(w, put_range_name(w, p, g), row, begin_ns, end_ns);
	p = put_arg_u64(TEXT_LIT(p, ",\"args\":{\"External id\":"), g->external_id);
	p = put_marks(p, &(struct event){.end = END_OBJECT},
		      g->end_ns - g->begin_ns - (end_ns - begin_ns));
	text_file__take(w->out, TEXT_LIT(put_args_end(p), "}"));
	return 0;
}

int chrome_writer__gpu_ranges(struct chrome_writer *w, uint64_t until_ns)
{
	const struct gpu_range *g;
	int err = 0;

	while (!err && (g = gpu_ranges__next(&w->ranges, until_ns)))
		err = put_gpu_range(w, g);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Functions that the parts of the writer share: separators, times, slices. */
#include "common/util.h"
#include "exporters/chrome/chrome_args.h"
#include "exporters/chrome/chrome_writer.h"

char *chrome_writer__begin(struct chrome_writer *w, char *p)
{
	if (w->any)
		p = TEXT_LIT(p, ",\n");
	w->any = true;
	return p;
}

char *chrome_writer__time(const struct chrome_writer *w, char *p, const struct chrome_row *row,
			  uint64_t ns)
{
	const uint64_t us = ns / 1000 > w->base_us ? ns / 1000 - w->base_us : 0;

	p = text__u64(p, us);
	return row->thousandths ? put_thousandths(p, ns % 1000) : p;
}

char *chrome_writer__slice(const struct chrome_writer *w, char *p, const struct chrome_row *row,
			   uint64_t begin_ns, uint64_t end_ns)
{
	p = chrome_row__put(p, row);
	p = chrome_writer__time(w, p, row, begin_ns);
	p = TEXT_LIT(p, ",\"dur\":");
	if (!row->thousandths)
		return text__u64(p, end_ns / 1000 - begin_ns / 1000);
	p = text__u64(p, (end_ns - begin_ns) / 1000);
	return put_thousandths(p, (end_ns - begin_ns) % 1000);
}

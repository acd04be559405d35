/* SPDX-License-Identifier: BSD-2-Clause */
/* The args of trace events. Each leaves a comma behind, which put_args_end replaces by the brace.
 */
#ifndef PROFTRACE_CHROME_ARGS_H
#define PROFTRACE_CHROME_ARGS_H

#include "exporters/chrome/chrome_names.h"
#include "exporters/parts/text_file.h"
#include "model/device_info.h"

/* Room for all of an event except a name longer than HEAD_MAX. Args of 4096 bytes have 64 tensors
 * with 1024 dimensions, which take less than 32 KB. */
#define ARGS_ROOM TEXT_ROOM_MAX
#define HEAD_MAX  8192

static inline char *put_arg_u64(char *p, uint64_t v)
{
	p = text__u64(p, v);
	*p++ = ',';
	return p;
}

static inline char *put_args_end(char *p)
{
	if (p[-1] == ',')
		p--;
	*p++ = '}';
	return p;
}

char *put_thousandths(char *p, uint64_t n); /* ".042" for 42 */

/* A quoted text of the exporter's own, at most 256 bytes of it; a longer one becomes "". */
char *put_bounded(char *p, const char *quoted);

/* "memory bandwidth (GB/s)" of a copy: bytes per nanosecond. */
char *put_bandwidth(char *p, int64_t bytes, uint64_t dur_ns);

/* What a call of a device's interface was given: its kernel, bytes, direction, stream. */
char *put_call(char *p, const struct chrome_names *names, const struct event *e);

/* How long after the end of its launching call device work began, in microseconds. */
char *put_queue_delay(char *p, uint64_t launch_end_ns, uint64_t begin_ns);

/* How a kernel was launched and fills its device (NULL: not known), as Kineto names it. */
char *put_kernel_fill(char *p, const struct device_info *device, const struct event *e);

/* What a synchronisation on the stream waited for, and what recorded it. */
char *put_sync(char *p, const struct chrome_name *n, const struct event *e, int64_t stream);

/* "Input Dims", "Input type" and "Concrete Inputs" of an EVENT_SPAN. */
char *chrome_inputs__put(char *p, const struct chrome_names *names, const struct chrome_name *n,
			 const struct event *e);

/* How much is known of the ends: "end", "cut", and nanoseconds that clipping took away. */
char *put_marks(char *p, const struct event *e, uint64_t clipped_ns);

#endif

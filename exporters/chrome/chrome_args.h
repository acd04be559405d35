/* SPDX-License-Identifier: BSD-2-Clause */
/* The args of trace events. Each ends with a comma. put_args_end replaces the last comma by the
 * brace. */
#ifndef PROFTRACE_CHROME_ARGS_H
#define PROFTRACE_CHROME_ARGS_H

#include "exporters/chrome/chrome_names.h"
#include "exporters/parts/text_file.h"
#include "model/device_info.h"

/* Room for a whole event, except a name longer than HEAD_MAX. Args of 4096 bytes have 64 tensors
 * with 1024 dimensions, whose text takes less than 32 KB. */
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

/* A quoted text of the exporter itself, of at most 256 bytes. A longer one becomes "". */
char *put_bounded(char *p, const char *quoted);

/* "memory bandwidth (GB/s)" of a copy: bytes per nanosecond. */
char *put_bandwidth(char *p, int64_t bytes, uint64_t dur_ns);

/* Arguments of a call of a device's interface: its kernel, bytes, direction and stream. */
char *put_call(char *p, const struct chrome_names *names, const struct event *e);

/* Microseconds from the end of the launching call to the begin of the device work. */
char *put_queue_delay(char *p, uint64_t launch_end_ns, uint64_t begin_ns);

/* A kernel's launch parameters and how it fills its device (NULL: unknown), with Kineto's names. */
char *put_kernel_fill(char *p, const struct device_info *device, const struct event *e);

/* What a synchronisation on the stream waited for, and which call recorded that. */
char *put_sync(char *p, const struct chrome_name *n, const struct event *e, int64_t stream);

/* "Input Dims", "Input type" and "Concrete Inputs" of an EVENT_SPAN. */
char *chrome_inputs__put(char *p, const struct chrome_names *names, const struct chrome_name *n,
			 const struct event *e);

/* How certain the ends are: "end", "cut", and the nanoseconds that clipping removed. */
char *put_marks(char *p, const struct event *e, uint64_t clipped_ns);

#endif

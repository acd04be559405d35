// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/chrome/chrome_args.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *put_thousandths(char *p, uint64_t n)
{
	*p++ = '.';
	*p++ = (char)('0' + n / 100);
	*p++ = (char)('0' + n / 10 % 10);
	*p++ = (char)('0' + n % 10);
	return p;
}

char *put_bounded(char *p, const char *quoted)
{
	const size_t len = strlen(quoted);

	return len <= 256 ? text__str(p, quoted, len) : TEXT_LIT(p, "\"\"");
}

char *put_bandwidth(char *p, int64_t bytes, uint64_t dur_ns)
{
	const double rate = bytes > 0 && dur_ns ? (double)bytes / (double)dur_ns : 0;

	return p + sprintf(p, "\"memory bandwidth (GB/s)\":%.6f,", rate);
}

/* ---- kernels ---- */

char *put_queue_delay(char *p, uint64_t launch_end_ns, uint64_t begin_ns)
{
	const uint64_t ns = begin_ns > launch_end_ns ? begin_ns - launch_end_ns : 0;

	p = text__u64(TEXT_LIT(p, "\"queue delay (us)\":"), ns / 1000);
	p = put_thousandths(p, ns % 1000);
	*p++ = ',';
	return p;
}

static char *put_dim3(char *p, const uint32_t dim[3])
{
	return p + sprintf(p, "[%u,%u,%u],", dim[0], dim[1], dim[2]);
}

char *put_kernel_fill(char *p, const struct device_info *device, const struct event *e)
{
	struct event_kernel k;
	struct kernel_fill fill;

	if (e->args_len < sizeof(k))
		return p;
	memcpy(&k, e->args, sizeof(k));
	p = put_arg_u64(TEXT_LIT(p, "\"context\":"), k.context);
	p = put_arg_u64(TEXT_LIT(p, "\"queued\":"), 0); /* Kineto does not request it, either */
	p = put_dim3(TEXT_LIT(p, "\"grid\":"), k.grid);
	p = put_dim3(TEXT_LIT(p, "\"block\":"), k.block);
	p = put_arg_u64(TEXT_LIT(p, "\"registers per thread\":"), k.registers);
	p = put_arg_u64(TEXT_LIT(p, "\"shared memory\":"),
			(uint64_t)k.static_shared_bytes + k.dynamic_shared_bytes);
	if (k.graph)
		p = put_arg_u64(TEXT_LIT(p, "\"graph id\":"), k.graph);
	if (!kernel_fill__of(device, &k, &fill))
		return p;
	p += sprintf(p, "\"blocks per SM\":%.6f,\"warps per SM\":%.6f,", fill.blocks_per_sm,
		     fill.warps_per_sm);
	return put_arg_u64(TEXT_LIT(p, "\"est. achieved occupancy %\":"),
			   (uint64_t)(100 * fill.occupancy + 0.5));
}

/* ---- synchronisations ---- */

static char *put_arg_i64(char *p, int64_t v)
{
	p = text__i64(p, v);
	*p++ = ',';
	return p;
}

/* A stream can wait for itself (a collective on the stream that asked for it). HTA accepts no path
 * with such an edge, nor with one between equal stream numbers on two devices. So neither the
 * record nor its stream is named, because HTA wants a stream for each record. */
char *put_sync(char *p, const struct chrome_name *n, const struct event *e, int64_t stream)
{
	struct event_sync s;

	p = put_bounded(TEXT_LIT(p, "\"cuda_sync_kind\":"), n->head + n->quoted);
	*p++ = ',';
	if (e->args_len < sizeof(s))
		return p;
	memcpy(&s, e->args, sizeof(s));
	p = put_arg_u64(TEXT_LIT(p, "\"context\":"), s.context);
	if (!s.event)
		return p;
	if (s.stream == stream && !strcmp(n->head + n->quoted, "\"Stream Wait Event\""))
		s.record = EVENT_NO_ID;
	if (s.record == EVENT_NO_ID)
		s.stream = -1;
	p = put_arg_i64(TEXT_LIT(p, "\"wait_on_stream\":"), s.stream);
	p = put_arg_i64(TEXT_LIT(p, "\"wait_on_cuda_event_record_corr_id\":"),
			s.record == EVENT_NO_ID ? -1 : (int64_t)(s.record & INT64_MAX));
	return put_arg_u64(TEXT_LIT(p, "\"wait_on_cuda_event_id\":"), s.event);
}

/* ---- calls ---- */

#define KERNEL_BYTES 8192 /* longer names are left out */

static char *put_kernel(char *p, const struct chrome_names *names, uint32_t kernel)
{
	const struct chrome_name *n = &names->names[kernel <= names->cnt ? kernel : 0];
	const char *quoted = n->head ? n->head + n->quoted : "";
	const size_t len = strlen(quoted);

	if (!kernel || !len || len > KERNEL_BYTES)
		return p;
	p = text__str(TEXT_LIT(p, "\"kernel\":"), quoted, len);
	*p++ = ',';
	return p;
}

char *put_call(char *p, const struct chrome_names *names, const struct event *e)
{
	static const char *const copies[] = {[COPY_HTOH] = "\"HtoH\"",
					     [COPY_HTOD] = "\"HtoD\"",
					     [COPY_DTOH] = "\"DtoH\"",
					     [COPY_DTOD] = "\"DtoD\""};
	struct event_call call;

	if (e->flags & EVENT_FAILED)
		p = TEXT_LIT(p, "\"failed\":true,");
	if (e->value > 0)
		p = put_arg_u64(TEXT_LIT(p, "\"bytes\":"), (uint64_t)e->value);
	if (e->args_len != sizeof(call))
		return p;
	memcpy(&call, e->args, sizeof(call));
	/* Not `stream`, with which HTA would take it for device work. */
	if (call.stream != EVENT_NO_ID)
		p += sprintf(p, "\"stream handle\":\"%#" PRIx64 "\",", call.stream);
	if (call.copy_kind > COPY_UNKNOWN && call.copy_kind <= COPY_DTOD) {
		p = put_bounded(TEXT_LIT(p, "\"copy\":"), copies[call.copy_kind]);
		*p++ = ',';
	}
	return put_kernel(p, names, call.kernel);
}

/* ---- marks ---- */

char *put_marks(char *p, const struct event *e, uint64_t clipped_ns)
{
	const unsigned int cut = e->flags & (EVENT_CUT_BEGIN | EVENT_CUT_END);

	if (e->end == END_INFERRED)
		p = TEXT_LIT(p, "\"end\":\"inferred\",");
	if (cut == EVENT_CUT_BEGIN)
		p = TEXT_LIT(p, "\"cut\":\"begin\",");
	else if (cut == EVENT_CUT_END)
		p = TEXT_LIT(p, "\"cut\":\"end\",");
	else if (cut)
		p = TEXT_LIT(p, "\"cut\":\"both\",");
	if (clipped_ns >= 1000) /* less is below the trace's resolution */
		p = put_arg_u64(TEXT_LIT(p, "\"clipped_ns\":"), clipped_ns);
	return p;
}

/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Maps and globals shared by all programs. They are weak, so that the linker keeps one of each. */
#ifndef PROFTRACE_MAPS_BPF_H
#define PROFTRACE_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "ctl.h"
#include "events.h"
#include "probe_cfg.h"
#include "thread_state.h"

/* Type of a map that holds one ring. The loader replaces it by one of another size
 * (user/capture/ring.h). */
#define RING_SLOT                                                                                  \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);                                          \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__array(values, struct {                                                           \
			__uint(type, BPF_MAP_TYPE_RINGBUF);                                        \
			__uint(max_entries, 4096);                                                 \
		});                                                                                \
	}

RING_SLOT ring __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PT_MAX_PROBES);
	__type(key, __u32);
	__type(value, struct pt_probe_cfg);
} probe_cfg __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, PT_MAX_PROBES);
	__type(key, __u32);
	__type(value, struct pt_probe_stat);
} probe_stat __weak SEC(".maps");

/* Rows of probes that share an event; see PT_COOKIE_BY_ADDRESS. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_MAX_ADDRESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct pt_address);
	__type(value, __u32);
} rows_by_address __weak SEC(".maps");

/* Target processes: tgid to 1 + index (the main target has 1). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_MAX_TARGETS);
	__type(key, __u32);
	__type(value, __u32);
} targets __weak SEC(".maps");

/* Open spans by thread id. A hash instead of task storage, because the loader reads open spans when
 * a window closes. A row is removed when its thread exits. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_MAX_THREADS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct pt_thread);
} threads __weak SEC(".maps");

/* Keys of stacks that were sent. Without stacks the loader makes it small. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_MAX_STACKS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u32);
} stacks __weak SEC(".maps");

/* Return sites of functions whose end has no probe: address in the main target to row. The loader
 * attaches probes there. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PT_MAX_RETURNS);
	__type(key, __u64);
	__type(value, __u32);
} returns __weak SEC(".maps");

/* All zeroes, for copying: it is too large for the BPF stack. Never written. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct pt_thread);
} empty_thread __weak SEC(".maps");

extern struct pt_ctl ctl;

/* The ring in `slot`, in use until the program ends. NULL: the loader has made none. */
static __always_inline void *ring_in(void *slot)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(slot, &zero);
}

/* NULL: the ring is full. */
static __always_inline void *ring_reserve(void *slot, __u64 size)
{
	void *r = ring_in(slot);

	return r ? bpf_ringbuf_reserve(r, size, 0) : NULL;
}

/* 0, or not 0: the ring is full. */
static __always_inline long ring_output(void *slot, void *data, __u64 size, __u64 flags)
{
	void *r = ring_in(slot);

	return r ? bpf_ringbuf_output(r, data, size, flags) : -1;
}

/* Set before load. The verifier then skips code for data that the user did not request. */
const volatile bool with_stacks __weak = false; /* stacks of Python with spans */
const volatile bool with_args __weak = false;	/* arguments of operators */

/* Row of the probe that was hit, 0 if it has none. */
static __always_inline __u32 probe_row(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct pt_address key = {};
	const __u32 *row;

	if (cookie < PT_COOKIE_BY_ADDRESS)
		return cookie;
	key.ip = ctx->ip;
	key.event = cookie;
	row = bpf_map_lookup_elem(&rows_by_address, &key);
	return row ? *row : 0;
}

#endif

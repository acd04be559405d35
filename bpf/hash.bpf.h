/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
#ifndef PROFTRACE_HASH_BPF_H
#define PROFTRACE_HASH_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

static __always_inline __u64 hash_mix(__u64 hash, __u64 v)
{
	hash = (hash ^ v) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

#endif

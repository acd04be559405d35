// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Another tool may begin to use CUPTI while our library uses it. That tool would lose its records
 * to our library, and CUPTI itself when our library leaves. */
#include "maps.bpf.h"

/* prefix of the thread names in cupti_shim/shim.h */
static const char own_thread[] = {'p', 'r', 'o', 'f', 't', 'r', 'a', 'c', 'e', '-'};

/* bpf_strncmp exists only since 5.17. */
static __always_inline bool is_own(const char *comm)
{
	for (unsigned int i = 0; i < sizeof(own_thread); i++)
		if (comm[i] != own_thread[i])
			return false;
	return true;
}

static __always_inline bool is_by_another(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	char comm[16] = "";

	bpf_get_current_comm(comm, sizeof(comm));
	return tgid == ctl.target_pid && !is_own(comm);
}

SEC("uprobe")
int cupti_claimed(struct pt_regs *ctx)
{
	if (is_by_another())
		ctl.cupti_claimed = 1;
	return 0;
}

/* cuptiActivityEnable(kind) */
SEC("uprobe")
int cupti_enabled(struct pt_regs *ctx)
{
	__u32 kind = (__u32)ctx->di;

	if (kind < 64 && is_by_another())
		__sync_fetch_and_or(&ctl.cupti_kinds, 1ull << kind);
	return 0;
}

// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Another tool that begins to use CUPTI while our library does: it would lose its records to ours,
 * and CUPTI itself when ours leaves. */
#include "maps.bpf.h"

static const char own_thread[] = "proftrace-shim";

/* bpf_strncmp came with 5.17 only. */
static __always_inline bool is_own(const char *comm)
{
	for (unsigned int i = 0; i < sizeof(own_thread); i++)
		if (comm[i] != own_thread[i])
			return false;
	return true;
}

SEC("uprobe")
int cupti_claimed(void *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	char comm[16] = "";

	bpf_get_current_comm(comm, sizeof(comm));
	if (tgid == ctl.target_pid && !is_own(comm))
		ctl.cupti_claimed = 1;
	return 0;
}

// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* Another tool that begins to use CUPTI while our library does: it would lose its records to ours,
 * and CUPTI itself when ours leaves. */
#include "maps.bpf.h"

static const char own_thread[] = "proftrace-shim";

SEC("uprobe")
int cupti_claimed(void *ctx)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	char comm[16] = "";

	bpf_get_current_comm(comm, sizeof(comm));
	if (tgid == ctl.target_pid && bpf_strncmp(comm, sizeof(own_thread), own_thread))
		ctl.cupti_claimed = 1;
	return 0;
}

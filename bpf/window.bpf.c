// SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause)
/* The control block and the licence of the linked object. */
#include "maps.bpf.h"

struct pt_ctl ctl = {};
char LICENSE[] SEC("license") = "Dual BSD/GPL";

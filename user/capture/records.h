/* SPDX-License-Identifier: BSD-2-Clause */
/* How records come from the programs to a file. */
#ifndef PROFTRACE_RECORDS_H
#define PROFTRACE_RECORDS_H

#include "bpf/events.h"
#include "capture/decode/decoder.h"
#include "capture/ring.h"
#include "capture/steps/call_log.h"

struct long_names;
struct python_stacks;

/* The way of the records from the programs to a file. */
struct records {
	struct ring *ring; /* once the programs are loaded */
	uint64_t rate_windows; /* that were written when the ring was armed last */
	struct decoder *decoder;
	struct long_names *long_names;
	struct python_stacks *stacks; /* of --with-stack; NULL: none */
	struct call_log log; /* while it is open, records go to it and not to a file */
	struct pt_rec_step edge; /* of a window, behind which reading has stopped */
	int err; /* the first of a record's way */
};

#endif

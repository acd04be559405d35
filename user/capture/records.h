/* SPDX-License-Identifier: BSD-2-Clause */
/* The way of the records from the BPF programs to a file. */
#ifndef PROFTRACE_RECORDS_H
#define PROFTRACE_RECORDS_H

#include "bpf/events.h"
#include "capture/decode/decoder.h"
#include "capture/ring.h"
#include "capture/steps/call_log.h"

struct long_names;
struct python_stacks;

struct records {
	struct ring *ring; /* NULL until the programs are loaded */
	uint64_t rate_windows; /* number of windows written when the ring was sized for a window last */
	struct decoder *decoder;
	struct long_names *long_names;
	struct python_stacks *stacks; /* of --with-stack; NULL: none */
	struct call_log log; /* while the log is open, records go to it and not to a file */
	struct pt_rec_step edge; /* the window edge at which reading has stopped */
	int err; /* the first error of reading, decoding or writing records */
};

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the tables of a capture go. */
#ifndef PROFTRACE_REPORT_OUT_H
#define PROFTRACE_REPORT_OUT_H

#include <stdbool.h>
#include <stdio.h>

struct report_out {
	const char *path; /* --report-file; NULL: a standard stream */
	bool beside_program; /* which prints to standard output: the stream is standard error */
	FILE *file; /* between open and close; of more than one window it is the same */
};

/* Before the capture; 0 or a negative errno with err__set. */
int report_out__check(const struct report_out *out);
/* Refuses to write over one of the recordings, whose names are only known now; likewise. */
int report_out__spare(const struct report_out *out, char *const *recordings, size_t cnt);
/* Does nothing if it is open. 0 or a negative errno with err__set. */
int report_out__open(struct report_out *out);
/* What was printed is there, before what is said of it; likewise. */
int report_out__flush(struct report_out *out);
void report_out__close(struct report_out *out);

#endif

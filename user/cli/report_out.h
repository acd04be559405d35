/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the tables of a capture go. */
#ifndef PROFTRACE_REPORT_OUT_H
#define PROFTRACE_REPORT_OUT_H

#include <stdbool.h>
#include <stdio.h>

struct report_out {
	const char *path; /* of --report-file; NULL: a standard stream */
	bool beside_program; /* the program prints to standard output, so the tables go to
				standard error */
	FILE *file; /* open between open and close; all windows share it */
};

/* Call it before the capture. 0 or a negative errno with err__set. */
int report_out__check(const struct report_out *out);
/* Refuses to overwrite one of the recordings, whose names are known only now. 0 or a negative errno
 * with err__set. */
int report_out__spare(const struct report_out *out, char *const *recordings, size_t cnt);
/* Does nothing if it is open. 0 or a negative errno with err__set. */
int report_out__open(struct report_out *out);
/* Writes out the buffer before messages about the file appear. 0 or a negative errno with
 * err__set. */
int report_out__flush(struct report_out *out);
void report_out__close(struct report_out *out);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* --raw-csv, for all commands that write CSV. */
#ifndef PROFTRACE_RAW_CSV_H
#define PROFTRACE_RAW_CSV_H

/* dest: offset of a bool in the command's options struct. */
#define RAW_CSV_OPT(dest)                                                                          \
	{OPT_FLAG, "raw-csv", 0, NULL,                                                             \
	 "Write texts of CSV unchanged. By default an apostrophe stands before texts that a "      \
	 "spreadsheet would run as a formula (= + - @).",                                          \
	 (dest)}

#endif

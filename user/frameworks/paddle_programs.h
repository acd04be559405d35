/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the names of operators in PaddlePaddle's programs are. */
#ifndef PROFTRACE_PADDLE_PROGRAMS_H
#define PROFTRACE_PADDLE_PROGRAMS_H

#include "frameworks/probe_table.h"

/* The executor before 3.0 runs each operator through this function. */
#define PADDLE_OLD_INSTRUCTION                                                                     \
	"_ZN6paddle9framework18ProgramInterpreter14RunInstructionERKNS0_11InstructionE"

/* Sets the places of names in the probes planned by `s`; `lib` is the number of libpaddle in its
 * table. */
int paddle_programs__plan(struct table_scan *s, unsigned int lib);

#endif

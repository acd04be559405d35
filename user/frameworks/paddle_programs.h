/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the operators of PaddlePaddle's programs have their names. */
#ifndef PROFTRACE_PADDLE_PROGRAMS_H
#define PROFTRACE_PADDLE_PROGRAMS_H

#include "frameworks/probe_table.h"

/* The executor before 3.0 runs each operator by it. */
#define PADDLE_OLD_INSTRUCTION                                                                     \
	"_ZN6paddle9framework18ProgramInterpreter14RunInstructionERKNS0_11InstructionE"

/* Of the probes that `s` has planned; `lib` of its table is libpaddle. */
int paddle_programs__plan(struct table_scan *s, unsigned int lib);

#endif

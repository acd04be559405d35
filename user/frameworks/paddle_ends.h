/* SPDX-License-Identifier: BSD-2-Clause */
/* Where operators of PaddlePaddle end: where the functions and methods return by which Python calls them. */
#ifndef PROFTRACE_PADDLE_ENDS_H
#define PROFTRACE_PADDLE_ENDS_H

#include "frameworks/probe_table.h"

#define PADDLE_PYTHON_FUNCTIONS "_ZN6paddle6pybind"
#define PADDLE_CATCHES_ALL	"C API function: turns every C++ exception into a Python one"

/* Of the operators that `s` has planned; `lib` of its table is libpaddle. Methods of Tensor have a
 * function of their own: they have no symbol. */
int paddle_ends__plan(struct table_scan *s, unsigned int lib);
int paddle_ends__plan_methods(struct table_scan *s, unsigned int lib);

#endif

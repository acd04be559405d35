/* SPDX-License-Identifier: BSD-2-Clause */
/* Operators of PaddlePaddle end where the functions and methods that Python calls return. */
#ifndef PROFTRACE_PADDLE_ENDS_H
#define PROFTRACE_PADDLE_ENDS_H

#include "frameworks/probe_table.h"

#define PADDLE_PYTHON_FUNCTIONS "_ZN6paddle6pybind"
#define PADDLE_CATCHES_ALL	"C API function: turns every C++ exception into a Python one"

/* Plans the ends of the operators in the plan of `s`; `lib` is the number of libpaddle in its
 * table. Methods of Tensor are separate functions without a symbol. */
int paddle_ends__plan(struct table_scan *s, unsigned int lib);
int paddle_ends__plan_methods(struct table_scan *s, unsigned int lib);

#endif

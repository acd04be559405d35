/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that paddle.profiler gives to the functions of PaddlePaddle that run operators. */
#ifndef PROFTRACE_FRAMEWORKS_PADDLE_NAMES_H
#define PROFTRACE_FRAMEWORKS_PADDLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define PADDLE_NODE_PREFIX  "Global_"
#define PADDLE_PROGRAM_NODE PADDLE_NODE_PREFIX "Dy2StGradNode" /* of a compiled function */

/* Each of these returns false if the symbol is no such function. Else the name is as in the
 * comment. */

/* "conv2d dygraph" for conv2d_ad_func(...), "sparse::abs dygraph" for sparse::abs_ad_func(...), but
 * not for functions of optimizers */
bool paddle_names__forward(const char *symbol, char *out, size_t size);
/* "Global_ReluGradNode" for ReluGradNode::operator()(...) */
bool paddle_names__node(const char *symbol, char *out, size_t size);
/* "conv2d dygraph" for paddle::pybind::eager_api_conv2d(...), which Python calls */
bool paddle_names__python(const char *symbol, char *out, size_t size);
/* the same, only for functions that update parameters */
bool paddle_names__optimizer(const char *symbol, char *out, size_t size);

/* "rnn dygraph" for rnn_dygraph_function(...), which _legacy_C_ops calls. The first function leaves
 * out functions that update parameters; the second has only these */
bool paddle_names__legacy(const char *symbol, char *out, size_t size);
bool paddle_names__legacy_optimizer(const char *symbol, char *out, size_t size);

/* "ProcessGroupGloo::AllReduce" for the overload that does the work. Most take lists of tensors,
 * some take one tensor. */
bool paddle_names__gloo(const char *symbol, char *out, size_t size);

/* Does an operator of this name ("adam_") update parameters? */
bool paddle_names__is_optimizer(const char *op);

#endif

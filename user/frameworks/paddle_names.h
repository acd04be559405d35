/* SPDX-License-Identifier: BSD-2-Clause */
/* What paddle.profiler calls the functions of PaddlePaddle that run operators. */
#ifndef PROFTRACE_FRAMEWORKS_PADDLE_NAMES_H
#define PROFTRACE_FRAMEWORKS_PADDLE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define PADDLE_NODE_PREFIX  "Global_"
#define PADDLE_PROGRAM_NODE PADDLE_NODE_PREFIX "Dy2StGradNode" /* of a compiled function */

/* All of these: false if the symbol is no such function; else what is in the comment. */

/* "conv2d dygraph" of conv2d_ad_func(...), "sparse::abs dygraph" of sparse::abs_ad_func(...);
 * those of optimizers excepted */
bool paddle_names__forward(const char *symbol, char *out, size_t size);
/* "Global_ReluGradNode" of ReluGradNode::operator()(...) */
bool paddle_names__node(const char *symbol, char *out, size_t size);
/* "conv2d dygraph" of paddle::pybind::eager_api_conv2d(...), which Python calls */
bool paddle_names__python(const char *symbol, char *out, size_t size);
/* the same, of those that update parameters only */
bool paddle_names__optimizer(const char *symbol, char *out, size_t size);

/* "rnn dygraph" of rnn_dygraph_function(...), which _legacy_C_ops calls: those that update parameters
 * excepted, and these alone */
bool paddle_names__legacy(const char *symbol, char *out, size_t size);
bool paddle_names__legacy_optimizer(const char *symbol, char *out, size_t size);

/* "ProcessGroupGloo::AllReduce" of that of its forms in which the work is done: by lists of tensors,
 * but some by one tensor. */
bool paddle_names__gloo(const char *symbol, char *out, size_t size);

/* An operator of this name ("adam_") updates parameters. */
bool paddle_names__is_optimizer(const char *op);

#endif

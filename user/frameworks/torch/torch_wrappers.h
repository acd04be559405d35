/* SPDX-License-Identifier: BSD-2-Clause */
/* PyTorch's wrappers of methods and functions for Python, THPVariable_*: 1779 in 2.15. */
#ifndef PROFTRACE_FRAMEWORKS_TORCH_WRAPPERS_H
#define PROFTRACE_FRAMEWORKS_TORCH_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * torch_wrapper__operator() - the operator that a wrapper calls
 * @symbol: mangled, such as "_ZN5torch8autogradL15THPVariable_addEP7_objectS1_S1_"
 * @op:     receives its name without namespace: "add"
 * @size:   bytes at @op
 *
 * False if the symbol is no wrapper, or one that runs no operator.
 */
bool torch_wrapper__operator(const char *symbol, char *op, size_t size);

/* The same for a function that Python calls in place of a wrapper, and that calls the wrapper:
 * "_ZN5torch8autograd28TypeError_to_NotImplemented_IXadL_ZNS0_L15THPVariable_addEP7_objectS3_..." */
bool torch_wrapper__aliased(const char *symbol, char *op, size_t size);
/* The same for an attribute of a tensor: "numpy_T" for x.T,
 * "_ZN10GetterBaseI9PropertyTE6getterEP11THPVariablePv". */
bool torch_attribute__operator(const char *symbol, char *op, size_t size);
/* Do other functions call this wrapper, too? Then pointer hooks miss some of its calls. */
bool torch_wrapper__is_shared(const char *symbol);

#endif

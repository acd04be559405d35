// SPDX-License-Identifier: BSD-2-Clause
/* The simulated cuSPARSE: frameworks make a handle when they start. */
#include "handles.h"

HANDLE(cusparseCreate, cusparseDestroy, cusparseSetStream)

// SPDX-License-Identifier: BSD-2-Clause
/* The simulated cuSOLVER: frameworks make a handle when they start. */
#include "handles.h"

HANDLE(cusolverDnCreate, cusolverDnDestroy, cusolverDnSetStream)

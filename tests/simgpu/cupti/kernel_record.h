/* SPDX-License-Identifier: BSD-2-Clause */
/* The newest layout of a kernel's record that the wheel's headers have. */
#pragma once
#include <cupti.h>

#if CUPTI_API_VERSION >= 130200
typedef CUpti_ActivityKernel11 cupti_kernel_record;
#else
typedef CUpti_ActivityKernel10 cupti_kernel_record;
#endif

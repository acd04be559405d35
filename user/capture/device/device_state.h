/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session knows about the device and about our library in the target. */
#ifndef PROFTRACE_DEVICE_STATE_H
#define PROFTRACE_DEVICE_STATE_H

#include "capture/device/device_time.h"
#include "capture/device/pointer_hooks.h"
#include "device/device_source.h"

#endif

// SPDX-License-Identifier: BSD-2-Clause
/* What signal handlers and the session tell each other. */
#include "capture/capture.h"

volatile sig_atomic_t capture_stop;
volatile sig_atomic_t capture_harmless;

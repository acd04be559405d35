// SPDX-License-Identifier: BSD-2-Clause
#include "inject/steps.h"

void (*inject_step_hook)(enum inject_step step);

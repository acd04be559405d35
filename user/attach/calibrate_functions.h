/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions in assembly, one file per architecture (calibrate_x86.c). */
#ifndef PROFTRACE_CALIBRATE_FUNCTIONS_H
#define PROFTRACE_CALIBRATE_FUNCTIONS_H

#include <stdint.h>

void calibrate_bare(void);
void calibrate_emulated(void);
void calibrate_stepped(void);
void calibrate_pair(void);
void calibrate_site(void);
void calibrate_site_end(void); /* inside calibrate_site; cannot be called */

#endif

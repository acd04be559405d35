/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_DURATION_TEXT_H
#define PROFTRACE_DURATION_TEXT_H

#include <stdint.h>

struct duration_text {
	char s[32];
};

/* A duration in seconds for prose, in its two largest units: "45 s", "12 min 5 s", "3 h 20 min", "8
 * days 16 h". */
struct duration_text duration_text(uint64_t seconds);

#endif

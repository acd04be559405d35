/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_BYTES_TEXT_H
#define PROFTRACE_BYTES_TEXT_H

#include <stdint.h>

struct bytes_text {
	char s[32];
};

/* "312 B", "9.4 kB", "12.0 MB", "1.3 GB": a size, for prose. */
struct bytes_text bytes_text(uint64_t bytes);

#endif

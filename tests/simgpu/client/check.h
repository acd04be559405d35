/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks for the test programs. A failed check prints what failed. */
#pragma once
#include <stdio.h>
#include <stdlib.h>

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define OK(call)                                                                                   \
	do {                                                                                       \
		int result_ = (int)(call);                                                         \
		if (result_) {                                                                     \
			fprintf(stderr, "%s:%d: %s: %d\n", __FILE__, __LINE__, #call, result_);    \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

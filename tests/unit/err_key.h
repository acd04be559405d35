/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PROFTRACE_TEST_ERR_KEY_H
#define PROFTRACE_TEST_ERR_KEY_H

#include "common/err.h"

/* True if the remembered message, which is taken, is that of the table. */
#define EXPECT_ERR(message)                                                                        \
	do {                                                                                       \
		const char *key_ = err__key();                                                     \
                                                                                                   \
		cr_expect_str_eq(key_ ? key_ : "none", MESSAGE_KEY(message), "%s", err__take(0));  \
		err__take(0);                                                                      \
	} while (0)

#endif

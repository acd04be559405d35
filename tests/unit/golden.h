/* SPDX-License-Identifier: BSD-2-Clause */
/* Committed texts, to the byte. tests/golden/regenerate writes them anew: look at the difference before
 * you commit it. */
#ifndef PROFTRACE_TESTS_GOLDEN_H
#define PROFTRACE_TESTS_GOLDEN_H

#include "recording/recording.h"

#define GOLDEN_DIR "tests/golden"

/* Opens GOLDEN_DIR/NAME.ptrec. The caller closes it. */
struct recording *golden__open(const char *name);

/* Is the text that of GOLDEN_DIR/FILE? */
void golden__expect(const char *text, const char *file);

#endif

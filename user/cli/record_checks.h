/* SPDX-License-Identifier: BSD-2-Clause */
/* Which options of a recording fit together, and what they imply. */
#ifndef PROFTRACE_RECORD_CHECKS_H
#define PROFTRACE_RECORD_CHECKS_H

#include "cli/record_options.h"

/* Sets what the given options imply, before any other use of them. -EINVAL with err__set. */
int record_checks__set_defaults(struct record_options *o);
/* The remaining checks before the capture, such as of files. A negative errno with err__set. */
int record_checks__before(const struct record_options *o);

#endif

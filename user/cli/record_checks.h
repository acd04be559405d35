/* SPDX-License-Identifier: BSD-2-Clause */
/* Which options of a recording go together, and what follows from them. */
#ifndef PROFTRACE_RECORD_CHECKS_H
#define PROFTRACE_RECORD_CHECKS_H

#include "cli/record_options.h"

/* What follows from the options given; before any other use of them. -EINVAL with err__set. */
int record_checks__set_defaults(struct record_options *o);
/* What is left to ask before the capture, files among it. A negative errno with err__set. */
int record_checks__before(const struct record_options *o);

#endif

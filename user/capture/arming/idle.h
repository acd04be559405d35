/* SPDX-License-Identifier: BSD-2-Clause */
/* How long a session sleeps while its window is far away. */
#ifndef PROFTRACE_IDLE_H
#define PROFTRACE_IDLE_H

#include "capture/session.h"

#define IDLE_LEAST_MS 50
#define IDLE_MOST_MS  1000
#define IDLE_SHOWN_MS 200 /* at most, where somebody looks at the progress */

/* 0: probes are in or a file is open, so records come. */
int idle__ms(const struct session *s);

/* Sleeps until then, or a record wakes us or somebody calls `proftrace ctl`. */
void idle__sleep(const struct session *s, int ms);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Our library in the target: it goes in, is started ahead of windows and leaves CUPTI to other tools. */
#ifndef PROFTRACE_DEVICE_LIBRARY_H
#define PROFTRACE_DEVICE_LIBRARY_H

#include <stdbool.h>

struct session;

/*
 * Chooses where device times come from: from CUPTI, if the target uses CUDA and has our library or
 * can be given it; afterwards s->cupti.link is set. Otherwise s->cupti.no_device may say why not, and the
 * recording goes on without. 0, or -ENOENT with err__set if opts->cupti is not there.
 */
int device_library__choose(struct session *s);
/* With a decoder: makes the source. */
int device_library__open(struct session *s);

/* Once nothing will be loaded or held any more, this process has no right to. Call when one of these
 * has ended. */
void device_library__forbid_loading(const struct session *s);
/* The same at once. */
void device_library__give_up_loading(void);

/* A program may have begun to use CUDA only now. 0 or a negative errno with err__set. */
int device_library__choose_late(struct session *s);
/* It records for the first time, or refuses to. */
void device_library__on_started(struct session *s);
/* Is a window open or so near that it is to record? */
bool device_library__is_near(const struct session *s);
bool device_library__uses_cuda(const struct session *s);
/* Lets another tool have CUPTI, if one asks. */
void device_library__yield_if_claimed(struct session *s);

#endif

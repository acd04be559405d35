/* SPDX-License-Identifier: BSD-2-Clause */
/* Device time in the life of a session: nothing here does anything without a device source. */
#ifndef PROFTRACE_DEVICE_TIME_H
#define PROFTRACE_DEVICE_TIME_H

#include "capture/session.h"

/*
 * Chooses where device times come from: from CUPTI, if the target uses CUDA and has our library or
 * can be given it; afterwards s->link is set. Otherwise s->no_device may say why not, and the
 * recording goes on without. 0, or -ENOENT with err__set if opts->cupti is not there.
 */
int device_time__choose(struct session *s);
/* With a decoder: makes the source. */
int device_time__open(struct session *s);

/* Once nothing will be loaded or held any more, this process has no right to. Call when one of these
 * has ended. */
void device_time__forbid_loading(const struct session *s);
/* Before steps are counted: CUPTI's first start, which can take seconds. */
int device_time__prepare(struct session *s);
/* Starts the library ahead of a window, and finishes a window that has all its activities. */
int device_time__adjust(struct session *s);
/* A window must wait: the library is to record, and does not yet. */
bool device_time__is_starting(struct session *s);

int device_time__pump(struct session *s);
void device_time__window_open(struct session *s);
void device_time__window_close(struct session *s);
/* Waits for the window's last activities and writes them. */
int device_time__window_finish(struct session *s);

/* A step goes to the file when its activities have had time to come. */
int device_time__step(struct session *s, const struct held_step *step);

/* Adds "device" to the summary and to its "loss". */
void device_time__summary(struct session *s, json_t *summary);

#endif

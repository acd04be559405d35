/* SPDX-License-Identifier: BSD-2-Clause */
/* Our library in the target: loads it, starts it before windows, and leaves CUPTI to other tools. */
#ifndef PROFTRACE_DEVICE_LIBRARY_H
#define PROFTRACE_DEVICE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

struct session;

/*
 * Chooses the source of device times. It is CUPTI if the target uses CUDA, and has our library or can load it. Then
 * s->cupti.link is set. Otherwise s->cupti.no_device may have the reason, and the recording has no device times.
 * Returns 0, or -ENOENT with err__set if opts->cupti does not exist.
 */
int device_library__choose(struct session *s);
/* Makes the device source. Needs the decoder. */
int device_library__open(struct session *s);

/* Gives up the right to load the library, once nothing will be loaded or frozen any more. Call when one of these has
 * ended. */
void device_library__forbid_loading(const struct session *s);
/* Gives up the right at once. */
void device_library__give_up_loading(void);

/* Looks again: the program may use CUDA only now. Returns 0 or a negative errno with err__set. */
int device_library__choose_late(struct session *s);
/* Call when the library has first started to record, or has refused. */
void device_library__on_started(struct session *s);
/* Is a window open, or so near that the library must record? */
bool device_library__is_near(const struct session *s);
bool device_library__uses_cuda(const struct session *s);
/* Says whether windows have device times: "yes", "off", "no: ..." without CUDA, or "refused: CAUSE". */
void device_library__say(const struct session *s, char *out, size_t size);
/* Leaves CUPTI to another tool, if one has asked for it. */
void device_library__yield_if_claimed(struct session *s);

#endif

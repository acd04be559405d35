/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that sends bodies to one URL. It has a network and libcurl, and no rights: the sandbox of
 * privilege/sandbox.h, as user 65534. */
#ifndef PROFTRACE_PUSHER_H
#define PROFTRACE_PUSHER_H

#include <sys/types.h>

/* "http://..." or "https://...", without a user or password. 0, or -EINVAL with err__set. */
int pusher__check_url(const char *option, const char *url);
/* *fd: takes struct push_item, gives struct push_answer, ends with the process. Its pid, or a negative errno with
 * err__set. */
pid_t pusher__start(const char *url, int *fd);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that sends bodies to one URL. It has the network and libcurl, but no rights: it runs
 * in the sandbox of privilege/sandbox.h as user 65534. */
#ifndef PROFTRACE_PUSHER_H
#define PROFTRACE_PUSHER_H

#include <sys/types.h>

/* Checks a URL: "http://..." or "https://...", without user and password. 0, or -EINVAL with
 * err__set. */
int pusher__check_url(const char *option, const char *url);
/* *fd: a socket for struct push_item to the process and struct push_answer back, which closes at
 * its end. The process's pid, or a negative errno with err__set. */
pid_t pusher__start(const char *url, int *fd);

#endif

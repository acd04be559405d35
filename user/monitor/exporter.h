/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that answers HTTP and reads the figures of windows. It has no rights: it runs in the
 * sandbox of privilege/sandbox.h as user 65534, with the sockets that it was given. */
#ifndef PROFTRACE_MONITOR_EXPORTER_H
#define PROFTRACE_MONITOR_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "monitor/messages.h"

struct exporter {
	pid_t pid; /* 0: none */
	int fd;	   /* readable when it answers or ends */
};

struct exporter_opts {
	int listen_fd; /* belongs to the caller */
	bool is_path;  /* it is a unix socket */
	size_t series_max;
	const char *token; /* required in requests for windows; NULL: nobody may ask */
	bool pages;	   /* anyone who connects may read pages of recordings */
};

/* 0, or a negative errno with err__set. */
int exporter__start(const struct exporter_opts *opts, struct exporter *out);
/* fd: sent along; -1: none. 0 or a negative errno: the exporter has ended, or does not keep up. */
int exporter__send(const struct exporter *e, const struct message *m, int fd);
/* 0; id 0 is the answer to TELL_COUNTS and shows that the exporter lives. *fd: the file of
 * ASKED_PUSH, to be closed; -1: none. -EAGAIN: no answer waits; -EPIPE: the exporter has ended. */
int exporter__receive(const struct exporter *e, struct window_answer *out, int *fd);
/* Ends it, even if it is stopped, and waits. */
void exporter__stop(struct exporter *e);

#endif

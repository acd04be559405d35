/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that answers HTTP and reads the figures of windows. It has no rights: the sandbox of
 * privilege/sandbox.h, as user 65534, with the sockets that it got. */
#ifndef PROFTRACE_MONITOR_EXPORTER_H
#define PROFTRACE_MONITOR_EXPORTER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "monitor/messages.h"

struct exporter {
	pid_t pid; /* 0: none */
	int fd;	   /* readable: an answer, or its end */
};

struct exporter_opts {
	int listen_fd; /* the caller's */
	bool is_path;  /* it is a unix socket */
	size_t series_max;
	const char *token; /* of who may ask for windows; NULL: nobody may */
	bool pages;	   /* of recordings are for whoever may connect */
};

/* 0, or a negative errno with err__set. */
int exporter__start(const struct exporter_opts *opts, struct exporter *out);
/* fd: goes along, -1: none. 0 or a negative errno: it has ended, or does not keep up. */
int exporter__send(const struct exporter *e, const struct message *m, int fd);
/* 0; id 0: it lives, the answer to TELL_COUNTS. *fd: of ASKED_PUSH, to be closed; -1: none. -EAGAIN: no answer
 * waits; -EPIPE: it has ended. */
int exporter__receive(const struct exporter *e, struct window_answer *out, int *fd);
/* Ends it, also one that stands still, and waits. */
void exporter__stop(struct exporter *e);

#endif

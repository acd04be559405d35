/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a process without rights gets files. It asks its parent through a pair of sockets, and gets
 * open descriptors (SCM_RIGHTS). user/privilege/file_broker.h answers. After file_client__begin(),
 * out_file.h and in_file__open ask by themselves.
 */
#ifndef PROFTRACE_FILE_CLIENT_H
#define PROFTRACE_FILE_CLIENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "common/refused_link.h"

enum file_verb {
	FILE_READ,	/* opens a file to read */
	FILE_WRITE,	/* out_file__open */
	FILE_TEMPORARY, /* out_file__open_temporary */
	FILE_PUBLISH,	/* out_file__publish */
	FILE_FORGET,	/* out_file__close */
	FILE_DIRECTORY, /* out_file__make_directory */
	/* Only for a session: */
	FILE_ASIDE,  /* out_file__set_aside, to PATH.old */
	FILE_REMOVE, /* out_file__remove, for files made through this socket */
	FILE_LISTEN, /* a socket for `proftrace ctl`; handle: the process that is recorded */
	FILE_LOCK,   /* target_lock__take; path: the start time in decimal */
	FILE_SWEEP,  /* removes a socket's name if nobody listens */
	FILE_CLIENT, /* a socket like this one, for another process */
	FILE_OUTPUT, /* the same for the process that makes the output; neither it nor the asking
			process may use these verbs afterwards */
};

/* One message of a SOCK_SEQPACKET socket. */
struct file_request {
	uint32_t verb;
	uint32_t mode;	 /* FILE_WRITE: enum out_mode; FILE_LOCK: a process */
	uint32_t handle; /* FILE_PUBLISH, FILE_FORGET: handle of the answer; FILE_LISTEN: a
			    process */
	char path[PATH_MAX];
};

struct file_answer {
	int32_t err; /* 0 (with a descriptor, if the verb opens something), or a negative errno */
	uint32_t handle;
	char link[REFUSED_LINK_TEXT]; /* -ELOOP: refused_link__text() */
};

/* From now on this process asks for files through the socket. -1: it stops asking. */
void file_client__begin(int socket);
bool file_client__is_on(void);
int file_client__socket(void); /* -1: this process does not ask */
/* Asks and waits for the answer. 0 or a negative errno. *fd, if not NULL: the received descriptor,
 * else -1. */
int file_client__ask(enum file_verb verb, uint32_t mode, const char *path, int *fd,
		     uint32_t *handle);
/* verb: FILE_PUBLISH, FILE_FORGET or FILE_SWEEP. */
int file_client__end(enum file_verb verb, uint32_t handle);
/* verb: FILE_LISTEN, FILE_CLIENT or FILE_OUTPUT. A descriptor, or a negative errno. *handle: that
 * of the answer. */
int file_client__get_socket(enum file_verb verb, uint32_t *handle);

/* Opens a regular file for reading. A descriptor, or a negative errno; -EINVAL: it is no regular
 * file. */
int in_file__open(const char *path);

/* A file that is open already. */
struct held_file {
	char path[32]; /* the name by which in_file__open finds it */
	int fd;
};
/* From now on in_file__open gives copies of these descriptors. Copies share their position, so use
 * pread(2). The table is borrowed. */
void file_client__hold(const struct held_file *held, size_t cnt);

#endif

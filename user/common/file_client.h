/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a process without rights comes to files: it asks the one that started it, through a pair of
 * sockets, and gets open descriptors (SCM_RIGHTS). user/privilege/file_broker.h answers. out_file.h
 * and in_file__open use this by themselves once it is on.
 */
#ifndef PROFTRACE_FILE_CLIENT_H
#define PROFTRACE_FILE_CLIENT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include "common/refused_link.h"

enum file_verb {
	FILE_READ,	/* a file to read */
	FILE_WRITE,	/* out_file__open */
	FILE_TEMPORARY, /* out_file__open_temporary */
	FILE_PUBLISH,	/* out_file__publish */
	FILE_FORGET,	/* out_file__close */
	FILE_DIRECTORY, /* out_file__make_directory */
	/* Of a session alone: */
	FILE_ASIDE,  /* out_file__set_aside, to PATH.old */
	FILE_REMOVE, /* out_file__remove, of what was made for it */
	FILE_LISTEN, /* a socket for `proftrace ctl`; handle: of which process */
	FILE_LOCK,   /* target_lock__take; path: the start time in decimal */
	FILE_SWEEP,  /* removes its name, once nobody listens */
	FILE_CLIENT, /* a socket like this one, for another process */
	FILE_OUTPUT, /* the same for the process that makes the output: it asks for none of these,
		      * nor does who asks for it any more */
};

/* A whole message (SOCK_SEQPACKET). */
struct file_request {
	uint32_t verb;
	uint32_t mode;	 /* FILE_WRITE: enum out_mode; FILE_LOCK: a process */
	uint32_t handle; /* FILE_PUBLISH, FILE_FORGET: as it was answered; FILE_LISTEN: a process */
	char path[PATH_MAX];
};

struct file_answer {
	int32_t err; /* 0, and a descriptor beside it where one was asked for */
	uint32_t handle;
	char link[REFUSED_LINK_TEXT]; /* -ELOOP: refused_link__text() */
};

/* From now on files are asked for at this socket; -1: no more. */
void file_client__begin(int socket);
bool file_client__is_on(void);
int file_client__socket(void); /* -1: it is not on */
/* 0 or a negative errno; *fd, if not NULL: the descriptor that came, else -1. */
int file_client__ask(enum file_verb verb, uint32_t mode, const char *path, int *fd,
		     uint32_t *handle);
/* FILE_PUBLISH, FILE_FORGET or FILE_SWEEP. */
int file_client__end(enum file_verb verb, uint32_t handle);
/* FILE_LISTEN, FILE_CLIENT or FILE_OUTPUT: a descriptor, or a negative errno. *handle: as it was
 * answered. */
int file_client__get_socket(enum file_verb verb, uint32_t *handle);

/* Opens a regular file for reading: a descriptor, or a negative errno, -EINVAL: it is none. */
int in_file__open(const char *path);

/* A file that needs no opening. */
struct held_file {
	char path[32]; /* by which in_file__open knows it */
	int fd;
};
/* in_file__open gives copies of these descriptors; they share their position, so they are for pread(2). The table is
 * borrowed. */
void file_client__hold(const struct held_file *held, size_t cnt);

#endif

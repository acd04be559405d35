/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens files for a process without rights (common/file_client.h): only those that were named
 * before that process started. */
#ifndef PROFTRACE_FILE_BROKER_H
#define PROFTRACE_FILE_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/file_client.h"

/* More that a session may ask for (user/privilege/file_process.h). */
struct file_session {
	/* Makes a socket for requests to the session that records pid. Or a negative errno, and in
	 * *holder the process that has the socket, 0: unknown. */
	int (*listen)(pid_t pid, uint32_t *holder);
	void (*sweep)(void); /* removes names of abandoned sockets */
};

struct file_places {
	char **read;	    /* paths that may be opened for reading, spelled as the client will */
	char **write;	    /* paths that may be written, whatever is there */
	char **directories; /* directories in which files of any name may be made and replaced */
	char **made;	    /* files made for the client: it may read and remove them; kept by
			       the broker */
	size_t read_cnt, read_cap, write_cnt, write_cap, directory_cnt, directory_cap;
	size_t made_cnt, made_cap;
	struct held_file *held; /* recordings in memory, which are open already */
	size_t held_cnt, held_cap;
	const char *temporary; /* a file that the session may remove; it is removed at the end
				  anyway. NULL: none */
	const struct file_session *session; /* NULL: the client is no session */
};

/* 0 or -ENOMEM. */
int file_places__add_read(struct file_places *p, const char *path);
/* Adds an open file under the name by which the client asks for it. The descriptor is borrowed. */
int file_places__add_held(struct file_places *p, const char *path, int fd);
/* Adds a file, "-" or NULL (nothing), or a directory in which any file may be made. A directory
 * exists, or its name ends with a slash. numbered: also allows numbered files beside it, unless it
 * is a device or pipe. */
int file_places__add_write(struct file_places *p, const char *path, bool numbered);
void file_places__free(struct file_places *p);

/* Answers until the other end, and the sockets that it asked for, are closed. Removes what was not
 * published by then. */
void file_broker__serve(int socket, struct file_places *places);
/* The same, and calls look(ctx) every 0.1 s. */
void file_broker__serve_and_look(int socket, struct file_places *places, void (*look)(void *ctx),
				 void *ctx);

#endif

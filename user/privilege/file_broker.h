/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers a process without rights that asks for files (common/file_client.h): only those that were
 * named before it was started. */
#ifndef PROFTRACE_FILE_BROKER_H
#define PROFTRACE_FILE_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/file_client.h"

/* What a session may have besides (user/privilege/file_process.h). */
struct file_session {
	/* A socket for requests to the session that records pid; or a negative errno, and the
	 * process that has it, 0: unknown. */
	int (*listen)(pid_t pid, uint32_t *holder);
	void (*sweep)(void); /* removes names of sockets that nobody listens at */
};

struct file_places {
	char **read;	    /* paths that it may open for reading, as it will write them */
	char **write;	    /* paths where it may write, whatever is there */
	char **directories; /* in which it may make and replace files of any name */
	char **made;	    /* for it: it may read and remove them; kept by the broker */
	size_t read_cnt, read_cap, write_cnt, write_cap, directory_cnt, directory_cap;
	size_t made_cnt, made_cap;
	struct held_file *held; /* that need no opening: recordings in memory */
	size_t held_cnt, held_cap;
	const char *temporary; /* the session may remove this file; it is removed at the end anyway.
				  NULL: none */
	const struct file_session *session; /* NULL: it is none */
};

/* 0 or -ENOMEM. */
int file_places__add_read(struct file_places *p, const char *path);
/* One that is open already, under the name by which it will be asked for; the descriptor stays the caller's. */
int file_places__add_held(struct file_places *p, const char *path, int fd);
/* A file, "-" or NULL (nothing), a directory (with a slash at its end, or there), in which any file
 * may be made. numbered: files beside it, too, unless it is a device or pipe. */
int file_places__add_write(struct file_places *p, const char *path, bool numbered);
void file_places__free(struct file_places *p);

/* Answers until the other end is closed, and those that were asked for. What is not published by
 * then is gone. */
void file_broker__serve(int socket, struct file_places *places);
/* The same; look(ctx) is called every 0.1 s. */
void file_broker__serve_and_look(int socket, struct file_places *places, void (*look)(void *ctx),
				 void *ctx);

#endif

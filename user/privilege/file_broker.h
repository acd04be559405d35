/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers a process without rights that asks for files (common/file_client.h): only those that were
 * named before it was started. */
#ifndef PROFTRACE_FILE_BROKER_H
#define PROFTRACE_FILE_BROKER_H

#include <stdbool.h>
#include <stddef.h>

struct file_places {
	char **read;  /* paths that it may open for reading, as it will write them */
	char **write; /* paths where it may write, whatever is there */
	char **directories; /* in which it may make and replace files of any name */
	size_t read_cnt, read_cap, write_cnt, write_cap, directory_cnt, directory_cap;
};

/* 0 or -ENOMEM. */
int file_places__add_read(struct file_places *p, const char *path);
/* A file, "-" or NULL (nothing), a directory (with a slash at its end, or there), in which any file may be
 * made. numbered: files beside it, too. */
int file_places__add_write(struct file_places *p, const char *path, bool numbered);
void file_places__free(struct file_places *p);

/* Answers until the other end is closed. What is not published by then is gone. */
void file_broker__serve(int socket, const struct file_places *places);

#endif

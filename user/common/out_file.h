/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one door to files that proftrace makes. It may run as root in a directory of another user. So
 * it follows no symbolic link that another user could have made or moved (out_path.h). It writes
 * into no file that is not the caller's. Behind a link of who called sudo it does what he may.
 * New files have mode 0600 and, under sudo, belong to the caller. A file that is replaced leaves
 * its mode only in a directory that nobody else may write to.
 */
#ifndef PROFTRACE_OUT_FILE_H
#define PROFTRACE_OUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/out_path.h"

struct out_file {
	int fd;		    /* where to write; -1: closed */
	struct out_path at; /* where it appears */
	char temp[32];	    /* its name until it is published; "": it has none, or its own already */
	bool unnamed;	    /* O_TMPFILE: has no name until it is published */
	uint32_t handle;    /* of a process without rights (file_client.h), else 0 */
};

#define OUT_FILE_NONE ((struct out_file){.fd = -1, .at = OUT_PATH_NONE})

enum out_mode {
	OUT_LIVE,  /* has its name from the begin; an existing file is emptied, or replaced where
		    * others may write to the directory */
	OUT_WHOLE, /* has its name when it is published; then it replaces an existing file */
	/* added to one of these: */
	OUT_ONLY_FILES = 1 << 8, /* a pipe or device is -EEXIST */
	OUT_NO_WAIT = 1 << 9,	 /* a pipe without a reader is -EAGAIN */
};

/*
 * Opens a file to write. A pipe or device that is there is opened as it is; for the reader of a
 * pipe it waits, until a signal is caught (-EINTR). 0 or a negative errno, that of the system call
 * or:
 * -ELOOP   a link that may be another user's is on the way
 * -EEXIST  there is a file of another user
 * -EMLINK  the file has other names, too
 * -ESTALE  another file took its place while it was opened
 * -EBUSY   others hold each temporary file that is made
 */
int out_file__open(struct out_file *f, const char *path, enum out_mode mode);
/* Gives an OUT_WHOLE file its name; closes it in any case. 0 or a negative errno. */
int out_file__publish(struct out_file *f);
/* Closes; what was not published is gone. */
void out_file__close(struct out_file *f);

/* Opens a regular file that out_file__open made, to read it: no link, in the same directory. A
 * descriptor or a negative errno. */
int out_file__reopen(const char *path);

/* A file of no name in the directory, to write and read; a descriptor or a negative errno. */
int out_file__open_temporary(const char *directory);
/* Where SQLite looks for a directory of temporary files, the best first; NULL among them: not set.
 */
enum { TEMPORARY_PLACES = 4 };
void out_file__temporary_places(const char *places[TEMPORARY_PLACES]);

/* Renames PATH to PATH.old, or removes it, in the directory that out_file__open would write to. */
int out_file__set_aside(const char *path);
int out_file__remove(const char *path);
/* mkdir under the same rules; 0 or a negative errno, -EEXIST included. */
int out_file__make_directory(const char *path);

/* Under sudo: makes an open file the caller's. */
void out_file__give_to_caller(int fd);

/* Cause and next step of the errors that only this file knows; as of err__take(); NULL: strerror
 * says it. */
const char *out_file__explain(int err);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All files that proftrace makes are opened here. It may run as root in a directory of another
 * user. So it follows no symbolic link that another user could have made or moved (out_path.h). It
 * writes only to files of the caller. After a link of the user who called sudo, it has that user's
 * rights. New files have mode 0600 and, under sudo, belong to the caller. A new file gets the mode
 * of the file it replaces only if nobody else can write to the directory.
 */
#ifndef PROFTRACE_OUT_FILE_H
#define PROFTRACE_OUT_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "common/out_path.h"

struct out_file {
	int fd;		    /* to write; -1: closed */
	struct out_path at; /* the place where the file appears */
	char temp[32];	    /* its temporary name until it is published; "": it has none, or has
			       its final name */
	bool unnamed;	    /* O_TMPFILE: it has no name until it is published */
	uint32_t handle;    /* number of the file at the broker (file_client.h); 0: opened by
			       this process */
};

#define OUT_FILE_NONE ((struct out_file){.fd = -1, .at = OUT_PATH_NONE})

enum out_mode {
	OUT_LIVE,  /* has its name from the begin. An existing file is emptied, or replaced if
		      others can write to the directory */
	OUT_WHOLE, /* gets its name when it is published, and replaces an existing file then */
	/* flags for these modes: */
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
/* Closes the file. A file that was not published is removed. */
void out_file__close(struct out_file *f);

/* Opens a regular file that out_file__open made, for reading. It follows no link and stays in the
 * same directory. A descriptor or a negative errno. */
int out_file__reopen(const char *path);

/* Makes a file without a name in the directory, to write and read. A descriptor or a negative
 * errno. */
int out_file__open_temporary(const char *directory);
/* The directories in which SQLite looks for space for temporary files, the best first. NULL: not
 * set. */
enum { TEMPORARY_PLACES = 4 };
void out_file__temporary_places(const char *places[TEMPORARY_PLACES]);

/* Renames PATH to PATH.old, or removes it, in the directory to which out_file__open would write. */
int out_file__set_aside(const char *path);
int out_file__remove(const char *path);
/* mkdir by the same rules. 0 or a negative errno, -EEXIST included. */
int out_file__make_directory(const char *path);

/* Under sudo: gives an open file to the caller. */
void out_file__give_to_caller(int fd);

/* Cause and next step of an error that only this file knows, as of err__take(). NULL: use
 * strerror(). */
const char *out_file__explain(int err);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* SQLite on open descriptors. It opens no file by name, so nobody can redirect it. */
#ifndef PROFTRACE_SQLITE_FILE_H
#define PROFTRACE_SQLITE_FILE_H

#include <sqlite3.h>

/*
 * Makes a database in fd, an empty file to read and write. fd is borrowed and stays open. There are
 * no journal and no locks, because nobody else has the file. Temporary files have no name, in
 * SQLITE_TMPDIR, TMPDIR, /var/tmp or /tmp. Returns an SQLite error code; *db may be set even then.
 */
int sqlite_file__open(int fd, sqlite3 **db);

#endif

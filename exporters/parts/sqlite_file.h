/* SPDX-License-Identifier: BSD-2-Clause */
/* SQLite on open descriptors: it opens no file by name, so nobody can lead it elsewhere. */
#ifndef PROFTRACE_SQLITE_FILE_H
#define PROFTRACE_SQLITE_FILE_H

#include <sqlite3.h>

/*
 * A new database in fd, an empty file to read and write, which stays the caller's and open. No
 * journal and no locks: nobody else has it. Temporary files have no name, in SQLITE_TMPDIR, TMPDIR,
 * /var/tmp or /tmp. An error code of SQLite's; *db may be set then, too.
 */
int sqlite_file__open(int fd, sqlite3 **db);

#endif

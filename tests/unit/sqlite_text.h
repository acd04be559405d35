/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a database as text, so that a diff can show how two of them differ. */
#ifndef PROFTRACE_SQLITE_TEXT_H
#define PROFTRACE_SQLITE_TEXT_H

/* The schema as it was written, then one line per row, in the tables' own order: `names id=1
 * category='operator'`, without what is NULL. Not what SQLite itself keeps (sqlite_*). The caller
 * frees. */
char *sqlite_text(const char *path);

#endif

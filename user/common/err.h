/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors travel up as negative errno. The function that knows the object and the cause leaves the
 * explaining text here. The command prints it once, at the top.
 */
#ifndef PROFTRACE_ERR_H
#define PROFTRACE_ERR_H

/* Remembers "object: cause; next step" (printf-like) for the message at the top; returns err, so
 * that `return err__set(-ENOENT, "...")` reads well. One message per thread, the latest wins. */
int err__set(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The remembered text, or strerror(-err) if none was left. Forgets it. */
const char *err__take(int err);

/* The same for output that was not taken, errno saying why: "cannot write WHAT: cause; next step".
 * Returns -EIO. */
int err__unwritten(const char *what);

/* Diagnostics on stderr, prefixed "proftrace: "; debug only with --verbose. */
void log__warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log__info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log__debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* What follows "proftrace: " on each line, errors included, of this thread; kept by reference. */
void log__set_prefix(const char *prefix);
/* A line of them, after its level ("", "warning: "). */
void log__put(const char *level, const char *text);
extern int log_level; /* 0 warnings, 1 info (default), 2 debug */

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Errors travel up as negative errno. The function that knows the object and the cause leaves the
 * explaining message here. The command prints it once, at the top.
 */
#ifndef PROFTRACE_ERR_H
#define PROFTRACE_ERR_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

/* Remembers a message of a table (MESSAGE_..., printf-like) for the command to print. Returns err,
 * so one can write `return err__set(-ENOENT, MESSAGE_...)`. Each thread has one message; the latest
 * counts. */
int err__set(int err, const char *key, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Takes the remembered message: returns its text, or strerror(-err) if there is none, and forgets
 * it. If the next message has this text as an argument, it names the taken message as its cause. */
const char *err__take(int err);
/* The key of the remembered message, NULL if there is none. */
const char *err__key(void);
/* Remembers the latest taken message again. If its text is not `text`, the new message has another
 * key. */
int err__set_again(int err, const char *text);

/* A message on its way from one thread to another. */
struct err_message {
	const char *key;	    /* of a table; NULL: no message */
	json_t *arguments, *causes; /* JSON arrays; NULL: none, or messages are printed as text */
	char text[2048];
};
/* Takes the message of this thread, which may have none. */
void err__give(struct err_message *m);
/* The receiving thread remembers it; m is empty then. */
void err__receive(struct err_message *m);

/* The error that output could not be written, with the cause in errno: "cannot write WHAT: cause;
 * next step". Returns -EIO. */
int err__unwritten(const char *what);

/* Prints to stderr with the prefix "proftrace: ". Debug messages have no key and need --verbose. */
void log__error(int err); /* prints what err__take() returns */
void log__warn(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log__info(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log__debug(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* From now on, this thread's lines begin with the process that they are about, and its rank
 * (negative: none). */
void log__set_process(pid_t pid, int rank);
extern int log_level; /* 0 warnings, 1 info (default), 2 debug */

/* From now on, each message is a line with a JSON object, or text again. */
void log__set_json(bool json);
bool log__is_json(void);

#endif

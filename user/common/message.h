/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A message has a key, by which programs and tests recognize it, and a printf format. Each room
 * lists its messages in message_table.h. doc/reference/messages.md is made from these tables.
 */
#ifndef PROFTRACE_MESSAGE_H
#define PROFTRACE_MESSAGE_H

#include <jansson.h>
#include <stdarg.h>

/* Two arguments of a call, so that the compiler checks the format: err__set(err, MESSAGE_...,
 * path). */
#define MESSAGE(key, text) key, text
/* A part of a message: MESSAGE_KEY(MESSAGE_...). */
#define MESSAGE_KEY(...)	 MESSAGE_KEY_(__VA_ARGS__)
#define MESSAGE_TEXT(...)	 MESSAGE_TEXT_(__VA_ARGS__)
#define MESSAGE_KEY_(key, text)	 key
#define MESSAGE_TEXT_(key, text) text

/* The format's arguments as a JSON array. Numbers are numbers; all others are strings. A number
 * that is not finite is null. NULL: out of memory, or the format has a conversion that
 * scripts/messages forbids. */
json_t *message__arguments(const char *fmt, va_list args);
/* The text's first bytes, at most `precision` (negative: all), as a JSON string. Each byte that is no
 * UTF-8 is "\xNN". NULL: out of memory. */
json_t *message__string(const char *text, int precision);

#endif

// SPDX-License-Identifier: BSD-2-Clause
#include "common/message.h"
#include "common/utf8.h"
#include "common/util.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One conversion: %[digits][.digits or .*][l, ll or z]letter. */
struct conversion {
	enum length { LENGTH_INT, LENGTH_LONG, LENGTH_LONG_LONG } length;
	char letter;
	int precision; /* bytes of a string; negative: all */
};

/* On some machines a va_list is an array. As a member it can be passed on. */
struct arguments {
	va_list list;
};

static const char *read_precision(const char *p, struct conversion *c, struct arguments *args)
{
	c->precision = -1;
	if (*p != '.')
		return p;
	if (p[1] == '*') {
		c->precision = va_arg(args->list, int);
		return p + 2;
	}
	c->precision = (int)strtol(p + 1, (char **)&p, 10);
	return p;
}

/* p: after the percent sign. Returns the end. */
static const char *read_conversion(const char *p, struct conversion *c, struct arguments *args)
{
	p = read_precision(p + strspn(p, "0123456789"), c, args);
	c->length = LENGTH_INT;
	for (; *p == 'l'; p++)
		c->length = c->length == LENGTH_INT ? LENGTH_LONG : LENGTH_LONG_LONG;
	if (*p == 'z') {
		c->length = LENGTH_LONG; /* as wide as long on Linux */
		p++;
	}
	c->letter = *p;
	return *p ? p + 1 : p;
}

static long long take_signed(enum length length, struct arguments *args)
{
	if (length == LENGTH_INT)
		return va_arg(args->list, int);
	if (length == LENGTH_LONG)
		return va_arg(args->list, long);
	return va_arg(args->list, long long);
}

static unsigned long long take_unsigned(enum length length, struct arguments *args)
{
	if (length == LENGTH_INT)
		return va_arg(args->list, unsigned int);
	if (length == LENGTH_LONG)
		return va_arg(args->list, unsigned long);
	return va_arg(args->list, unsigned long long);
}

static json_t *of_unsigned(unsigned long long v)
{
	return v <= INT64_MAX ? json_integer((json_int_t)v) : json_real((double)v);
}

static json_t *of_double(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *message__string(const char *text, int precision)
{
	const size_t len = precision < 0 ? strlen(text) : strnlen(text, (size_t)precision);
	auto_free char *copy = utf8__copy(text, len);

	return copy ? json_string(copy) : NULL;
}

static json_t *of_string(const char *text, int precision)
{
	return text ? message__string(text, precision) : json_null();
}

static json_t *of_char(int c)
{
	const char text[] = {(char)c, '\0'};

	return message__string(text, -1);
}

static json_t *take(const struct conversion *c, struct arguments *args)
{
	switch (c->letter) {
	case 'd':
		return json_integer(take_signed(c->length, args));
	case 'u':
		return of_unsigned(take_unsigned(c->length, args));
	case 'f':
	case 'g':
		return of_double(va_arg(args->list, double));
	case 'c':
		return of_char(va_arg(args->list, int));
	case 's':
		return of_string(va_arg(args->list, const char *), c->precision);
	default:
		return NULL;
	}
}

json_t *message__arguments(const char *fmt, va_list list)
{
	json_t *array = json_array();
	struct arguments args;
	struct conversion c;
	int err = array ? 0 : -1;

	va_copy(args.list, list);
	for (const char *p = strchr(fmt, '%'); !err && p; p = strchr(p, '%')) {
		p++;
		if (*p == '%') {
			p++;
			continue;
		}
		p = read_conversion(p, &c, &args);
		err = json_array_append_new(array, take(&c, &args));
	}
	va_end(args.list);
	if (err)
		json_decref(array);
	return err ? NULL : array;
}

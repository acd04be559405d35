// SPDX-License-Identifier: BSD-2-Clause
#include "device/kernels/demangle.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READABLE_MAX 32768 /* bytes: repeated parts are short in the mangled name alone */

/* libstdc++'s, by the C++ ABI: a C function in all but its header. */
char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status);

char *kernel_name__readable(const char *mangled)
{
	char *readable = NULL;
	int status;

	if (!strncmp(mangled, "_Z", 2))
		readable = __cxa_demangle(mangled, NULL, NULL, &status);
	if (readable && strlen(readable) > READABLE_MAX) {
		free(readable);
		readable = NULL;
	}
	return readable ? readable : strdup(mangled);
}

/* Length of the name without a last part like _v7000; the same if it has none. */
static size_t without_version(const char *name, size_t len)
{
	size_t at = len;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return at < len && at > 2 && name[at - 1] == 'v' && name[at - 2] == '_' ? at - 2 : len;
}

static size_t without(const char *name, size_t len, const char *suffix)
{
	size_t suffix_len = strlen(suffix);

	return len > suffix_len && !strncmp(name + len - suffix_len, suffix, suffix_len)
		       ? len - suffix_len
		       : len;
}

void api_name__plain(const char *name, char *out, size_t size)
{
	size_t len = strlen(name);

	len = without_version(name, len);
	len = without(name, len, "_ptsz");
	len = without(name, len, "_ptds");
	len = without_version(name, len);
	snprintf(out, size, "%.*s", (int)len, name);
}

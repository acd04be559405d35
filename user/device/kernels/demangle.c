// SPDX-License-Identifier: BSD-2-Clause
#include "device/kernels/demangle.h"
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READABLE_MAX 32768 /* bytes; repeated parts are short only in the mangled name */

/* Internal function of libstdc++ behind __cxa_demangle(), only in its static library.
 * __cxa_demangle() doubles its buffer without limit: a name of 400 bytes in a hostile file can need
 * a terabyte. */
int __gcclibcxx_demangle_callback(const char *mangled,
				  void (*put)(const char *text, size_t len, void *ctx), void *ctx);

struct readable {
	char *text; /* NULL: no memory */
	size_t len, cap;
	jmp_buf ends;
};

/* Leaves the demangler, which holds no heap memory, if the text is too long or memory is short. */
static void put(const char *text, size_t len, void *ctx)
{
	struct readable *r = ctx;

	if (r->len + len > READABLE_MAX)
		longjmp(r->ends, 1);
	if (r->len + len >= r->cap) {
		const size_t cap = 2 * (r->len + len) + 64;
		char *grown = realloc(r->text, cap);

		if (!grown)
			longjmp(r->ends, 1);
		r->text = grown;
		r->cap = cap;
	}
	memcpy(r->text + r->len, text, len);
	r->len += len;
}

/* NULL: it is no C++ name, or out of memory. */
static char *demangle(const char *mangled)
{
	struct readable *r = calloc(1, sizeof(*r));
	bool is_whole = false;
	char *text = NULL;

	if (!r)
		return NULL;
	if (!setjmp(r->ends))
		is_whole = !__gcclibcxx_demangle_callback(mangled, put, r) && r->text;
	if (is_whole) {
		text = r->text;
		text[r->len] = '\0';
	} else {
		free(r->text);
	}
	free(r);
	return text;
}

char *kernel_name__readable(const char *mangled)
{
	char *readable = strncmp(mangled, "_Z", 2) ? NULL : demangle(mangled);

	return readable ? readable : strdup(mangled);
}

/* Length of the name without a version like _v7000 at its end. */
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

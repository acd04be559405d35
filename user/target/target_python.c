// SPDX-License-Identifier: BSD-2-Clause
/* The Python version of a process, from the file that holds the interpreter. */
#include "target/target_priv.h"
#include <ctype.h>
#include <fnmatch.h>
#include <libgen.h>
#include <string.h>
#include "common/err.h"
#include "common/util.h"

/* Py_Version holds PY_VERSION_HEX since 3.11 (docs.python.org, C API "apiabiversion"). */
static char *version_from_symbol(struct elf_file *elf)
{
	const uint8_t *bytes;
	struct elf_symbol s;
	unsigned long hex_version;
	char *version;
	size_t len;

	if (elf_file__symbol(elf, "Py_Version", &s) < 0)
		return NULL;
	bytes = elf_file__bytes(elf, s.vaddr, &len);
	if (!bytes || len < sizeof(hex_version))
		return NULL;
	memcpy(&hex_version, bytes, sizeof(hex_version));
	if (asprintf(&version, "%lu.%lu.%lu", hex_version >> 24 & 255, hex_version >> 16 & 255,
		     hex_version >> 8 & 255) < 0)
		return NULL;
	return version;
}

/* Before 3.11: PY_VERSION is a string of its own, "3.10.12", next to "3.10" of the name. */
static char *version_from_string(struct elf_file *elf, const char *minor)
{
	size_t len, minor_len = strlen(minor);
	const char *p = (const char *)elf_file__section(elf, ".rodata", NULL, &len);
	const char *end = p ? p + len : NULL;

	while (p && p < end) {
		const char *nul = memchr(p, '\0', (size_t)(end - p));
		const char *c;

		if (!nul)
			return NULL;
		c = p + minor_len + 1;
		if (c < nul && strncmp(p, minor, minor_len) == 0 && p[minor_len] == '.') {
			while (isdigit((unsigned char)*c))
				c++;
			if (c == nul)
				return strdup(p);
		}
		p = nul + 1;
	}
	return NULL;
}

/* Puts "3.10" of "libpython3.10.so.1.0" or "python3.10" into minor. False if the name has no
 * version. */
static bool minor_from_name(const char *name, char *minor, size_t size)
{
	const char *p = strstr(name, "python3.");
	size_t len;

	if (!p)
		return false;
	p += strlen("python");
	len = strspn(p + 2, "0123456789") + 2;
	if (len < 3 || len >= size)
		return false;
	memcpy(minor, p, len);
	minor[len] = '\0';
	return true;
}

static char *version_of_lib(struct target *t, const struct target_lib *lib)
{
	struct elf_file *elf = target__elf(t, lib);
	const char *slash = strrchr(lib->path, '/');
	char *version = NULL;
	char minor[16];

	if (elf)
		version = version_from_symbol(elf);
	if (version || !minor_from_name(slash ? slash + 1 : lib->path, minor, sizeof(minor)))
		return version;
	if (elf)
		version = version_from_string(elf, minor);
	return version ? version : strdup(minor);
}

unsigned int target__python_minor(const struct target *t)
{
	unsigned int minor = 0;

	return t->python && sscanf(t->python, "3.%u", &minor) == 1 ? minor : 0;
}

unsigned int target__python_str_head(const struct target *t)
{
	const unsigned int minor = target__python_minor(t);

	if (minor < 3)
		return 0;
	return minor < 12 ? 48 : 40; /* a pointer to wide characters was removed in 3.12 */
}

static const char *const patterns[] = {"libpython3*.so*", "python3*", "python"};

static bool has_interpreter(struct target *t, const struct target_lib *lib)
{
	struct elf_file *elf = lib ? target__elf(t, lib) : NULL;
	struct elf_symbol s;

	return elf && !elf_file__symbol(elf, "_PyRuntime", &s);
}

const struct target_lib *target__python_lib(struct target *t)
{
	const char *exe_name = t->exe ? strrchr(t->exe, '/') : NULL;
	const struct target_lib *lib;

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		lib = target__find_lib(t, patterns[i]);
		if (has_interpreter(t, lib))
			return lib;
	}
	lib = exe_name ? target__find_lib(t, exe_name + 1) : NULL;
	return has_interpreter(t, lib) ? lib : NULL;
}

uint64_t target__python_symbol(struct target *t, const char *symbol)
{
	const struct target_lib *lib = target__python_lib(t);
	struct elf_file *elf = lib ? target__elf(t, lib) : NULL;
	struct elf_symbol s;

	return elf && !elf_file__symbol(elf, symbol, &s) ? lib->base + s.vaddr : 0;
}

char *target_python__version(struct target *t)
{
	const char *exe_name = t->exe ? strrchr(t->exe, '/') : NULL;
	const struct target_lib *lib = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(patterns) && !lib; i++)
		lib = target__find_lib(t, patterns[i]);
	/* A program of another name that embeds an interpreter exports its symbols. */
	if (!lib && exe_name)
		lib = target__find_lib(t, exe_name + 1);
	return lib ? version_of_lib(t, lib) : NULL;
}

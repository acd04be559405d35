// SPDX-License-Identifier: BSD-2-Clause
#include "device/cupti_find.h"
#include "common/err.h"
#include "device/message_table.h"
#include "common/util.h"
#include <fnmatch.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#define OLDEST 11
#define NEWEST 99 /* larger numbers are years in file names: libcupti.so.2024.3.2 */

bool cuda__has_driver(const struct target *t)
{
	return target__find_lib(t, "libcuda.so*");
}

bool cuda__has_runtime(const struct target *t)
{
	return target__find_lib(t, "libcudart*.so*");
}

/* The major version of "libcudart.so.12.4.127" is 12. 0: there is no such number. */
static unsigned int major_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *so = strstr(slash ? slash : path, ".so.");
	unsigned long major = so ? strtoul(so + 4, NULL, 10) : 0;

	return major >= OLDEST && major <= NEWEST ? (unsigned int)major : 0;
}

/* Libraries with CUDA's version number. Wheels put a hash into the name. */
static const char *const numbered[] = {"libcudart*.so.*", "libcublas*.so.*", "libnvrtc*.so.*",
				       "libnvJitLink*.so.*"};

static bool is_called(const struct target_lib *lib, const char *pattern)
{
	const char *slash = strrchr(lib->path, '/');

	return !fnmatch(pattern, slash ? slash + 1 : lib->path, 0);
}

static unsigned int newest_major(const struct target *t, const char *pattern)
{
	unsigned int newest = 0;

	for (size_t i = 0; i < t->lib_cnt; i++) {
		const unsigned int major =
			is_called(&t->libs[i], pattern) ? major_of(t->libs[i].path) : 0;

		newest = major > newest ? major : newest;
	}
	return newest;
}

/* The CUDA version of a library; 0: it is no CUDA library. If the runtime is inside a framework's
 * library, only the math libraries have a number. */
static unsigned int cuda_of(const struct target_lib *lib)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbered); i++)
		if (is_called(lib, numbered[i]))
			return major_of(lib->path);
	return 0;
}

/* Finds the newest version, whose CUPTI also knows older calls, and an older one, or 0. */
static void find_majors(const struct target *t, struct cupti_found *f)
{
	for (size_t i = 0; i < t->lib_cnt; i++) {
		const unsigned int major = cuda_of(&t->libs[i]);

		f->major = major > f->major ? major : f->major;
	}
	for (size_t i = 0; i < t->lib_cnt && !f->older_major; i++) {
		const unsigned int major = cuda_of(&t->libs[i]);

		f->older_major = major < f->major ? major : 0;
	}
}

/* ---- places ---- */

/* Finds the newest file of the right version that matches a pattern. Paths are as the process sees
 * them. */
static bool look(const struct target *t, const char *pattern, struct cupti_found *f)
{
	char root[32], whole[1024];
	unsigned int best = 0;
	glob_t found;

	snprintf(root, sizeof(root), "/proc/%d/root", t->pid);
	if (snprintf(whole, sizeof(whole), "%s%s/libcupti*.so.*", root, pattern) >=
		    (int)sizeof(whole) ||
	    glob(whole, GLOB_NOSORT, NULL, &found))
		return false;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i] + strlen(root);
		unsigned int major = major_of(path);

		if (!major || (f->major && major != f->major) || major < best ||
		    strlen(path) >= sizeof(f->path))
			continue;
		best = major;
		snprintf(f->path, sizeof(f->path), "%s", path);
	}
	globfree(&found);
	return best;
}

static const struct target_lib *runtime_of(const struct target *t, unsigned int major)
{
	for (size_t i = 0; i < t->lib_cnt; i++)
		if (is_called(&t->libs[i], numbered[0]) && major_of(t->libs[i].path) == major)
			return &t->libs[i];
	return target__find_lib(t, numbered[0]);
}

/* Looks in the runtime's directory, and where a toolkit has CUPTI relative to it. */
static bool look_beside(const struct target *t, struct cupti_found *f)
{
	const struct target_lib *lib = runtime_of(t, f->major);
	const char *path = lib ? target__own_path(t, lib->path) : NULL;
	char pattern[600];
	int len;

	if (!path)
		return false;
	len = (int)(strrchr(path, '/') - path);
	snprintf(pattern, sizeof(pattern), "%.*s", len, path);
	if (look(t, pattern, f))
		return true;
	snprintf(pattern, sizeof(pattern), "%.*s/../extras/CUPTI/lib64", len, path);
	return look(t, pattern, f);
}

/* Looks in the wheels next to the framework: nvidia/cu13/lib, then nvidia/cuda_cupti/lib. */
static bool look_in_packages(const struct target *t, struct cupti_found *f)
{
	static const char *const parents[] = {"/site-packages/", "/dist-packages/"};
	char pattern[600];

	for (size_t i = 0; i < t->lib_cnt; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(parents); j++) {
			const char *path = target__own_path(t, t->libs[i].path);
			const char *at = strstr(path, parents[j]);

			if (!at)
				continue;
			snprintf(pattern, sizeof(pattern), "%.*s%snvidia/*/lib", (int)(at - path),
				 path, parents[j]);
			if (look(t, pattern, f))
				return true;
		}
	}
	return false;
}

/* Looks in the directories of LD_LIBRARY_PATH, as it was when the program began. */
static bool look_in_library_path(const struct target *t, struct cupti_found *f)
{
	static const char name[] = "LD_LIBRARY_PATH=";
	auto_free char *environ_ = NULL;
	char *list = NULL, *dir;
	bool found = false;
	size_t len = 0;

	environ_ = proc__text(t->pid, "environ", &len);
	for (char *at = environ_; at && at < environ_ + len && !list; at += strlen(at) + 1)
		if (!strncmp(at, name, sizeof(name) - 1))
			list = at + sizeof(name) - 1;
	while (list && !found && (dir = strsep(&list, ":")))
		found = dir[0] == '/' && look(t, dir, f);
	return found;
}

static bool look_in_system(const struct target *t, struct cupti_found *f)
{
	static const char *const places[] = {
		"/usr/local/cuda*/extras/CUPTI/lib64", "/usr/local/cuda*/lib64",
		"/usr/lib/x86_64-linux-gnu",	       "/usr/lib64",
		"/opt/cuda/extras/CUPTI/lib64",
	};
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(places) && !found; i++)
		found = look(t, places[i], f);
	return found;
}

/* ---- the choice ---- */

int cupti__refuse(const char *chosen)
{
	return err__set(-ENOEXEC, MESSAGE_CUPTI_FILE_INVALID, chosen);
}

int cupti__check_file(const char *chosen, int fd)
{
	struct elf_file *elf = NULL;
	struct elf_symbol symbol;
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = elf_file__open(path, &elf);
	if (!err)
		err = elf_file__symbol(elf, "cuptiSubscribe", &symbol);
	elf_file__close(elf);
	return err ? cupti__refuse(chosen) : 0;
}

/* Does the process have another libcupti than this file? Compares the file's own names, as a
 * library is loaded by one of them. */
static bool has_another(const struct target *t, int fd)
{
	const struct target_lib *lib = target__find_lib(t, "libcupti.so.*");
	struct stat own, chosen;

	return lib && !stat(lib->host_path, &own) && !fstat(fd, &chosen) &&
	       (own.st_dev != chosen.st_dev || own.st_ino != chosen.st_ino);
}

static int take_chosen(const struct target *t, const char *chosen, struct cupti_found *f)
{
	auto_close int fd = *chosen == '/' ? target__open_file(t, chosen) : -ENOENT;
	int err;

	if (fd < 0 || strlen(chosen) >= sizeof(f->path))
		return err__set(-ENOENT, MESSAGE_CUPTI_FILE_MISSING, chosen, t->pid);
	err = cupti__check_file(chosen, fd);
	if (err)
		return err;
	f->unused = has_another(t, fd);
	f->chosen_major = f->loaded ? 0 : major_of(chosen);
	snprintf(f->path, sizeof(f->path), "%s", chosen);
	return 0;
}

int cupti__find(const struct target *t, const char *chosen, struct cupti_found *out)
{
	*out = (struct cupti_found){.loaded = target__find_lib(t, "libcupti*.so.*")};
	find_majors(t, out);
	out->loaded_major = newest_major(t, "libcupti*.so.*");
	if (chosen)
		return take_chosen(t, chosen, out);
	if (out->loaded || look_beside(t, out) || look_in_library_path(t, out) ||
	    look_in_packages(t, out) || look_in_system(t, out))
		return 0;
	if (out->major)
		return err__set(-ENOENT, MESSAGE_CUPTI_OF_CUDA_NOT_FOUND, out->major, t->pid);
	return err__set(-ENOENT, MESSAGE_CUPTI_NOT_FOUND, t->pid);
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * The files that a process has mapped executable, each with a path that can be opened here. By now
 * the path in /proc/PID/maps may name another file (upgraded, deleted, mounted over). So each
 * candidate is compared with the file behind the mapping.
 */
#include "target/copied_text.h"
#include <stdbool.h>
#include <string.h>
#include "common/capability.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "target/message_table.h"
#include "common/util.h"

#define MAX_LIBS 16384

static const char deleted_suffix[] = " (deleted)";

static bool cut_deleted(char *path)
{
	size_t len = strlen(path), suffix = sizeof(deleted_suffix) - 1;

	if (len <= suffix || strcmp(path + len - suffix, deleted_suffix) != 0)
		return false;
	path[len - suffix] = '\0';
	return true;
}

/* 1: added; 0: no file with code that matters; or a negative errno. */
static int add_lib(struct target *t, const struct mapping *m, struct target_lib **libs, size_t *cnt,
		   size_t *cap)
{
	struct target_lib lib = {.path = strdup(m->path)};
	struct elf_file *elf = NULL;
	int err = -ENOMEM, open_err;

	if (!lib.path)
		return -ENOMEM;
	cut_deleted(lib.path);
	lib.host_path = mapping__host_path(t, m, lib.path, &lib.deleted);
	if (!lib.host_path)
		goto drop;
	err = 0;
	open_err = elf_file__open(lib.host_path, &elf);
	if ((open_err == -EACCES || open_err == -EPERM) && !t->unreadable)
		t->unreadable = strdup(lib.path);
	/* A file that is no ELF file does not matter. Without memory or descriptors, all files
	 * would seem so. */
	if (open_err == -ENOMEM || descriptors__lack(open_err)) {
		err = err__set(open_err, MESSAGE_LIBRARY_NOT_INSPECTED, t->pid, lib.path,
			       open_err == -ENOMEM ? "out of memory; raise the limit that "
						     "proftrace runs under (ulimit -v)"
						   : descriptors__why(open_err, 0));
		goto drop;
	}
	if (open_err)
		goto drop;
	if (elf_file__bias(elf, m->start, m->offset, &lib.base) < 0)
		goto drop;
	err = ARRAY_PUSH(*libs, *cnt, *cap, lib);
	if (err)
		goto drop;
	elf_file__close(elf);
	return 1;
drop:
	elf_file__close(elf);
	free(lib.path);
	free(lib.host_path);
	return err;
}

static bool is_known(const struct target_lib *libs, size_t cnt, const char *path)
{
	/* Segments of a file are adjacent, so the match is nearly always the last one. */
	for (size_t i = cnt; i-- > 0;) {
		size_t len = strlen(libs[i].path);

		if (strncmp(libs[i].path, path, len) == 0 &&
		    (path[len] == '\0' || strcmp(path + len, deleted_suffix) == 0))
			return true;
	}
	return false;
}

static int no_maps(const struct target *t, int err)
{
	return err__set(err, MESSAGE_MAPS_UNREADABLE, t->pid, t->comm, t->uid,
			err == -EACCES || err == -EPERM
				? capability__why_refused(CAPABILITY(CAP_SYS_PTRACE))
			: descriptors__lack(err) ? descriptors__why(err, 0)
						 : strerror(-err));
}

static int drop_libs(const struct target *t, struct target_lib **libs, size_t *cnt, int err)
{
	target_libs__free(*libs, *cnt);
	*libs = NULL;
	*cnt = 0;
	return err == -E2BIG ? err__set(err, MESSAGE_LIBRARIES_TOO_MANY, t->pid, MAX_LIBS) : err;
}

static void keep_copied(struct target *t, struct copied_text *c)
{
	copied_text__close(c);
	free(t->copied_text);
	t->copied_text = c->path;
	t->copied_text_cnt = c->cnt;
}

int target_libs__read(struct target *t, struct target_lib **libs, size_t *cnt)
{
	auto_free char *maps = file__read(proc_path(t->pid, "maps").s, NULL);
	struct copied_text copied = {0};
	char *rest = NULL;
	size_t cap = 0;
	int err = 0;

	*libs = NULL;
	*cnt = 0;
	if (!maps)
		return no_maps(t, -errno);
	for (char *line = strtok_r(maps, "\n", &rest); line && err >= 0;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct mapping m;

		if (!mapping__parse(line, &m))
			continue;
		err = copied_text__see(&copied, t, &m);
		if (err || !m.executable || m.path[0] != '/' || is_known(*libs, *cnt, m.path))
			continue;
		err = *cnt < MAX_LIBS ? add_lib(t, &m, libs, cnt, &cap) : -E2BIG;
	}
	keep_copied(t, &copied);
	return err < 0 ? drop_libs(t, libs, cnt, err) : 0;
}

void target_libs__free(struct target_lib *libs, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		free(libs[i].path);
		free(libs[i].host_path);
	}
	free(libs);
}

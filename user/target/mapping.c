// SPDX-License-Identifier: BSD-2-Clause
#include "target/mapping.h"
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include "common/util.h"

/* In a path the kernel writes a newline as \012, and escapes nothing else (seq_file,
 * mangle_path). */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (strncmp(from, "\\012", 4) == 0) {
			*to = '\n';
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

bool mapping__parse(char *line, struct mapping *m)
{
	char perms[5];
	int path_at = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &m->start, &m->end, perms, &m->offset,
		   &m->dev_major, &m->dev_minor, &m->inode, &path_at) < 7 ||
	    !path_at)
		return false;
	m->path = line + path_at;
	m->executable = perms[2] == 'x';
	unescape(m->path);
	return true;
}

/*
 * Identifies the file behind a mapping. map_files leads to exactly that file, but needs
 * CAP_SYS_ADMIN or (since 5.9, 12886f8ab10c) CAP_CHECKPOINT_RESTORE. Without these we use device
 * and inode from maps, which differ from stat's on btrfs and overlayfs.
 */
static void mapped_identity(const struct mapping *m, const char *map_file, struct stat *id)
{
	if (stat(map_file, id) == 0)
		return;
	memset(id, 0, sizeof(*id));
	id->st_dev = makedev(m->dev_major, m->dev_minor);
	id->st_ino = m->inode;
}

static bool same_file(const char *path, const struct stat *id)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_dev == id->st_dev && st.st_ino == id->st_ino;
}

/* The first of these that works: the path itself, the path through the target's root, the mapping's
 * link. */
char *mapping__host_path(const struct target *t, const struct mapping *m, const char *path,
			 bool *deleted)
{
	auto_free char *in_root = NULL, *map_file = NULL;
	struct stat id;

	if (asprintf(&in_root, "/proc/%d/root%s", t->pid, target__own_path(t, path)) < 0) {
		in_root = NULL;
		return NULL;
	}
	if (asprintf(&map_file, "/proc/%d/map_files/%lx-%lx", t->pid, m->start, m->end) < 0) {
		map_file = NULL;
		return NULL;
	}
	mapped_identity(m, map_file, &id);
	/* The plain path is also valid after the process, so that a recording can be finished
	 * then. */
	if (same_file(path, &id))
		return strdup(path);
	if (same_file(in_root, &id))
		return strdup(in_root);
	*deleted = true;
	return strdup(map_file);
}

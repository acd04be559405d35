// SPDX-License-Identifier: BSD-2-Clause
#include "exporters/parts/sqlite_file.h"
#include <sys/stat.h>
#include "common/out_file.h"
#include "common/util.h"

#define VFS_NAME "proftrace"

struct sqlite_file {
	sqlite3_file base;
	int fd;
	bool temporary; /* this file closes it */
};

static int main_fd; /* of the database that is being opened */

/* ---- a file ---- */

static int fd_of(sqlite3_file *file)
{
	return ((struct sqlite_file *)file)->fd;
}

static int close_file(sqlite3_file *file)
{
	const struct sqlite_file *f = (struct sqlite_file *)file;

	if (f->temporary)
		close(f->fd);
	return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *buf, int size, sqlite3_int64 at)
{
	char *to = buf;
	int done = 0;

	while (done < size) {
		const ssize_t n = pread(fd_of(file), to + done, (size_t)(size - done), at + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return SQLITE_IOERR_READ;
		if (!n)
			break;
		done += (int)n;
	}
	if (done == size)
		return SQLITE_OK;
	memset(to + done, 0, (size_t)(size - done));
	return SQLITE_IOERR_SHORT_READ;
}

static int write_file(sqlite3_file *file, const void *buf, int size, sqlite3_int64 at)
{
	const char *from = buf;
	int done = 0;

	while (done < size) {
		const ssize_t n =
			pwrite(fd_of(file), from + done, (size_t)(size - done), at + done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno != ENOSPC && errno != EDQUOT ? SQLITE_IOERR_WRITE
									   : SQLITE_FULL;
		done += (int)n;
	}
	return SQLITE_OK;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size)
{
	return ftruncate(fd_of(file), size) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int size_of_file(sqlite3_file *file, sqlite3_int64 *size)
{
	struct stat st;

	if (fstat(fd_of(file), &st))
		return SQLITE_IOERR_FSTAT;
	*size = st.st_size;
	return SQLITE_OK;
}

/* Does nothing, because the caller syncs and publishes the finished file. */
static int sync_file(sqlite3_file *file, int flags)
{
	return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int lock)
{
	return SQLITE_OK;
}

static int check_lock(sqlite3_file *file, int *locked)
{
	*locked = 0;
	return SQLITE_OK;
}

static int control_file(sqlite3_file *file, int op, void *arg)
{
	return SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file)
{
	return 4096;
}

static int characteristics(sqlite3_file *file)
{
	return 0;
}

static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = close_file,
	.xRead = read_file,
	.xWrite = write_file,
	.xTruncate = truncate_file,
	.xSync = sync_file,
	.xFileSize = size_of_file,
	.xLock = lock_file,
	.xUnlock = lock_file,
	.xCheckReservedLock = check_lock,
	.xFileControl = control_file,
	.xSectorSize = sector_size,
	.xDeviceCharacteristics = characteristics,
};

/* ---- the system of files ---- */

static int open_temporary(void)
{
	const char *places[TEMPORARY_PLACES];
	int fd = -1;

	out_file__temporary_places(places);
	for (size_t i = 0; i < TEMPORARY_PLACES && fd < 0; i++)
		if (places[i])
			fd = out_file__open_temporary(places[i]);
	return fd;
}

static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags,
		     int *out_flags)
{
	struct sqlite_file *f = (struct sqlite_file *)file;

	*f = (struct sqlite_file){.temporary = !(flags & SQLITE_OPEN_MAIN_DB)};
	f->fd = f->temporary ? open_temporary() : main_fd;
	if (f->fd < 0)
		return SQLITE_CANTOPEN;
	f->base.pMethods = &methods;
	if (out_flags)
		*out_flags = flags;
	return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync)
{
	return SQLITE_OK;
}

/* There is no journal beside it. */
static int find_file(sqlite3_vfs *vfs, const char *name, int flags, int *is_there)
{
	*is_there = 0;
	return SQLITE_OK;
}

static int whole_path(sqlite3_vfs *vfs, const char *name, int size, char *out)
{
	sqlite3_snprintf(size, out, "%s", name);
	return SQLITE_OK;
}

static int register_vfs(void)
{
	static sqlite3_vfs vfs;
	const sqlite3_vfs *usual;

	if (vfs.zName)
		return SQLITE_OK;
	usual = sqlite3_vfs_find(NULL);
	if (!usual)
		return SQLITE_ERROR;
	/* Randomness, time and loading of extensions are those of the default VFS. */
	vfs = *usual;
	vfs.szOsFile = sizeof(struct sqlite_file);
	vfs.pNext = NULL;
	vfs.zName = VFS_NAME;
	vfs.xOpen = open_file;
	vfs.xDelete = delete_file;
	vfs.xAccess = find_file;
	vfs.xFullPathname = whole_path;
	return sqlite3_vfs_register(&vfs, 0);
}

int sqlite_file__open(int fd, sqlite3 **db)
{
	int code = sqlite3_initialize();

	*db = NULL;
	if (code == SQLITE_OK)
		code = register_vfs();
	if (code != SQLITE_OK)
		return code;
	main_fd = fd;
	code = sqlite3_open_v2("database", db,
			       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			       VFS_NAME);
	/* Opens the file now, not with the first statement. */
	return code == SQLITE_OK ? sqlite3_exec(*db, "PRAGMA schema_version", NULL, NULL, NULL)
				 : code;
}

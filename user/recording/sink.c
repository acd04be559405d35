// SPDX-License-Identifier: BSD-2-Clause
#include "recording/sink.h"
#include "common/err.h"
#include "recording/message_table.h"
#include "common/regular_file.h"
#include "common/util.h"
#include "recording/format.h"
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static int set_cause(int err)
{
	const char *why = strerror(-err);

	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		return err__set(err, MESSAGE_RECORDING_DISK_FULL, why);
	case -EFBIG:
		return err__set(err, MESSAGE_RECORDING_TOO_LARGE, why);
	case -EACCES:
	case -EPERM:
	case -EROFS:
		return err__set(err, MESSAGE_RECORDING_PLACE_FORBIDDEN, why);
	case -ENOENT:
	case -ENOTDIR:
		return err__set(err, MESSAGE_RECORDING_DIRECTORY_MISSING, why);
	case -EISDIR:
		return err__set(err, MESSAGE_RECORDING_IS_DIRECTORY, why);
	case -ENOMEM:
		return err__set(err, MESSAGE_RECORDING_LACKS_MEMORY, why);
	case -ENAMETOOLONG:
		return err__set(err, MESSAGE_RECORDING_NAME_TOO_LONG, why);
	case -EINVAL:
		return err__set(err, MESSAGE_RECORDING_CONTENT_INVALID, why);
	default:
		return err__set(err, MESSAGE_RECORDING_DISK_FAULTY, why);
	}
}

const char *sink__explain(int err)
{
	const char *why = out_file__explain(err);

	return why ? why : err__take(set_cause(err));
}

static int not_created(const char *path, int err)
{
	return err__set(err, MESSAGE_RECORDING_NOT_CREATED, path, sink__explain(err));
}

/* 1: the file at path, which must be no link, is a recording. 0: it is missing or empty. -EEXIST:
 * it is something else. */
static int look_inside(const char *path)
{
	auto_close int seen = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	auto_close int fd = seen < 0 ? -1 : regular_file__reopen(seen, O_RDONLY);
	uint8_t header[FILE_HEADER_SIZE];
	struct file_version version;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !st.st_size)
		return 0;
	if (UNINTERRUPTED(read(fd, header, sizeof(header))) != sizeof(header) ||
	    file_header__unpack(header, &version))
		return err__set(-EEXIST, MESSAGE_RECORDING_WOULD_REPLACE_FILE, path);
	return 1;
}

/* Renames an earlier recording to PATH.old. Any other file must not be overwritten. */
static int make_room(const char *path)
{
	auto_free char *old = NULL;
	int there = look_inside(path), err;

	if (there <= 0)
		return there;
	if (asprintf(&old, "%s.old", path) < 0) {
		old = NULL;
		return -ENOMEM;
	}
	there = look_inside(old);
	if (there < 0)
		return there;
	err = out_file__set_aside(path);
	if (!err)
		log__info(MESSAGE_EARLIER_RECORDING_KEPT, old);
	return err ? not_created(path, err) : 0;
}

static int no_memory(const char *name)
{
	return err__set(-ENOMEM, MESSAGE_RECORDING_CREATE_OUT_OF_MEMORY, name);
}

int sink__open_file(struct sink *s, const char *path)
{
	int err = make_room(path);

	*s = SINK_NONE;
	if (err)
		return err;
	s->name = strdup(path);
	if (!s->name)
		return no_memory(path);
	err = out_file__open(&s->file, path, OUT_LIVE);
	if (err) {
		free(s->name);
		return not_created(path, err);
	}
	s->fd = s->file.fd;
	return 0;
}

int sink__open_memory(struct sink *s, int memfd, const char *name)
{
	*s = SINK_NONE;
	s->name = strdup(name);
	if (!s->name)
		return no_memory(name);
	s->fd = fcntl(memfd, F_DUPFD_CLOEXEC, 0);
	if (s->fd >= 0)
		return 0;
	free(s->name);
	return not_created(name, -errno);
}

int sink__close(struct sink *s, bool kept)
{
	struct stat st;
	const bool is_memory = s->file.fd < 0;
	int err = 0;

	if (is_memory)
		err = close(s->fd) ? -errno : 0;
	else if (!kept && !fstat(s->fd, &st) && S_ISREG(st.st_mode))
		out_file__remove(s->name);
	s->fd = -1;
	return is_memory ? err : out_file__publish(&s->file);
}

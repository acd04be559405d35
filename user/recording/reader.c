// SPDX-License-Identifier: BSD-2-Clause
#include "recording/reader.h"
#include "common/err.h"
#include "recording/message_table.h"
#include "common/file_client.h"
#include "common/util.h"
#include <string.h>
#include <sys/stat.h>

static int open_file(struct recording *r, const char *path, uint64_t *size)
{
	struct stat st;
	int err;

	r->fd = in_file__open(path);
	if (r->fd == -EINVAL)
		return err__set(-EINVAL, MESSAGE_RECORDING_IS_NO_FILE, path);
	err = r->fd < 0 ? r->fd : fstat(r->fd, &st) < 0 ? -errno : 0;
	if (err)
		return err__set(err, MESSAGE_RECORDING_NOT_OPENED, path, strerror(-err));
	*size = (uint64_t)st.st_size;
	r->path = strdup(path);
	r->meta = json_object();
	if (!r->path || !r->meta)
		return err__set(-ENOMEM, MESSAGE_RECORDING_OPEN_OUT_OF_MEMORY, path);
	return 0;
}

int recording__salvage(const char *path, struct recording **out)
{
	struct recording *r = calloc(1, sizeof(*r));
	uint64_t size = 0;
	int err;

	if (!r)
		return err__set(-ENOMEM, MESSAGE_RECORDING_OPEN_OUT_OF_MEMORY, path);
	err = open_file(r, path, &size);
	if (!err)
		err = recording__scan(r, size);
	if (!err && (recording__join_overloads(r) || clock_shifts__load(&r->shifts, r->summary)))
		err = err__set(-ENOMEM, MESSAGE_RECORDING_OPEN_OUT_OF_MEMORY, path);
	if (err) {
		recording__close(r);
		return err;
	}
	*out = r;
	return 0;
}

static bool nothing_left(const struct recording *r)
{
	return (r->damage.truncated || r->damage.bad_chunks) && !r->chunk_cnt && !r->name_cnt &&
	       !r->track_cnt && !r->sched.cnt && !r->summary && !json_object_size(r->meta);
}

int recording__open(const char *path, struct recording **out)
{
	int err = recording__salvage(path, out);

	if (err || !nothing_left(*out))
		return err;
	recording__close(*out);
	*out = NULL;
	return err__set(-ENODATA, MESSAGE_RECORDING_EMPTY, path);
}

void recording__close(struct recording *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	json_decref(r->meta);
	json_decref(r->summary);
	recording__free_tables(r);
	free(r->shifts.items);
	free(r->path);
	free(r);
}

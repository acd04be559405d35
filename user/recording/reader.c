// SPDX-License-Identifier: BSD-2-Clause
#include "recording/reader.h"
#include "common/err.h"
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
		return err__set(-EINVAL,
				"%s: not a recording: not a regular file; copy it to a "
				"file first",
				path);
	err = r->fd < 0 ? r->fd : fstat(r->fd, &st) < 0 ? -errno : 0;
	if (err)
		return err__set(err,
				"cannot open recording %s: %s; check the path and its "
				"permissions",
				path, strerror(-err));
	*size = (uint64_t)st.st_size;
	r->path = strdup(path);
	r->meta = json_object();
	if (!r->path || !r->meta)
		return err__set(-ENOMEM, "cannot open recording %s: out of memory", path);
	return 0;
}

int recording__salvage(const char *path, struct recording **out)
{
	struct recording *r = calloc(1, sizeof(*r));
	uint64_t size = 0;
	int err;

	if (!r)
		return err__set(-ENOMEM, "cannot open recording %s: out of memory", path);
	err = open_file(r, path, &size);
	if (!err)
		err = recording__scan(r, size);
	if (!err && (recording__join_overloads(r) || clock_shifts__load(&r->shifts, r->summary)))
		err = err__set(-ENOMEM, "cannot open recording %s: out of memory", path);
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
	return err__set(-ENODATA,
			"%s: nothing of it can be read: cut off or damaged before the end of its "
			"first part; record again",
			path);
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

const json_t *recording__meta(const struct recording *r)
{
	return r->meta;
}
const json_t *recording__summary(const struct recording *r)
{
	return r->summary;
}
const struct recording_damage *recording__damage(const struct recording *r)
{
	return &r->damage;
}
uint32_t recording__name_cnt(const struct recording *r)
{
	return (uint32_t)r->name_cnt;
}
uint32_t recording__track_cnt(const struct recording *r)
{
	return (uint32_t)r->track_cnt;
}
uint64_t recording__event_cnt(const struct recording *r)
{
	return r->event_cnt;
}

const struct name *recording__name(const struct recording *r, uint32_t id)
{
	if (!id || id > r->name_cnt || !r->names[id - 1].text)
		return NULL;
	return &r->names[id - 1];
}

enum span_category recording__category(const struct recording *r, uint32_t name)
{
	const struct name *n = name ? recording__name(r, name) : NULL;

	return n ? n->category : CAT_NONE;
}

bool recording__has_category(const struct recording *r, enum span_category category)
{
	for (uint32_t id = 1; id <= recording__name_cnt(r); id++)
		if (recording__category(r, id) == category)
			return true;
	return false;
}

const struct track *recording__track(const struct recording *r, uint32_t id)
{
	if (!id || id > r->track_cnt || !r->tracks[id - 1].kind)
		return NULL;
	return &r->tracks[id - 1];
}

const struct code *recording__code(const struct recording *r, uint32_t id)
{
	if (!id || id > r->code_cnt || !r->code[id - 1].file)
		return NULL;
	return &r->code[id - 1];
}

const struct code_frame *recording__frame(const struct recording *r, uint32_t id)
{
	if (!id || id > r->frame_cnt || !r->frames[id - 1].id)
		return NULL;
	return &r->frames[id - 1];
}

uint32_t recording__frame_cnt(const struct recording *r)
{
	return (uint32_t)r->frame_cnt;
}

size_t recording__sched(const struct recording *r, const struct sched_row **rows)
{
	*rows = r->sched.items;
	return r->sched.cnt;
}

size_t recording__entries(const struct recording *r, const struct sched_row **rows)
{
	*rows = r->entries.items;
	return r->entries.cnt;
}

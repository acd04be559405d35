// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/file_broker.h"
#include <sys/socket.h>
#include <sys/stat.h>
#include "common/file_client.h"
#include "common/out_file.h"
#include "common/util.h"

#define FILES_MAX 8 /* open to be written, at a time */

struct broker {
	int socket;
	const struct file_places *places;
	struct out_file files[FILES_MAX];
	bool taken[FILES_MAX];
};

/* ---- places ---- */

static int add(char ***paths, size_t *cnt, size_t *cap, const char *path, size_t len)
{
	char *copy = strndup(path, len);
	int err = copy ? ARRAY_PUSH(*paths, *cnt, *cap, copy) : -ENOMEM;

	if (err)
		free(copy);
	return err;
}

int file_places__add_read(struct file_places *p, const char *path)
{
	return add(&p->read, &p->read_cnt, &p->read_cap, path, strlen(path));
}

/* Bytes of a directory's path: without slashes at its end, but for the root. */
static size_t directory_len(const char *path, size_t len)
{
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

/* Of the path before its last component; none: the working directory, ".". */
static const char *parent_of(const char *path, size_t *len)
{
	const char *slash = strrchr(path, '/');

	*len = slash ? directory_len(path, (size_t)(slash - path) + 1) : 1;
	return slash ? path : ".";
}

static int add_directory(struct file_places *p, const char *path, size_t len)
{
	return add(&p->directories, &p->directory_cnt, &p->directory_cap, path,
		   directory_len(path, len));
}

int file_places__add_write(struct file_places *p, const char *path, bool numbered)
{
	const size_t len = path ? strlen(path) : 0;
	struct stat st;
	const char *parent;
	size_t parent_len;
	int err;

	if (!len || !strcmp(path, "-"))
		return 0;
	if (path[len - 1] == '/' || (!stat(path, &st) && S_ISDIR(st.st_mode)))
		return add_directory(p, path, len);
	err = add(&p->write, &p->write_cnt, &p->write_cap, path, len);
	parent = parent_of(path, &parent_len);
	if (!err && numbered)
		err = add_directory(p, parent, parent_len);
	return err;
}

static void free_all(char **paths, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		free(paths[i]);
	free(paths);
}

void file_places__free(struct file_places *p)
{
	free_all(p->read, p->read_cnt);
	free_all(p->write, p->write_cnt);
	free_all(p->directories, p->directory_cnt);
	*p = (struct file_places){0};
}

static bool is_among(char *const *paths, size_t cnt, const char *path, size_t len)
{
	for (size_t i = 0; i < cnt; i++)
		if (strlen(paths[i]) == len && !memcmp(paths[i], path, len))
			return true;
	return false;
}

static bool is_directory(const struct file_places *p, const char *path, size_t len)
{
	return is_among(p->directories, p->directory_cnt, path, len);
}

static bool is_in_directory(const struct file_places *p, const char *path)
{
	size_t len;
	const char *parent = parent_of(path, &len);

	return is_directory(p, parent, len);
}

/* ---- requests ---- */

static int read_file(const struct broker *b, const char *path)
{
	const struct file_places *p = b->places;

	return is_among(p->read, p->read_cnt, path, strlen(path)) ? in_file__open(path) : -EACCES;
}

static int write_file(struct broker *b, const struct file_request *r, uint32_t *handle)
{
	const struct file_places *p = b->places;
	enum out_mode mode = r->mode == OUT_LIVE ? OUT_LIVE : OUT_WHOLE;
	size_t i = 0;
	int err;

	if (!is_among(p->write, p->write_cnt, r->path, strlen(r->path))) {
		if (!is_in_directory(p, r->path))
			return -EACCES;
		mode |= OUT_ONLY_FILES;
	}
	while (i < FILES_MAX && b->taken[i])
		i++;
	if (i == FILES_MAX)
		return -EMFILE;
	err = out_file__open(&b->files[i], r->path, mode);
	if (err)
		return err;
	b->taken[i] = true;
	*handle = (uint32_t)i + 1;
	return b->files[i].fd;
}

/* Beside an output, or where the environment or the system has temporary files. */
static int open_temporary(const struct broker *b, const char *directory)
{
	const char *usual[TEMPORARY_PLACES];
	bool allowed =
		is_directory(b->places, directory, directory_len(directory, strlen(directory)));

	out_file__temporary_places(usual);
	for (size_t i = 0; i < TEMPORARY_PLACES; i++)
		allowed |= text__is(usual[i], directory);
	for (size_t i = 0; i < b->places->write_cnt; i++) {
		size_t len;
		const char *parent = parent_of(b->places->write[i], &len);

		allowed |= strlen(directory) == len && !memcmp(parent, directory, len);
	}
	return allowed ? out_file__open_temporary(directory) : -EACCES;
}

static int end_file(struct broker *b, const struct file_request *r)
{
	const uint32_t i = r->handle - 1;
	int err = 0;

	if (i >= FILES_MAX || !b->taken[i])
		return -EBADF;
	if (r->verb == FILE_PUBLISH)
		err = out_file__publish(&b->files[i]);
	else
		out_file__close(&b->files[i]);
	b->taken[i] = false;
	return err;
}

static int make_directory(const struct broker *b, const char *path)
{
	return is_directory(b->places, path, directory_len(path, strlen(path)))
		       ? out_file__make_directory(path)
		       : -EACCES;
}

static void answer(const struct broker *b, const struct file_answer *a, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec data = {(void *)a, sizeof(*a)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	/* Who does not wait for it has ended. */
	UNINTERRUPTED(sendmsg(b->socket, &message, MSG_NOSIGNAL));
}

static bool gives_descriptor(uint32_t verb)
{
	return verb == FILE_READ || verb == FILE_WRITE || verb == FILE_TEMPORARY;
}

static void obey(struct broker *b, const struct file_request *r)
{
	struct file_answer a = {0};
	int result; /* a descriptor, 0, or a negative errno */

	switch (r->verb) {
	case FILE_READ:
		result = read_file(b, r->path);
		break;
	case FILE_WRITE:
		result = write_file(b, r, &a.handle);
		break;
	case FILE_TEMPORARY:
		result = open_temporary(b, r->path);
		break;
	case FILE_PUBLISH:
	case FILE_FORGET:
		result = end_file(b, r);
		break;
	case FILE_DIRECTORY:
		result = make_directory(b, r->path);
		break;
	default:
		result = -EINVAL;
	}
	a.err = result < 0 ? result : 0;
	answer(b, &a, gives_descriptor(r->verb) ? result : -1);
	/* A file to be written stays open here until it is published. */
	if (result >= 0 && gives_descriptor(r->verb) && r->verb != FILE_WRITE)
		close(result);
}

void file_broker__serve(int socket, const struct file_places *places)
{
	struct broker b = {.socket = socket, .places = places};
	struct file_request request;
	ssize_t len;

	for (;;) {
		len = recv(socket, &request, sizeof(request), 0);
		if (len < 0 && errno == EINTR)
			continue;
		if (len != sizeof(request))
			break;
		request.path[sizeof(request.path) - 1] = '\0';
		obey(&b, &request);
	}
	for (size_t i = 0; i < FILES_MAX; i++)
		if (b.taken[i])
			out_file__close(&b.files[i]);
}

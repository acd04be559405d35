// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/file_broker.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "common/file_client.h"
#include "common/out_file.h"
#include "common/util.h"

#define FILES_MAX   512 /* open to be written, at a time; a job of 256 has one each */
#define CLIENTS_MAX 512

struct broker {
	int socket; /* the caller's, who closes it */
	struct pollfd clients[CLIENTS_MAX];
	bool is_session[CLIENTS_MAX]; /* which of them may ask what a session may */
	nfds_t client_cnt;
	struct file_places *places;
	struct out_file files[FILES_MAX];
	bool taken[FILES_MAX];
	bool has_listened;
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

static int add_made(struct file_places *p, const char *path)
{
	return add(&p->made, &p->made_cnt, &p->made_cap, path, strlen(path));
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
	free_all(p->made, p->made_cnt);
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

static bool is_made(const struct file_places *p, const char *path)
{
	return is_among(p->made, p->made_cnt, path, strlen(path));
}

static int read_file(const struct broker *b, const char *path)
{
	const struct file_places *p = b->places;

	return is_among(p->read, p->read_cnt, path, strlen(path)) || is_made(p, path)
		       ? in_file__open(path)
		       : -EACCES;
}

static bool is_writable(const struct file_places *p, const char *path, bool *only_files)
{
	*only_files = !is_among(p->write, p->write_cnt, path, strlen(path));
	return !*only_files || is_in_directory(p, path);
}

static int write_file(struct broker *b, const struct file_request *r, uint32_t *handle)
{
	struct file_places *p = b->places;
	enum out_mode mode = r->mode == OUT_LIVE ? OUT_LIVE : OUT_WHOLE;
	bool only_files, is_new;
	size_t i = 0;
	int err;

	if (!is_writable(p, r->path, &only_files))
		return -EACCES;
	while (i < FILES_MAX && b->taken[i])
		i++;
	if (i == FILES_MAX)
		return -EMFILE;
	is_new = p->session && !is_made(p, r->path);
	err = is_new ? add_made(p, r->path) : 0;
	if (err)
		return err;
	err = out_file__open(&b->files[i], r->path, only_files ? mode | OUT_ONLY_FILES : mode);
	if (err) {
		if (is_new)
			free(p->made[--p->made_cnt]);
		return err;
	}
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

/* ---- of a session ---- */

static int set_aside(const struct broker *b, const char *path)
{
	bool unused;

	return is_writable(b->places, path, &unused) ? out_file__set_aside(path) : -EACCES;
}

static int remove_file(struct broker *b, const char *path)
{
	struct file_places *p = b->places;

	if (text__is(p->temporary, path))
		p->temporary = NULL;
	else if (!is_made(p, path))
		return -EACCES;
	return out_file__remove(path);
}

static int listen_for(struct broker *b, pid_t pid, uint32_t *holder)
{
	b->has_listened = true;
	return b->places->session->listen(pid, holder);
}

static int sweep(const struct broker *b)
{
	if (!b->has_listened)
		return -EACCES;
	b->places->session->sweep();
	return 0;
}

static void add_socket(struct broker *b, int socket, bool is_session)
{
	b->clients[b->client_cnt] = (struct pollfd){.fd = socket, .events = POLLIN};
	b->is_session[b->client_cnt++] = is_session;
}

static int add_client(struct broker *b)
{
	int ends[2];

	if (b->client_cnt == CLIENTS_MAX)
		return -EMFILE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	add_socket(b, ends[0], true);
	return ends[1];
}

/* ---- the conversation ---- */

static void answer(int socket, const struct file_answer *a, int fd)
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
	UNINTERRUPTED(sendmsg(socket, &message, MSG_NOSIGNAL));
}

static bool gives_descriptor(uint32_t verb)
{
	return verb == FILE_READ || verb == FILE_WRITE || verb == FILE_TEMPORARY ||
	       verb == FILE_LISTEN || verb == FILE_CLIENT;
}

static int obey_session(struct broker *b, bool *is_session, const struct file_request *r,
			uint32_t *handle)
{
	if (!*is_session)
		return -EACCES;
	switch (r->verb) {
	case FILE_ASIDE:
		return set_aside(b, r->path);
	case FILE_REMOVE:
		return remove_file(b, r->path);
	case FILE_LISTEN:
		return listen_for(b, (pid_t)r->handle, handle);
	case FILE_SWEEP:
		return sweep(b);
	case FILE_CLIENT:
		return add_client(b);
	case FILE_OUTPUT:
		*is_session = false;
		return 0;
	default:
		return -EINVAL;
	}
}

static void obey(struct broker *b, nfds_t client, const struct file_request *r)
{
	const int socket = b->clients[client].fd;
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
		result = obey_session(b, &b->is_session[client], r, &a.handle);
	}
	a.err = result < 0 ? result : 0;
	answer(socket, &a, gives_descriptor(r->verb) ? result : -1);
	/* A file to be written stays open here until it is published. */
	if (result >= 0 && gives_descriptor(r->verb) && r->verb != FILE_WRITE)
		close(result);
}

/* false: the other end is closed. */
static bool serve_one(struct broker *b, nfds_t client)
{
	struct file_request request;
	const ssize_t len =
		UNINTERRUPTED(recv(b->clients[client].fd, &request, sizeof(request), 0));

	if (len != sizeof(request))
		return false;
	request.path[sizeof(request.path) - 1] = '\0';
	obey(b, client, &request);
	return true;
}

static void serve_all(struct broker *b)
{
	for (nfds_t i = 0; i < b->client_cnt; i++) {
		struct pollfd *c = &b->clients[i];

		if (!c->revents || serve_one(b, i))
			continue;
		if (c->fd != b->socket)
			close(c->fd);
		*c = b->clients[--b->client_cnt];
		b->is_session[i] = b->is_session[b->client_cnt];
		c->revents = 0; /* its turn comes */
	}
}

static void end_all(struct broker *b)
{
	struct file_places *p = b->places;

	for (size_t i = 0; i < FILES_MAX; i++)
		if (b->taken[i])
			out_file__close(&b->files[i]);
	if (b->has_listened)
		p->session->sweep();
	if (p->temporary)
		out_file__remove(p->temporary);
}

void file_broker__serve(int socket, struct file_places *places)
{
	struct broker b = {.socket = socket, .places = places};

	add_socket(&b, socket, places->session);
	while (b.client_cnt)
		if (poll(b.clients, b.client_cnt, -1) > 0)
			serve_all(&b);
	end_all(&b);
}

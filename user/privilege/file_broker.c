// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/file_broker.h"
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include "common/descriptor_message.h"
#include "common/file_client.h"
#include "common/out_file.h"
#include "common/target_lock.h"
#include "common/util.h"

#define FILES_MAX   512 /* files open for writing at a time; each rank of 256 has one */
#define CLIENTS_MAX 512
#define LOOK_MS	    20
#define MADE_MAX    65536 /* recordings of a session */

struct open_file {
	struct out_file out;
	bool taken;
	int client; /* socket of the client that asked for it, and may end it */
	char *path; /* for OUT_WHOLE: counts as made by the session when it is published */
};

struct broker {
	int socket; /* borrowed */
	struct pollfd clients[CLIENTS_MAX];
	bool is_session[CLIENTS_MAX]; /* clients that may ask for what a session may */
	nfds_t client_cnt;
	struct file_places *places;
	struct open_file files[FILES_MAX];
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

int file_places__add_held(struct file_places *p, const char *path, int fd)
{
	struct held_file held = {.fd = fd};
	int err = -ENAMETOOLONG;

	if (strlen(path) < sizeof(held.path)) {
		strcpy(held.path, path);
		err = ARRAY_PUSH(p->held, p->held_cnt, p->held_cap, held);
	}
	return err ? err : file_places__add_read(p, path); /* needed for its size */
}

static int add_made(struct file_places *p, const char *path)
{
	if (p->made_cnt == MADE_MAX)
		return -EDQUOT;
	return add(&p->made, &p->made_cnt, &p->made_cap, path, strlen(path));
}

/* Length of a directory's path without slashes at its end. The root keeps its slash. */
static size_t directory_len(const char *path, size_t len)
{
	while (len > 1 && path[len - 1] == '/')
		len--;
	return len;
}

/* The path before its last component. Without one: the working directory ".". */
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
	bool is_there;
	int err;

	if (!len || !strcmp(path, "-"))
		return 0;
	is_there = !stat(path, &st);
	if (path[len - 1] == '/' || (is_there && S_ISDIR(st.st_mode)))
		return add_directory(p, path, len);
	err = add(&p->write, &p->write_cnt, &p->write_cap, path, len);
	parent = parent_of(path, &parent_len);
	/* A device or pipe is a single file. No files are made beside it in /dev. */
	if (!err && numbered && (!is_there || S_ISREG(st.st_mode)))
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
	free(p->held);
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

	if (is_among(p->read, p->read_cnt, path, strlen(path)))
		return in_file__open(path);
	return is_made(p, path) ? out_file__reopen(path) : -EACCES;
}

static bool is_writable(const struct file_places *p, const char *path, bool *only_files)
{
	*only_files = !is_among(p->write, p->write_cnt, path, strlen(path));
	return !*only_files || is_in_directory(p, path);
}

static void forget(struct open_file *f)
{
	out_file__close(&f->out);
	free(f->path);
	*f = (struct open_file){0};
}

static int open_live(struct file_places *p, struct open_file *f, const char *path,
		     enum out_mode mode, bool is_session)
{
	const bool is_new = is_session && !is_made(p, path);
	int err = is_new ? add_made(p, path) : 0;

	if (err)
		return err;
	err = out_file__open(&f->out, path, OUT_LIVE | mode);
	if (err && is_new)
		free(p->made[--p->made_cnt]);
	return err;
}

static int open_whole(struct open_file *f, const char *path, enum out_mode mode, bool is_session)
{
	int err = out_file__open(&f->out, path, OUT_WHOLE | mode);

	if (err || !is_session)
		return err;
	f->path = strdup(path);
	if (f->path)
		return 0;
	forget(f);
	return -ENOMEM;
}

static int write_file(struct broker *b, nfds_t client, const struct file_request *r,
		      uint32_t *handle)
{
	const bool is_session = b->is_session[client];
	struct file_places *p = b->places;
	enum out_mode mode = OUT_NO_WAIT;
	struct open_file *f;
	bool only_files;
	size_t i = 0;
	int err;

	if (!is_writable(p, r->path, &only_files))
		return -EACCES;
	while (i < FILES_MAX && b->files[i].taken)
		i++;
	if (i == FILES_MAX)
		return -EMFILE;
	f = &b->files[i];
	mode |= only_files ? OUT_ONLY_FILES : 0;
	err = r->mode == OUT_LIVE ? open_live(p, f, r->path, mode, is_session)
				  : open_whole(f, r->path, mode, is_session);
	if (err)
		return err;
	f->taken = true;
	f->client = b->clients[client].fd;
	*handle = (uint32_t)i + 1;
	return f->out.fd;
}

/* In the directory of an output, or in a directory of the environment or the system for temporary
 * files. */
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

static int publish(struct file_places *p, struct open_file *f)
{
	int err = out_file__publish(&f->out);

	/* A file that cannot be noted stays, but the session can neither read nor remove it. */
	if (!err && f->path && !is_made(p, f->path))
		add_made(p, f->path);
	return err;
}

static int end_file(struct broker *b, int client, const struct file_request *r)
{
	const uint32_t i = r->handle - 1;
	int err;

	if (i >= FILES_MAX || !b->files[i].taken || b->files[i].client != client)
		return -EBADF;
	err = r->verb == FILE_PUBLISH ? publish(b->places, &b->files[i]) : 0;
	forget(&b->files[i]);
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

static int add_client(struct broker *b, bool is_session)
{
	int ends[2];

	if (b->client_cnt == CLIENTS_MAX)
		return -EMFILE;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	add_socket(b, ends[0], is_session);
	return ends[1];
}

/* ---- the conversation ---- */

/* False: the client does not read its answer, or has ended. */
static bool answer(int socket, const struct file_answer *a, int fd)
{
	return !descriptor_message__send(socket, a, sizeof(*a), fd, MSG_DONTWAIT);
}

static bool gives_descriptor(uint32_t verb)
{
	return verb == FILE_READ || verb == FILE_WRITE || verb == FILE_TEMPORARY ||
	       verb == FILE_LISTEN || verb == FILE_LOCK || verb == FILE_CLIENT ||
	       verb == FILE_OUTPUT;
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
	case FILE_LOCK:
		return target_lock__take((pid_t)r->mode, strtoull(r->path, NULL, 10));
	case FILE_SWEEP:
		return sweep(b);
	case FILE_CLIENT:
		return add_client(b, true);
	case FILE_OUTPUT:
		*is_session = false;
		return add_client(b, false);
	default:
		return -EINVAL;
	}
}

/* Carries out a request. A descriptor, 0, or a negative errno. */
static int obey(struct broker *b, nfds_t client, const struct file_request *r, uint32_t *handle)
{
	switch (r->verb) {
	case FILE_READ:
		return read_file(b, r->path);
	case FILE_WRITE:
		return write_file(b, client, r, handle);
	case FILE_TEMPORARY:
		return open_temporary(b, r->path);
	case FILE_PUBLISH:
	case FILE_FORGET:
		return end_file(b, b->clients[client].fd, r);
	case FILE_DIRECTORY:
		return make_directory(b, r->path);
	default:
		return obey_session(b, &b->is_session[client], r, handle);
	}
}

static struct open_file *find_open(struct broker *b, int fd)
{
	size_t i = 0;

	while (!b->files[i].taken || b->files[i].out.fd != fd)
		i++;
	return &b->files[i];
}

/* False: the client does not take its answer. */
static bool obey_and_answer(struct broker *b, nfds_t client, const struct file_request *r)
{
	const int socket = b->clients[client].fd;
	struct file_answer a = {0};
	int result, fd;
	bool taken;

	refused_link__forget();
	result = obey(b, client, r, &a.handle);
	fd = gives_descriptor(r->verb) && result >= 0 ? result : -1;
	a.err = result < 0 ? result : 0;
	if (a.err == -ELOOP)
		snprintf(a.link, sizeof(a.link), "%s", refused_link__text());
	taken = answer(socket, &a, fd);
	if (!taken && fd >= 0) {
		/* Too many descriptors of this user are on their way to processes
		 * (ETOOMANYREFS). */
		a = (struct file_answer){.err = -errno};
		if (r->verb == FILE_WRITE)
			forget(find_open(b, fd));
		taken = answer(socket, &a, -1);
	}
	/* A file for writing stays open here until it is published. */
	if (fd >= 0 && r->verb != FILE_WRITE)
		close(fd);
	return taken;
}

/* False: the other end is closed. */
static bool serve_one(struct broker *b, nfds_t client)
{
	struct file_request request;
	const ssize_t len =
		UNINTERRUPTED(recv(b->clients[client].fd, &request, sizeof(request), 0));

	if (len != sizeof(request))
		return false;
	request.path[sizeof(request.path) - 1] = '\0';
	return obey_and_answer(b, client, &request);
}

/* Removes what the client did not publish. */
static void drop(struct broker *b, nfds_t client)
{
	const int socket = b->clients[client].fd;

	for (size_t i = 0; i < FILES_MAX; i++)
		if (b->files[i].taken && b->files[i].client == socket)
			forget(&b->files[i]);
	if (socket != b->socket)
		close(socket);
	else
		shutdown(socket, SHUT_RDWR);
	b->clients[client] = b->clients[--b->client_cnt];
	b->is_session[client] = b->is_session[b->client_cnt];
	b->clients[client].revents = 0; /* it is served in its turn */
}

static void serve_all(struct broker *b)
{
	for (nfds_t i = 0; i < b->client_cnt; i++) {
		if (b->clients[i].revents && !serve_one(b, i))
			drop(b, i);
	}
}

static void end_all(struct broker *b)
{
	struct file_places *p = b->places;

	if (b->has_listened)
		p->session->sweep();
	if (p->temporary)
		out_file__remove(p->temporary);
}

void file_broker__serve(int socket, struct file_places *places)
{
	file_broker__serve_and_look(socket, places, NULL, NULL);
}

void file_broker__serve_and_look(int socket, struct file_places *places, void (*look)(void *ctx),
				 void *ctx)
{
	struct broker b = {.socket = socket, .places = places};

	add_socket(&b, socket, places->session);
	while (b.client_cnt) {
		if (poll(b.clients, b.client_cnt, look ? LOOK_MS : -1) > 0)
			serve_all(&b);
		if (look)
			look(ctx);
	}
	end_all(&b);
}

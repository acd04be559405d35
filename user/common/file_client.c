// SPDX-License-Identifier: BSD-2-Clause
#include "common/file_client.h"
#include "common/descriptor_message.h"
#include <fcntl.h>
#include <sys/socket.h>
#include "common/regular_file.h"
#include "common/util.h"

static int broker = -1;
static const struct held_file *held_files;
static size_t held_cnt;

void file_client__begin(int socket)
{
	broker = socket;
}

bool file_client__is_on(void)
{
	return broker >= 0;
}

int file_client__socket(void)
{
	return broker;
}

static int receive(struct file_answer *answer, int *fd)
{
	const ssize_t len = descriptor_message__receive(broker, answer, sizeof(*answer), fd, 0);

	if (len != sizeof(*answer))
		return -EOWNERDEAD;
	answer->link[sizeof(answer->link) - 1] = '\0';
	refused_link__take(answer->link);
	return answer->err;
}

static int ask(const struct file_request *request, int *fd, uint32_t *handle)
{
	struct file_answer answer = {0};
	int got, err;

	if (descriptor_message__send(broker, request, sizeof(*request), -1, 0))
		return -EOWNERDEAD;
	err = receive(&answer, &got);
	*handle = answer.handle;
	if (fd)
		*fd = got;
	else if (got >= 0)
		close(got);
	return err || !fd || got >= 0 ? err : -EBADF;
}

int file_client__ask(enum file_verb verb, uint32_t mode, const char *path, int *fd,
		     uint32_t *handle)
{
	struct file_request request = {.verb = verb, .mode = mode};
	const size_t len = strlen(path);

	if (len >= sizeof(request.path))
		return -ENAMETOOLONG;
	memcpy(request.path, path, len);
	return ask(&request, fd, handle);
}

int file_client__end(enum file_verb verb, uint32_t handle)
{
	const struct file_request request = {.verb = verb, .handle = handle};
	uint32_t unused;

	return ask(&request, NULL, &unused);
}

int file_client__get_socket(enum file_verb verb, uint32_t *handle)
{
	const struct file_request request = {.verb = verb, .handle = *handle};
	int fd, err = ask(&request, &fd, handle);

	return err ? err : fd;
}

void file_client__hold(const struct held_file *held, size_t cnt)
{
	held_files = held;
	held_cnt = cnt;
}

static int open_held(const char *path)
{
	int fd = -ENOENT;

	for (size_t i = 0; i < held_cnt && fd == -ENOENT; i++)
		if (strcmp(held_files[i].path, path) == 0)
			fd = fcntl(held_files[i].fd, F_DUPFD_CLOEXEC, 0);
	return fd == -1 ? -errno : fd;
}

int in_file__open(const char *path)
{
	uint32_t unused;
	int fd = open_held(path), err;

	if (fd != -ENOENT)
		return fd;
	if (file_client__is_on()) {
		err = file_client__ask(FILE_READ, 0, path, &fd, &unused);
		return err ? err : fd;
	}
	return regular_file__open(path);
}

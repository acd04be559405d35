// SPDX-License-Identifier: BSD-2-Clause
#include "common/descriptor_message.h"
#include <string.h>
#include <sys/socket.h>
#include "common/util.h"

union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

int descriptor_message__send(int socket, const void *data, size_t size, int fd, int flags)
{
	union control control = {0};
	struct iovec part = {(void *)data, size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct cmsghdr *c;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.bytes);
		c = CMSG_FIRSTHDR(&message);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	return UNINTERRUPTED(sendmsg(socket, &message, MSG_NOSIGNAL | flags)) < 0 ? -errno : 0;
}

ssize_t descriptor_message__receive(int socket, void *data, size_t size, int *fd, int flags)
{
	union control control;
	struct iovec part = {data, size};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control.bytes)};
	const ssize_t len = UNINTERRUPTED(recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags));
	const struct cmsghdr *c = len > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	*fd = -1;
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return len;
}

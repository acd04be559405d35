// SPDX-License-Identifier: BSD-2-Clause
#include "capture/control/control_peer.h"
#include "common/util.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

/* Start time of the process: field 22 of /proc/PID/stat, the 20th after the name. 0: there is no
 * such process. */
static uint64_t start_of(pid_t pid)
{
	unsigned long long ticks = 0;
	const char *behind_name;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	auto_free char *line = file__read(path, NULL);
	behind_name = line ? strrchr(line, ')') : NULL;
	if (!behind_name || sscanf(behind_name,
				   ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d "
				   "%*d %*d %*d %*d %llu",
				   &ticks) != 1)
		return 0;
	return ticks;
}

/* A pidfd of the peer. -ESRCH: the peer has ended. Other errors: this kernel has no such pidfd. */
static int pidfd_of(int fd)
{
	int pidfd = -1;
	socklen_t size = sizeof(pidfd);

	if (!getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size))
		return pidfd;
	/* Before Linux 6.16 an ended and awaited peer gives EINVAL. */
	return errno == EINVAL ? -ESRCH : -errno;
}

int control_peer__look(int fd, struct control_peer *out)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	int pidfd;

	*out = (struct control_peer){0};
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return -errno;
	pidfd = pidfd_of(fd);
	if (pidfd == -ESRCH)
		return pidfd;
	*out = (struct control_peer){peer.uid, peer.pid, 0, pidfd > 0 ? pidfd : 0};
	if (peer.pid)
		out->start_ticks = start_of(peer.pid);
	if (control_peer__is_there(out))
		return 0;
	control_peer__forget(out);
	return -ESRCH;
}

bool control_peer__is_there(const struct control_peer *p)
{
	struct pollfd end = {.fd = p->pidfd, .events = POLLIN};

	if (p->pidfd > 0)
		return !poll(&end, 1, 0);
	return !p->start_ticks || start_of(p->pid) == p->start_ticks;
}

void control_peer__forget(struct control_peer *p)
{
	if (p->pidfd > 0)
		close(p->pidfd);
	p->pidfd = 0;
}

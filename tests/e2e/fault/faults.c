// SPDX-License-Identifier: BSD-2-Clause
/*
 * To be preloaded: one fault at the N-th call. $FAULT is
 *	malloc:N	no memory, once
 *	memory:N	no memory from then on
 *	short:N		half of what was to be written to a file
 *	full:N		no space in files from then on
 *	intr:N		a signal interrupts a read, a write or a wait
 *	die:N		SIGKILL in place of giving a file a name
 *	clock:N		from the N-th look on CLOCK_REALTIME is an hour further
 * and $FAULT_HIT a file that says at the end how many calls there were, and whether one failed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t cnt, size_t size);
void *__libc_realloc(void *old, size_t size);

static enum { NONE, MALLOC, MEMORY, SHORT, FULL, INTR, DIE, CLOCK } kind;
static unsigned long at;
static pid_t own;
static int told_fd = -1; /* opened before it may be forbidden; beyond those that are counted on */

/* Shared with the process without rights that writes the output, because that process has faults
 * too. */
static struct counts {
	unsigned long calls;
	bool hit;
} at_first, *counts = &at_first;

__attribute__((constructor)) static void begin(void)
{
	static const char *const kinds[] = {
		"", "malloc:", "memory:", "short:", "full:", "intr:", "die:", "clock:"};
	const char *fault = getenv("FAULT");

	void *shared = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	const char *path = getenv("FAULT_HIT");
	const int fd =
		path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644)
		     : -1;

	told_fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 900);
	syscall(SYS_close, fd);
	own = getpid();
	if (shared != MAP_FAILED)
		counts = shared;
	for (int i = MALLOC; fault && i <= CLOCK; i++) {
		if (strncmp(fault, kinds[i], strlen(kinds[i])) != 0)
			continue;
		at = strtoul(fault + strlen(kinds[i]), NULL, 10);
		kind = i;
	}
}

/* Called when the fault happens and at the end, because some processes end without exit
 * handlers. */
static void tell(void)
{
	char text[64];
	int saved = errno,
	    len = snprintf(text, sizeof(text), "%20lu %d\n", counts->calls, counts->hit);

	syscall(SYS_pwrite64, told_fd, text, len, 0);
	errno = saved;
}

__attribute__((destructor)) static void end(void)
{
	if (getpid() == own)
		tell();
}

/* proftrace's first child is the one that opens files for a session. */
static bool opens_files;

pid_t fork(void)
{
	static bool has_forked;
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
	const bool is_first = getpid() == own && !has_forked;
	const pid_t pid = real();

	has_forked = true;
	opens_files = !pid && is_first;
	return pid;
}

/* Other children of proftrace have no faults. */
static bool has_faults(void)
{
	return getpid() == own || opens_files || geteuid();
}

/* Is it this call's turn, or was it once? */
static bool due(bool on_and_on)
{
	const unsigned long n = __atomic_add_fetch(&counts->calls, has_faults(), __ATOMIC_RELAXED);
	const bool now = n == at || (on_and_on && at && n > at);

	if (!now || !has_faults())
		return false;
	if (!__atomic_exchange_n(&counts->hit, true, __ATOMIC_RELAXED))
		tell();
	return true;
}

static bool no_memory(void)
{
	if ((kind != MALLOC && kind != MEMORY) || !due(kind == MEMORY))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	return no_memory() ? NULL : __libc_malloc(size);
}

void *calloc(size_t cnt, size_t size)
{
	return no_memory() ? NULL : __libc_calloc(cnt, size);
}

void *realloc(void *old, size_t size)
{
	return no_memory() ? NULL : __libc_realloc(old, size);
}

static bool is_file(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/* Returns how many bytes may be written, or -1 with errno. */
static ssize_t allowed(int fd, size_t len)
{
	if (kind == INTR && len && due(false)) {
		errno = EINTR;
		return -1;
	}
	if ((kind != SHORT && kind != FULL) || !len || !is_file(fd) || !due(kind == FULL))
		return (ssize_t)len;
	if (kind == SHORT)
		return (ssize_t)(len + 1) / 2;
	errno = ENOSPC;
	return -1;
}

ssize_t write(int fd, const void *data, size_t len)
{
	const ssize_t part = allowed(fd, len);

	return part < 0 ? part : syscall(SYS_write, fd, data, part);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t where)
{
	const ssize_t part = allowed(fd, len);

	return part < 0 ? part : syscall(SYS_pwrite64, fd, data, part, where);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t where)
{
	return pwrite(fd, data, len, where);
}

/* How the recording is written. */
ssize_t writev(int fd, const struct iovec *parts, int cnt)
{
	struct iovec first;
	ssize_t part;
	size_t len = 0;

	for (int i = 0; i < cnt; i++)
		len += parts[i].iov_len;
	part = allowed(fd, len);
	if (part < 0 || (size_t)part == len)
		return part < 0 ? part : syscall(SYS_writev, fd, parts, cnt);
	first = parts[0]; /* half of the first part, or the first part and half of the second */
	if ((size_t)part <= first.iov_len) {
		first.iov_len = (size_t)part;
		return syscall(SYS_writev, fd, &first, 1);
	}
	struct iovec two[2] = {first, parts[1]};

	part -= (ssize_t)first.iov_len;
	if ((size_t)part < two[1].iov_len)
		two[1].iov_len = (size_t)part;
	return syscall(SYS_writev, fd, two, 2);
}

static bool interrupted(void)
{
	if (kind != INTR || !due(false))
		return false;
	errno = EINTR;
	return true;
}

ssize_t read(int fd, void *data, size_t len)
{
	return interrupted() ? -1 : syscall(SYS_read, fd, data, len);
}

int poll(struct pollfd *fds, nfds_t cnt, int timeout)
{
	return interrupted() ? -1 : (int)syscall(SYS_poll, fds, cnt, timeout);
}

int epoll_wait(int fd, struct epoll_event *events, int cnt, int timeout)
{
	return interrupted() ? -1 : (int)syscall(SYS_epoll_wait, fd, events, cnt, timeout);
}

ssize_t recv(int fd, void *data, size_t len, int flags)
{
	return interrupted() ? -1 : syscall(SYS_recvfrom, fd, data, len, flags, NULL, NULL);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	return interrupted() ? -1 : syscall(SYS_recvmsg, fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return interrupted() ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return interrupted() ? -1 : (pid_t)syscall(SYS_wait4, pid, status, options, NULL);
}

static void die(void)
{
	if (kind == DIE && due(false))
		syscall(SYS_kill, getpid(), SIGKILL);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	die();
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	die();
	return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int err = (int)syscall(SYS_clock_gettime, clock, now);

	if (!err && kind == CLOCK && clock == CLOCK_REALTIME && due(true))
		now->tv_sec += 3600;
	return err;
}

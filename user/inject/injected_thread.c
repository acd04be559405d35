// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "common/err.h"
#include "inject/message_table.h"
#include "common/memfd.h"
#include "common/util.h"
#include "inject/session.h"
#include "inject/steps.h"

#define POLL_NS	   200000
#define LEAVING_NS 500000000ull

static uint64_t at(const struct session *s, size_t off)
{
	return s->region + REMOTE_PAGE + off;
}

static int set_word(const struct session *s, size_t off, uint64_t value)
{
	return session__write(s, at(s, off), &value, sizeof(value));
}

static int gone(const struct session *s)
{
	return err__set(-ESRCH, MESSAGE_INJECTED_LOAD_TARGET_ENDED, s->target->pid);
}

/* 0: the phase is at least `wanted`; or -ETIMEDOUT, -ESRCH, -EINTR. */
static int await_phase(const struct session *s, uint64_t wanted, uint64_t deadline_ns)
{
	for (;;) {
		uint64_t phase = 0;

		if (target__read(s->target, at(s, RD_PHASE), &phase, sizeof(phase)) < 0)
			return gone(s);
		if (phase >= wanted)
			return 0;
		if (clock__monotonic_ns() > deadline_ns)
			return -ETIMEDOUT;
		if (tracee__user_stops(&s->tracee))
			return err__set(-EINTR, MESSAGE_INJECT_STOPPED);
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
	}
}

/* Uses offsets, because the process shares the position. */
static int write_all(int fd, const char *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(fd, bytes + done, len - done, (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}

/*
 * The loader recognises a path from which it loaded an object before, and descriptor numbers are
 * reused. So each path gets one "./" per such object, which makes it unique.
 */
static void memfd_path(const struct session *s, int64_t fd, char path[256])
{
	size_t cnt = 0, len;

	for (size_t i = 0; i < s->target->lib_cnt; i++)
		cnt += strncmp(s->target->libs[i].path, "/memfd:", 7) == 0;
	len = (size_t)snprintf(path, 256, "/proc/self/");
	for (size_t i = 0; i < cnt % 100; i++)
		len += (size_t)snprintf(path + len, 256 - len, "./");
	snprintf(path + len, 256 - len, "fd/%ld", fd);
}

static bool holds(int fd, const char *image, size_t size)
{
	struct stat st;
	bool same = !fstat(fd, &st) && (size_t)st.st_size == size;
	void *at = same ? mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED)
		return false;
	same = !memcmp(at, image, size);
	munmap(at, size);
	return same;
}

/* Other processes of its user may have the file open, too. Its contents are trusted only when
 * nobody can change them any more. */
static int fill_and_seal(int fd, const char *image, size_t size)
{
	int err = write_all(fd, image, size);

	if (err)
		return err;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return -errno;
	return holds(fd, image, size) ? 0 : -EBADMSG;
}

static int fill_memfd(const struct session *s)
{
	const struct inject_request *q = s->request;
	auto_close int fd = -1;
	char path[256];
	int64_t theirs;
	int err = await_phase(s, REMOTE_FD_READY, s->deadline_ns);

	if (err)
		return err;
	inject_step(INJECT_STEP_FD_READY);
	if (target__read(s->target, at(s, RD_FD), &theirs, sizeof(theirs)) < 0)
		return gone(s);
	if (theirs < 0)
		return err__set((int)theirs, MESSAGE_INJECTED_LOAD_NO_MEMFD, s->target->pid,
				strerror((int)-theirs));
	fd = memfd__take_of(s->target->pid, theirs);
	err = fd < 0 ? fd : fill_and_seal(fd, q->image, q->image_size);
	if (err)
		return err__set(err, MESSAGE_INJECTED_LOAD_MEMFD_NOT_FILLED, s->target->pid,
				err == -EBADMSG ? "another process wrote into it" : strerror(-err));
	memfd_path(s, theirs, path);
	err = session__write(s, at(s, RD_PATH), path, sizeof(path));
	if (!err)
		err = set_word(s, RD_FILLED, 1);
	inject_step(INJECT_STEP_FILLED);
	return err ? gone(s) : 0;
}

static const char *object_name(const struct session *s)
{
	return s->request->image ? s->request->image_name : s->request->path;
}

static int read_result(const struct session *s)
{
	struct remote_data d;

	if (target__read(s->target, at(s, 0), &d, sizeof(d)) < 0)
		return gone(s);
	s->result->handle = d.handle;
	s->result->value = (int64_t)d.value;
	if (d.phase == REMOTE_DONE)
		return 0;
	d.error[sizeof(d.error) - 1] = '\0';
	for (char *c = d.error; *c; c++) {
		if (!isprint((unsigned char)*c))
			*c = '?';
	}
	s->result->handle = 0;
	return err__set(-ELIBBAD, MESSAGE_INJECTED_LOAD_FAILED, s->target->pid, object_name(s),
			d.error[0] ? d.error : "no reason given");
}

/* The thread unmaps the region as its last act. */
static void await_end(const struct session *s)
{
	uint64_t deadline_ns = clock__monotonic_ns() + LEAVING_NS, word;

	while (clock__monotonic_ns() < deadline_ns &&
	       target__read(s->target, at(s, 0), &word, sizeof(word)) == 0)
		nanosleep(&(struct timespec){.tv_nsec = POLL_NS}, NULL);
}

/* Stops what has not begun, and unloads what was loaded. */
static int abandon(const struct session *s)
{
	uint64_t phase = 0;

	set_word(s, RD_ABANDON, 1);
	set_word(s, RD_FILLED, 1);
	if (target__read(s->target, at(s, RD_PHASE), &phase, sizeof(phase)) < 0)
		return gone(s);
	if (phase == REMOTE_DONE || phase == REMOTE_FAILED)
		return 0;
	set_word(s, RD_RELEASE, 1);
	if (phase == REMOTE_CALLING)
		return err__set(-ETIMEDOUT, MESSAGE_INJECTED_LOAD_FUNCTION_LATE, s->target->pid,
				s->request->symbol);
	return err__set(-ETIMEDOUT, MESSAGE_INJECTED_LOAD_LATE, s->target->pid, object_name(s));
}

int injected_thread__run(struct session *s)
{
	int err = set_word(s, RD_GO, 1) ? gone(s) : 0;

	inject_step(INJECT_STEP_GO);
	if (!err && s->request->image && !s->function)
		err = fill_memfd(s);
	if (!err)
		err = await_phase(s, REMOTE_DONE, s->deadline_ns);
	if (err == -ESRCH)
		return err;
	if (err) {
		int late = abandon(s);

		/* Our own failure explains more than the delay that it caused. */
		if (late)
			return err == -ETIMEDOUT ? late : err;
	}
	inject_step(INJECT_STEP_ENDED);
	err = read_result(s);
	set_word(s, RD_RELEASE, 1);
	inject_step(INJECT_STEP_RELEASED);
	await_end(s);
	return err;
}

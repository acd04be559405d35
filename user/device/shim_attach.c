// SPDX-License-Identifier: BSD-2-Clause
#include "device/shim_attach.h"
#include "common/err.h"
#include "device/message_table.h"
#include "common/memfd.h"
#include "common/util.h"
#include "device/shim_library.h"
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

/* Loading takes milliseconds. A library that served a dead proftrace takes seconds to leave. */
#define DEADLINE_MS 20000

/* System calls that the library makes, besides those of loading. */
static const int syscalls[] = {
	SYS_memfd_create, SYS_ftruncate, SYS_getpid,	      SYS_gettid,  SYS_prctl,
	SYS_futex,	  SYS_mprotect,	 SYS_clock_nanosleep, SYS_madvise,
};

static struct inject_request request_for(const void *image, size_t size)
{
	return (struct inject_request){
		.image = image,
		.image_size = size,
		.image_name = SHIM_LIBRARY_NAME,
		.symbol = "proftrace_cupti_attach",
		.arg = "",
		.syscalls = syscalls,
		.syscall_cnt = ARRAY_SIZE(syscalls),
		.deadline_ms = DEADLINE_MS,
	};
}

static int read_library(char **image, size_t *size)
{
	const char *path = shim_library__path();

	if (!path)
		return -ENOENT;
	*image = file__read(path, size);
	return *image ? 0
		      : err__set(-errno, MESSAGE_SHIM_LIBRARY_UNREADABLE, path, strerror(errno));
}

/* Sets the error for an answer of the library. */
static int refused(const struct target *t, int err)
{
	switch (err) {
	case -EBUSY:
		return err__set(err, MESSAGE_SHIM_IN_USE, t->pid, t->comm);
	case -EPROTO:
	case -ENOENT: /* kernels without unnamed files */
		return err__set(-EPROTO, MESSAGE_SHIM_OF_OTHER_VERSION, t->pid, t->comm);
	default:
		return err__set(err, MESSAGE_SHIM_NOT_STARTED, t->pid, t->comm, strerror(-err));
	}
}

/* fd: a descriptor of the process. */
static int adopt(const struct target *t, int fd, struct shim_link **out)
{
	auto_close int own = memfd__take_of(t->pid, fd);

	if (own < 0)
		return err__set(own, MESSAGE_SHIM_MEMORY_NOT_OPENED, t->pid, strerror(-own));
	return shim_link__adopt(own, out);
}

static int load(const struct target *t, const volatile sig_atomic_t *user_stop,
		struct shim_attached *facts, struct shim_link **out)
{
	auto_free char *image = NULL;
	struct inject_request request;
	uint64_t begin_ns;
	size_t size;
	int err = read_library(&image, &size), answer;

	if (err)
		return err;
	request = request_for(image, size);
	request.user_stop = user_stop;
	begin_ns = clock__monotonic_ns();
	err = inject__load(t->pid, &request, &facts->inject);
	facts->took_ns = clock__monotonic_ns() - begin_ns;
	if (err)
		return err;
	answer = (int)facts->inject.value; /* it is an int in the process, so the upper half is
					      undefined */
	return answer < 0 ? refused(t, answer) : adopt(t, answer, out);
}

int shim__attach(struct target *t, const char *cupti, bool functions_alone,
		 const volatile sig_atomic_t *user_stop, struct shim_link **out,
		 struct shim_attached *facts)
{
	int err;

	memset(facts, 0, sizeof(*facts));
	err = functions_alone ? 0 : cupti__find(t, cupti, &facts->cupti);
	if (!err)
		err = load(t, user_stop, facts, out);
	if (err)
		return err;
	shim_link__set_alone(*out, functions_alone);
	shim_link__set_cupti(*out, facts->cupti.path, facts->cupti.major);
	err = shim_link__set_clock(*out, t->pid);
	if (!err)
		err = shim_link__keep_alive(*out);
	if (!err) {
		/* From its first command on, the library does not need the descriptor. */
		shim_link__command(*out, SHIM_PARK);
		return 0;
	}
	shim_link__free(*out);
	*out = NULL;
	return err;
}

int shim__may_attach(struct target *t, const char *cupti, struct shim_attached *facts)
{
	auto_free char *image = NULL;
	struct inject_request request;
	size_t size;
	int err;

	memset(facts, 0, sizeof(*facts));
	err = cupti__find(t, cupti, &facts->cupti);
	if (!err)
		err = read_library(&image, &size);
	if (err)
		return err;
	request = request_for(image, size);
	return inject__check(t->pid, &request, &facts->inject);
}

// SPDX-License-Identifier: BSD-2-Clause
/* The seccomp filters of another process, read by a process that has one itself. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "common/capability_set.h"
#include "inject/filter_reader.h"
#include "inject/inject.h"
#include "inject/seccomp.h"
#include "inject/tracee.h"
#include "privilege/session_filter.h"
#include "in_child.h"

TestSuite(filter_reader, .timeout = 60);

static const struct sock_filter allowing[] = {
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_filter refusing[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 1),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void put_on(const struct sock_filter *insns, size_t cnt)
{
	const struct sock_fprog program = {(unsigned short)cnt, (struct sock_filter *)insns};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(1);
}

/* A process that has both filters. */
static pid_t start_filtered(void)
{
	int ready[2];
	pid_t pid;
	char c;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		put_on(allowing, ARRAY_SIZE(allowing));
		put_on(refusing, ARRAY_SIZE(refusing));
		c = (char)write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static bool is(const struct filters *f, size_t i, const struct sock_filter *insns, size_t cnt)
{
	return f->lens[i] == cnt && !memcmp(f->insns[i], insns, cnt * sizeof(*insns));
}

static pid_t target;

static int reads_them(void)
{
	const struct inject_request of_path = {.path = "/x"}, of_image = {.image = "x"};
	struct seccomp_state state;
	struct tracee cost = {0};
	struct filters f;

	WANT(!filter_reader__start() && !capability_set__keep(UINT64_MAX));
	WANT(!session_filter__enter(true));
	WANT(!filter_reader__read(target, target, &f));
	WANT(f.cnt == 2 && f.stops == 1 && f.stopped_ns > 0);
	WANT(is(&f, 0, allowing, ARRAY_SIZE(allowing)) &&
	     is(&f, 1, refusing, ARRAY_SIZE(refusing)));
	filters__clear(&f);
	WANT(!seccomp__check(target, target, &of_path, &state, &cost));
	WANT(cost.stops == 1 && state.filter_cnt == 2 && seccomp__is_still(target, &state));
	WANT(seccomp__check(target, target, &of_image, &state, &cost) == -EACCES);
	WANT(filter_reader__read(target, getpid(), &f) == -ESRCH);
	filter_reader__end();
	WANT(filter_reader__read(target, target, &f) == -EACCES);
	return 0;
}

Test(filter_reader, who_is_filtered_has_filters_read_by_another_process)
{
	if (geteuid())
		cr_skip_test("needs root");
	target = start_filtered();
	cr_expect_eq(in_child(reads_them), 0);
	kill(target, SIGKILL);
}

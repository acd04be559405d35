// SPDX-License-Identifier: BSD-2-Clause
/* Tests in a child what a process may still do after it gave up its rights. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include "attach/calibrate.h"
#include "attach/privilege.h"
#include "capture/processes/freeze.h"
#include "common/capability.h"
#include "common/err.h"
#include "common/file_client.h"
#include "common/out_file.h"
#include "common/util.h"
#include "common/capability_set.h"
#include "privilege/core_dumps.h"
#include "privilege/landlock.h"
#include "privilege/output_process.h"
#include "privilege/rights.h"
#include "privilege/sandbox.h"
#include "privilege/syscall_filter.h"
#include "in_child.h"

TestSuite(privilege, .init = make_dir, .fini = remove_dir);

/* Returns a set of /proc/self/status, such as "CapEff". */
static uint64_t own_set(const char *field)
{
	auto_free char *status = file__read("/proc/self/status", NULL);
	const char *value = status__field(status, field);

	return value ? strtoull(value, NULL, 16) : UINT64_MAX;
}

/* ---- capabilities ---- */

static int keep_two(void)
{
	const uint64_t two = CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_KILL);
	const uint64_t kept = capability_set__permitted() & two;

	WANT(!capability_set__keep(two));
	WANT(own_set("CapPrm") == kept && own_set("CapEff") == kept);
	WANT(!own_set("CapInh") && !own_set("CapAmb") && (geteuid() || !own_set("CapBnd")));
	WANT(own_set("NoNewPrivs") == 1);
	/* No way back. */
	WANT(!capability_set__keep(UINT64_MAX));
	WANT(capability_set__permitted() == kept);
	return 0;
}

Test(privilege, kept_capabilities_are_all_there_is)
{
	cr_expect_eq(in_child(keep_two), 0);
}

/* Uses libbpf, with the stage's whole set of rights. */
static int probe_while_recording(void)
{
	const bool keeps = privilege__keeps_admin(ATTACH_PERF_EVENT);
	struct calibration_programs *programs;
	struct attach_point point;
	struct attach_set *set;

	WANT(!calibration_programs__load(ATTACH_PERF_EVENT, &programs));
	WANT(set = attach_set__new("calibration", ATTACH_PERF_EVENT, NULL));
	calibration__point(CALIBRATE_EMULATED, &point);
	WANT(!attach_set__add(set, programs->count, &point));
	rights__enter(RIGHTS_RECORD, keeps);
	WANT(keeps == !!(capability_set__permitted() & CAPABILITY(CAP_SYS_ADMIN)));
	WANT(!attach_set__attach(set, getpid()));
	calibration__discard(set, programs);
	return 0;
}

Test(privilege, perf_events_attach_with_what_is_kept_for_them)
{
	if (geteuid())
		cr_skip_test("needs root");
	cr_expect_not(privilege__keeps_admin(ATTACH_UPROBE_MULTI));
	cr_expect_eq(in_child(probe_while_recording), 0);
}

Test(privilege, each_stage_has_fewer_rights)
{
	uint64_t before = UINT64_MAX;

	for (enum rights_stage stage = RIGHTS_ATTACH; stage < RIGHTS_STAGE_CNT; stage++) {
		const uint64_t now = rights__of(stage, false);

		cr_expect_eq(now & ~before, 0, "%s", rights__stage_name(stage));
		cr_expect_lt(now, before, "%s", rights__stage_name(stage));
		before = now;
	}
	cr_expect_eq(before, 0);
	cr_expect(rights__of(RIGHTS_RECORD, true) & CAPABILITY(CAP_SYS_ADMIN));
	cr_expect_not(rights__of(RIGHTS_END, true) & CAPABILITY(CAP_SYS_ADMIN));
}

Test(privilege, commands_hold_no_more_than_a_session)
{
	for (enum rights_use use = RIGHTS_TO_LEAVE; use <= RIGHTS_TO_TRY; use++)
		cr_expect_eq(rights__for(use) & ~rights__of(RIGHTS_ATTACH, false), 0);
	cr_expect_not(rights__for(RIGHTS_TO_WATCH) & CAPABILITY(CAP_SYS_ADMIN));
	cr_expect_not(rights__for(RIGHTS_TO_EXAMINE) & CAPABILITIES_TO_LOAD);
}

/* root in a container that has only this right. */
Test(privilege, sys_admin_stands_for_what_is_missing)
{
	const uint64_t admin = CAPABILITY(CAP_SYS_ADMIN), load = CAPABILITIES_TO_LOAD;

	cr_expect_eq(rights__held(admin, RIGHTS_RECORD, false), admin);
	cr_expect_eq(rights__held(admin | CAPABILITY(CAP_BPF), RIGHTS_RECORD, false),
		     admin | CAPABILITY(CAP_BPF));
	cr_expect_eq(rights__held(admin | load, RIGHTS_RECORD, false), load);
	cr_expect_eq(rights__held(admin, RIGHTS_END, false), 0);
	cr_expect_str_eq(rights__names(admin, RIGHTS_ATTACH, false), "none");
	cr_expect_str_eq(rights__names(admin, RIGHTS_RECORD, false), "CAP_SYS_ADMIN");
}

/* As in a container with Docker's default rights. */
Test(privilege, dac_override_stands_for_reading_alone)
{
	const uint64_t override = CAPABILITY(CAP_DAC_OVERRIDE),
		       read = CAPABILITY(CAP_DAC_READ_SEARCH);

	for (enum rights_stage stage = RIGHTS_ATTACH; stage <= RIGHTS_END; stage++) {
		cr_expect_eq(rights__held(override, stage, false), override);
		cr_expect_eq(rights__held(override | read, stage, false), read);
	}
	cr_expect_eq(rights__held(override, RIGHTS_OUTPUT, false), 0);
}

/* ---- Landlock and seccomp, each alone ---- */

static int changes_nothing(void)
{
	int there = open(in("there"), O_RDWR | O_CREAT, 0600);

	WANT(there >= 0);
	WANT(!capability_set__keep(UINT64_MAX));
	WANT(!landlock__forbid_changes(false));
	WANT(open(in("there"), O_WRONLY) < 0 && errno == EACCES);
	WANT(open(in("new"), O_WRONLY | O_CREAT, 0600) < 0 && errno == EACCES);
	WANT(unlink(in("there")) && errno == EACCES);
	WANT(mkdir(in("directory"), 0700) && errno == EACCES);
	WANT(symlink("a", in("link")) && errno == EACCES);
	WANT(execl("/bin/true", "true", NULL) && errno == EACCES);
	WANT(write(there, "x", 1) == 1);
	WANT(open(in("there"), O_RDONLY) >= 0);
	return 0;
}

Test(privilege, landlock_forbids_changes)
{
	/* If the kernel lacks landlock, a message says so. */
	if (!landlock__version()) {
		cr_expect_eq(landlock__forbid_changes(false), -ENOSYS);
		cr_expect(sandbox__lacks() & PROTECTION_LANDLOCK);
		return;
	}
	cr_expect_eq(in_child(changes_nothing), 0);
}

static void *nothing(void *arg)
{
	return arg;
}

static int makes_only_harmless_calls(void)
{
	int there = open(in("there"), O_RDWR | O_CREAT, 0600), ends[2];
	pthread_t thread;

	WANT(there >= 0 && !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends));
	WANT(!capability_set__keep(UINT64_MAX));
	WANT(!syscall_filter__enter(FILTER_OUTPUT));
	WANT(open(in("there"), O_WRONLY) < 0 && errno == EACCES);
	WANT(open(in("there"), O_RDWR) < 0 && errno == EACCES);
	WANT(open(in("there"), O_RDONLY | O_TRUNC) < 0 && errno == EACCES);
	WANT(open(in("new"), O_RDONLY | O_CREAT, 0600) < 0 && errno == EACCES);
	WANT(open(dir, O_TMPFILE | O_WRONLY, 0600) < 0 && errno == EACCES);
	WANT(unlink(in("there")) && rename(in("there"), in("x")) && link(in("there"), in("x")));
	WANT(chmod(in("there"), 0777) && truncate(in("there"), 0) && mkdir(in("d"), 0700));
	WANT(socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == ENOSYS);
	WANT(fork() < 0 && errno == ENOSYS);
	WANT(execl("/bin/true", "true", NULL) && errno == ENOSYS);
	WANT(kill(getppid(), 0) && errno == ENOSYS);
	WANT(ioctl(there, 0x5412 /* TIOCSTI */, "x") && errno == ENOTTY);
	/* The rights that remain. */
	WANT(write(there, "x", 1) == 1 && !ftruncate(there, 0));
	WANT(open(in("there"), O_RDONLY) >= 0);
	WANT(!pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL));
	WANT(send(ends[0], "x", 1, 0) < 0); /* sendto is not needed, sendmsg is there */
	return 0;
}

Test(privilege, the_filter_leaves_what_an_output_needs)
{
	cr_assert(syscall_filter__is_there());
	cr_expect_eq(in_child(makes_only_harmless_calls), 0);
}

/* 0, or the errno of bpf(2) with arguments that fit nothing. */
static int bpf_errno(unsigned int command)
{
	char attr[128] = {0};

	memset(attr, 0xff, 16);
	return syscall(SYS_bpf, command, attr, sizeof(attr)) < 0 ? errno : 0;
}

static int only_uses_maps(void)
{
	WANT(!capability_set__keep(UINT64_MAX));
	WANT(!syscall_filter__enter(FILTER_MAPS));
	for (unsigned int command = BPF_MAP_LOOKUP_ELEM; command <= BPF_MAP_GET_NEXT_KEY; command++)
		WANT(bpf_errno(command) && bpf_errno(command) != ENOSYS);
	WANT(bpf_errno(BPF_MAP_CREATE) == ENOSYS && bpf_errno(UINT32_MAX) == ENOSYS);
	for (unsigned int command = BPF_MAP_GET_NEXT_KEY + 1; command < 64; command++)
		WANT(bpf_errno(command) == ENOSYS);
	WANT(open(in("new"), O_WRONLY | O_CREAT, 0600) < 0 && errno == EACCES);
	return 0;
}

Test(privilege, a_filter_with_maps_allows_their_elements_alone)
{
	cr_expect_eq(in_child(only_uses_maps), 0);
}

/* Serves a socket of the directory, where a client already waits. */
static int answers_alone(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	const int listens = socket(AF_UNIX, SOCK_STREAM, 0), asks = socket(AF_UNIX, SOCK_STREAM, 0),
		  idle = socket(AF_UNIX, SOCK_STREAM, 0);
	struct stat st;
	int client;

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", in("socket"));
	WANT(!bind(listens, (struct sockaddr *)&a, sizeof(a)) && !listen(listens, 1));
	WANT(!connect(asks, (struct sockaddr *)&a, sizeof(a)));
	WANT(!capability_set__keep(UINT64_MAX));
	WANT(!syscall_filter__enter(FILTER_SERVER));
	client = accept4(listens, NULL, NULL, SOCK_CLOEXEC);
	WANT(client >= 0 && send(client, "x", 1, MSG_NOSIGNAL) == 1);
	WANT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == ENOSYS);
	WANT(connect(idle, (struct sockaddr *)&a, sizeof(a)) && errno == ENOSYS);
	WANT(bind(idle, (struct sockaddr *)&a, sizeof(a)) && errno == ENOSYS);
	WANT(listen(idle, 1) && errno == ENOSYS);
	WANT(open(in("new"), O_WRONLY | O_CREAT, 0600) < 0 && errno == EACCES);
	WANT(open("/proc/self/status", O_RDONLY) < 0 && errno == EACCES);
	WANT(open("/", O_PATH | O_DIRECTORY) < 0 && errno == EACCES);
	WANT(!fstat(client, &st) && S_ISSOCK(st.st_mode));
	return 0;
}

Test(privilege, a_filter_for_a_server_lets_it_answer_and_connect_to_none)
{
	cr_expect_eq(in_child(answers_alone), 0);
}

static int goes_on_with_one(void)
{
	const uint64_t kept = capability_set__permitted() & CAPABILITY(CAP_BPF);

	unsetenv("SUDO_UID");
	WANT(!sandbox__go_on(FILTER_MAPS, CAPABILITY(CAP_BPF)));
	WANT(own_set("CapPrm") == kept && own_set("CapEff") == kept && geteuid());
	WANT(own_set("Seccomp") == 2 && own_set("NoNewPrivs") == 1);
	WANT(!prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	return 0;
}

static int looks_on(void)
{
	const pid_t root = getppid();
	struct iovec none = {0};

	unsetenv("SUDO_UID");
	WANT(!sandbox__look_on(CAPABILITY(CAP_SYS_PTRACE)));
	WANT(own_set("Seccomp") == 2 && !prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
	WANT(process_vm_readv(root, &none, 1, &none, 1, 0) == 0);
	WANT(process_vm_writev(root, &none, 1, &none, 1, 0) < 0 && errno == EPERM);
	WANT(ptrace(PTRACE_SEIZE, root, NULL, NULL) < 0 && errno == EPERM);
	WANT(open("/proc/self/mem", O_RDWR) < 0 && errno == EPERM);
	return 0;
}

Test(privilege, who_looks_into_a_process_writes_to_none)
{
	if (geteuid())
		cr_skip_test("needs root");
	cr_expect_eq(in_child(looks_on), 0);
}

/* As on a kernel that requires this right for maps. */
Test(privilege, a_command_goes_on_as_nobody_with_one_capability)
{
	cr_expect_eq(in_child(goes_on_with_one), 0);
}

/* Checks all other threads in /proc/self/task/TID/status. */
static int each_other_has(uint64_t rights)
{
	const pid_t own = (pid_t)syscall(SYS_gettid);
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	int cnt = 0;

	while ((task = readdir(tasks))) {
		auto_free char *status = NULL;
		char path[64];

		if (task->d_name[0] == '.' || atoi(task->d_name) == own)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%d/status", atoi(task->d_name));
		status = file__read(path, NULL);
		WANT(strtoull(status__field(status, "CapPrm"), NULL, 16) == rights);
		WANT(strtoull(status__field(status, "CapEff"), NULL, 16) == rights);
		cnt++;
	}
	closedir(tasks);
	WANT(cnt == 1);
	return 0;
}

static int holds_with_little(void)
{
	const uint64_t has = capability_set__permitted();
	const uint64_t wanted = CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_KILL);
	const pid_t pid = fork();
	struct freeze *held;

	if (!pid)
		for (;;)
			pause();
	held = freeze__begin(pid, true);
	WANT(held && proc__status(pid, "TracerPid") > 0);
	WANT(!each_other_has(has & CAPABILITY(CAP_SYS_PTRACE) ? has & wanted : has));
	WANT(capability_set__permitted() == has);
	WANT(freeze__thaw(held) > 0 && proc__status(pid, "TracerPid") == 0);
	kill(pid, SIGKILL);
	return 0;
}

Test(privilege, what_holds_a_program_has_the_right_to_trace_alone)
{
	cr_expect_eq(in_child(holds_with_little), 0);
}

static int leaves_no_core_dump(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	WANT(!chdir(dir));
	core_dumps__forbid();
	WANT(!capability_set__keep(CAPABILITY(CAP_BPF)));
	WANT(setrlimit(RLIMIT_CORE, &limit) && errno == EPERM);
	WANT(!getrlimit(RLIMIT_CORE, &limit) && !limit.rlim_cur && !limit.rlim_max);
	WANT(!prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)); /* nor for a program that it would be piped to */
	if (!fork())
		abort();
	WANT(wait(NULL) > 0);
	return 0;
}

Test(privilege, no_core_dump_is_left)
{
	char command[80];

	cr_expect_eq(in_child(leaves_no_core_dump), 0);
	snprintf(command, sizeof(command), "test -z \"$(ls -A %s)\"", dir);
	cr_expect_eq(system(command), 0);
}

/* ---- the process that makes an output ---- */

static int write_where_it_may(void *ctx)
{
	struct out_file f;
	int fd;

	WANT(!own_set("CapPrm") && !own_set("CapEff") && !own_set("CapBnd"));
	WANT(own_set("NoNewPrivs") == 1);
	WANT(geteuid() != 0 && getegid() != 0);
	WANT(fcntl(*(const int *)ctx, F_GETFD) < 0); /* of the parent's */
	WANT(open(in("read"), O_RDONLY) < 0);	     /* only root may read it */
	/* The broker opens the named file. */
	fd = in_file__open(in("read"));
	WANT(fd >= 0);
	close(fd);
	WANT(in_file__open(in("secret")) == -EACCES);
	WANT(!out_file__open(&f, in("out/any"), OUT_WHOLE));
	WANT(write(f.fd, "text", 4) == 4 && !out_file__publish(&f));
	WANT(!out_file__open(&f, in("live"), OUT_LIVE));
	WANT(write(f.fd, "live", 4) == 4);
	out_file__close(&f);
	WANT(!out_file__open(&f, in("out/dropped"), OUT_WHOLE));
	out_file__close(&f);
	WANT(out_file__open(&f, in("out/fifo"), OUT_WHOLE) == -EEXIST);
	WANT(out_file__open(&f, in("out/../escaped"), OUT_WHOLE) == -EACCES);
	WANT(out_file__open(&f, in("elsewhere"), OUT_WHOLE) == -EACCES);
	WANT(out_file__open(&f, in("out/"), OUT_WHOLE) == -EISDIR);
	WANT(out_file__make_directory(in("new/")) == -EACCES);
	fd = out_file__open_temporary("/tmp");
	WANT(fd >= 0 && write(fd, "x", 1) == 1);
	WANT(out_file__open_temporary("/etc") == -EACCES);
	WANT(file_client__end(FILE_PUBLISH, 7) == -EBADF);
	return 42;
}

static void put(const char *name, const char *text)
{
	int fd = open(in(name), O_WRONLY | O_CREAT, 0600);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

Test(privilege, output_is_made_by_a_process_without_rights)
{
	struct file_places places = {0};
	int open_here = open("/dev/null", O_RDONLY), status;
	auto_free char *text = NULL;
	char command[80];

	if (geteuid()) /* nothing to give up: see the next test */
		return;
	put("read", "r");
	put("secret", "s");
	cr_assert_eq(mkdir(in("out"), 0700), 0);
	cr_assert_eq(mkfifo(in("out/fifo"), 0600), 0);
	unsetenv("SUDO_UID");
	cr_assert_eq(file_places__add_read(&places, in("read")), 0);
	cr_assert_eq(file_places__add_write(&places, in("live"), false), 0);
	cr_assert_eq(file_places__add_write(&places, in("out/"), false), 0);
	status = output_process__run(write_where_it_may, &open_here, &places);
	file_places__free(&places);
	cr_expect_eq(status, 42);
	text = file__read(in("out/any"), NULL);
	cr_expect_str_eq(text, "text");
	cr_expect_neq(access(in("out/dropped"), F_OK), 0);
	cr_expect_neq(access(in("escaped"), F_OK), 0);
	/* The file and the pipe, and nothing temporary. */
	snprintf(command, sizeof(command), "test $(ls -A %s/out | wc -l) = 2", dir);
	cr_expect_eq(system(command), 0);
}

static int status_of_caller(void *ctx)
{
	return getuid() == 65533 && getgid() == 65532 ? 3 : 4;
}

Test(privilege, under_sudo_the_output_is_made_as_the_caller)
{
	struct file_places none = {0};

	if (geteuid()) {
		cr_expect_eq(output_process__run(status_of_caller, NULL, &none), 4);
		return;
	}
	setenv("SUDO_UID", "65533", 1);
	setenv("SUDO_GID", "65532", 1);
	cr_expect_eq(output_process__run(status_of_caller, NULL, &none), 3);
}

static int signal_itself(void *ctx)
{
	return raise(SIGTERM) ? 1 : 0;
}

static int run_one_that_gets_a_signal(void)
{
	struct file_places none = {0};

	signal(SIGTERM, SIG_IGN);
	return output_process__run(signal_itself, NULL, &none);
}

/* SIGTERM is ignored by both, so nothing ends; the status is the function's. */
Test(privilege, signals_are_as_they_were)
{
	cr_expect_eq(in_child(run_one_that_gets_a_signal), 0);
}

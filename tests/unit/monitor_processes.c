// SPDX-License-Identifier: BSD-2-Clause
/* The monitor's data from processes, from its sessions' answers, and from its store. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "common/err.h"
#include "in_child.h"
#include "monitor/process_facts.h"
#include "monitor/session_answer.h"
#include "monitor/window_store.h"

TestSuite(monitor_processes, .init = make_dir, .fini = remove_dir);

Test(monitor_processes, a_name_may_look_like_a_line_of_stat)
{
	struct process_facts p = {0};

	cr_assert_eq(
		process_facts__parse("17 (a) S 1 (b)) R 4 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 "
				     "0 123456 0 0\n",
				     &p),
		0);
	cr_expect_eq(p.parent, 4);
	cr_expect_eq(p.start_ticks, 123456);
	cr_expect_str_eq(p.command, "a) S 1 (b)");
	cr_expect_not(p.is_kernel);
}

Test(monitor_processes, dead_ones_kernel_threads_and_nonsense)
{
	struct process_facts p = {0};

	cr_expect_eq(process_facts__parse(
			     "17 (x) Z 4 0 0 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 1 0", &p),
		     -ESRCH);
	cr_assert_eq(
		process_facts__parse("2 (k) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 9 0", &p),
		0);
	cr_expect(p.is_kernel);
	cr_expect_eq(process_facts__parse("", &p), -EINVAL);
	cr_expect_eq(process_facts__parse(")(", &p), -EINVAL);
	cr_expect_eq(process_facts__parse("1 (x) S", &p), -EINVAL);
}

Test(monitor_processes, itself)
{
	struct process_facts p;

	cr_assert_eq(process_facts__read(getpid(), &p), 0);
	cr_expect_eq(p.parent, getppid());
	cr_expect_lt(process_facts__age_ns(&p), 3600000000000ull);
	cr_expect(process_facts__is_proftrace(getpid()), "the same program");
	cr_expect_not(process_facts__maps_framework(getpid()));
	cr_expect_eq(process_facts__user(getpid()), geteuid());
}

Test(monitor_processes, a_framework_is_code_that_is_mapped)
{
	static const char other[] = "7f00-7f10 r-xp 00000000 08:01 7 /lib/libc.so.6\n",
			  read[] = "7f10-7f20 r--p 00000000 08:01 8 /t/lib/libtorch_cpu.so\n",
			  code[] = "7f20-7f30 r-xp 00001000 08:01 8 /t/lib/libtorch_cpu.so\n";
	char maps[512];

	cr_expect_not(process_facts__has_framework(""));
	cr_expect_not(process_facts__has_framework(other));
	snprintf(maps, sizeof(maps), "%s%s", other, read);
	cr_expect_not(process_facts__has_framework(maps), "who reads its symbols");
	snprintf(maps, sizeof(maps), "%s%s%s", other, read, code);
	cr_expect(process_facts__has_framework(maps));
	cr_expect(process_facts__has_framework(code));
	cr_expect_not(process_facts__has_framework("/libtorch_cpu.so"));
}

static void expect_step(const char *answer, bool has, uint64_t step)
{
	struct session_answer a;

	session_answer__parse(answer, &a);
	cr_expect_eq(a.has_step, has, "%s", answer);
	cr_expect_eq(a.step, step, "%s", answer);
}

/* Answers as in capture/control/control.c. */
Test(monitor_processes, answers_of_a_session)
{
	expect_step(
		"process: 7, PyTorch 2.1\nstate: attached, finding out what a step is\nrecordings "
		"written: 0",
		false, 0);
	expect_step("process: 7\nstate: paused, at step 1256\nrecordings written: 1", true, 1256);
	expect_step("process: 7\nstate: recording step 1192, since step 952\n", true, 1192);
	expect_step("process: 7\nstate: recording, for 2.0 s\n", false, 0);
	expect_step("the window ends with step 1193: /x/at step 5.ptrec", true, 1193);
	expect_step("no window opens before `start`", false, 0);
	expect_step("process: at step 9\nstate: attaching\n", false, 0);
	expect_step("", false, 0);
}

Test(monitor_processes, a_session_says_how_long_it_attaches)
{
	struct session_answer a;

	session_answer__parse("process: 7\nstate: paused, at step 1\nevents lost: 0\nlead: 2400 ms",
			      &a);
	cr_expect_eq(a.lead_ns, 2400000000ull);
	session_answer__parse("process: 7\nstate: paused, at step 1", &a);
	cr_expect_eq(a.lead_ns, 0);
	session_answer__parse("state: paused, at step 1\nlead: 99999999999999999999 ms", &a);
	cr_expect_eq(a.lead_ns, 60000000000ull);
}

static enum device_times device_times_of(const char *answer)
{
	struct session_answer a;

	session_answer__parse(answer, &a);
	return a.device_times;
}

Test(monitor_processes, answers_say_whether_there_are_device_times)
{
	struct session_answer a;

	cr_expect_eq(device_times_of("process: 7\nstate: attached"), DEVICE_TIMES_OFF);
	cr_expect_eq(device_times_of("process: 7\ndevice times: off"), DEVICE_TIMES_OFF);
	cr_expect_eq(device_times_of("process: 7\ndevice times: yes"), DEVICE_TIMES_RECORDED);
	cr_expect_eq(device_times_of("process: 7\ndevice times: no: the process does not use CUDA"),
		     DEVICE_TIMES_WITHOUT_CUDA);
	session_answer__parse("process: 7\ndevice times: refused: a tool\x1b[2J\nlead: 7 ms", &a);
	cr_expect_eq(a.device_times, DEVICE_TIMES_REFUSED);
	cr_expect_str_eq(a.device_why, "a tool?[2J", "one line, without what a terminal obeys");
}

Test(monitor_processes, answers_say_since_which_step_a_window_is_open)
{
	struct session_answer a;

	session_answer__parse("process: 7\nstate: recording step 19, since step 12\nlead: 1 ms",
			      &a);
	cr_expect(a.is_open && a.step == 19 && a.since_step == 12);
	session_answer__parse("process: 7\nstate: waiting for the window, at step 19", &a);
	cr_expect(!a.is_open && a.step == 19);
	session_answer__parse("process: 7\nstate: recording, for 1.0 s", &a);
	cr_expect_not(a.is_open, "a window without steps");
}

static void make_recording(const char *name, size_t bytes, int age_s)
{
	const struct timespec times[] = {{.tv_sec = time(NULL) - age_s},
					 {.tv_sec = time(NULL) - age_s}};
	char block[4096] = "";
	const int fd = open(in(name), O_WRONLY | O_CREAT | O_EXCL, 0600);

	cr_assert_geq(fd, 0);
	for (size_t i = 0; i < bytes; i += sizeof(block))
		cr_assert_eq(write(fd, block, sizeof(block)), (ssize_t)sizeof(block));
	futimens(fd, times);
	close(fd);
}

static bool is_there(const char *name)
{
	return !access(in(name), F_OK);
}

Test(monitor_processes, the_oldest_recordings_go_first)
{
	int store;

	make_recording("new_7_6931d003.ptrec", 8192, 1000);
	make_recording("old_7_6931d001.ptrec", 8192, 3000);
	make_recording("middle_7_6931d002.ptrec", 8192, 2000);
	make_recording("open_7_6931d004.ptrec", 65536, 0);
	make_recording("notes.txt", 8192, 9000);
	store = window_store__open(dir);
	cr_assert_geq(store, 0, "%s", err__take(store));
	cr_expect_eq(window_store__keep(store, 1 << 20), 0);
	cr_expect_eq(window_store__keep(store, 65536 + 2 * 8192), 1);
	cr_expect(!is_there("old_7_6931d001.ptrec") && is_there("middle_7_6931d002.ptrec"));
	cr_expect_eq(window_store__keep(store, 1), 2);
	cr_expect(is_there("open_7_6931d004.ptrec"), "it may be open");
	cr_expect(is_there("notes.txt"), "no recording");
	close(store);
}

/* Each 64 KiB. The oldest is kept as an alarm. */
Test(monitor_processes, alarms_go_last)
{
	static const char alarm[] = "a_7_6931d001.alarm.ptrec";
	const char *const names[] = {"a_7_6931d001.ptrec", "b_7_6931d002.ptrec",
				     "c_7_6931d003.ptrec"};
	char kept[RECORDING_NAME];
	int store = window_store__open(dir);

	cr_assert_geq(store, 0, "%s", err__take(store));
	for (size_t i = 0; i < 3; i++)
		make_recording(names[i], 65536, 9000 - 1000 * (int)i);
	cr_assert_eq(window_store__keep_as(store, names[0], KEEP_ALARM, kept), 0);
	cr_expect_str_eq(kept, alarm);
	cr_expect(window_store__has(store, kept));
	cr_expect_eq(window_store__keep_as(store, names[0], KEEP_ALARM, kept), 0, "again");
	cr_expect_eq(window_store__keep_as(store, "notes.txt", KEEP_ALARM, kept), -ENOENT);
	cr_expect_eq(window_store__keep_as(store, "../x_7_6931d001.ptrec", KEEP_ALARM, kept),
		     -ENOENT);
	/* One that is kept has half the store at most, and counts once. */
	cr_expect_eq(window_store__keep(store, 3 * 65536), 0);
	cr_expect_eq(window_store__keep(store, 2 * 65536), 2, "its first name, and the next one");
	cr_expect(is_there(alarm) && !is_there(names[0]) && !is_there(names[1]) &&
		  is_there(names[2]));
	window_store__keep(store, 65536);
	cr_expect(!is_there(alarm), "it is more than half");
	close(store);
}

Test(monitor_processes, a_store_is_nobody_elses)
{
	int store = window_store__open(in("made"));
	struct stat st;

	cr_assert_geq(store, 0, "%s", err__take(store));
	cr_assert_eq(fstat(store, &st), 0);
	cr_expect_eq(st.st_mode & 0777, 0700);
	close(store);
	chmod(in("made"), 0777);
	cr_expect_eq(window_store__open(in("made")), -EPERM);
	cr_expect_eq(symlink(in("made"), in("link")), 0);
	cr_expect_lt(window_store__open(in("link")), 0);
}

// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include "attach/allow.h"
#include "attach/attach.h"
#include "attach/calibrate.h"
#include "attach/calibrate_functions.h"
#include "attach/site.h"
#include "common/err.h"
#include "common/util.h"
#include "target/elf_file.h"

#define NEEDS_ROOT()                                                                               \
	do {                                                                                       \
		if (geteuid() != 0)                                                                \
			cr_skip_test("attaching needs root");                                      \
	} while (0)

static struct allowed_returns allowed;

static struct attach_set *set_of(const char *name, enum attach_method method)
{
	struct attach_set *set = attach_set__new(name, attach_method__resolve(method), &allowed);

	cr_assert_not_null(set);
	return set;
}

static int add(struct attach_set *set, struct bpf_program *prog, enum calibration_function fn,
	       bool is_return)
{
	struct attach_point p;

	calibration__point(fn, &p);
	p.is_return = is_return;
	return attach_set__add(set, prog, &p);
}

static void load(enum attach_method method, struct calibration_programs **progs)
{
	cr_assert_eq(calibration_programs__load(attach_method__resolve(method), progs), 0, "%s",
		     err__take(0));
}

Test(attach_allow, lets_only_listed_functions_return)
{
	const struct allowed_returns other = {0};

	cr_expect_not(allowed_returns__has(&allowed, "THPVariable_add"));
	cr_assert_eq(
		allowed_returns__add_pattern(&allowed, "THPVariable_*", "Python method wrappers"),
		0);
	cr_expect(allowed_returns__has(&allowed, "THPVariable_add"));
	cr_expect_str_eq(allowed_returns__why(&allowed, "THPVariable_add"),
			 "Python method wrappers");
	cr_expect_not(allowed_returns__has(&allowed, "_ZN2at4_ops3add4callE"));
	cr_assert_eq(allowed_returns__add_chosen(&allowed, "_ZN2at4_ops3add4callE"), 0);
	cr_expect(allowed_returns__has(&allowed, "_ZN2at4_ops3add4callE"));
	cr_expect_eq(allowed_returns__add_chosen(&allowed, "_ZN2at4_ops*"), -EINVAL,
		     "a pattern allows nothing");
	cr_expect_not(allowed_returns__has(&allowed, "_ZN2at4_ops3sub4callE"));
	cr_expect_not(allowed_returns__has(&allowed, NULL));
	cr_expect_not(allowed_returns__has(NULL, "THPVariable_add"));
	cr_expect(allowed_returns__has(NULL, "calibrate_pair"));
	cr_expect_not(allowed_returns__has(&other, "THPVariable_add"), "of another plan");
	allowed_returns__free(&allowed);
	cr_expect_not(allowed_returns__has(&allowed, "THPVariable_add"));
}

Test(attach_allow, refuses_return_probe_that_is_not_listed)
{
	struct attach_set *set = set_of("test", ATTACH_UPROBE_MULTI);

	cr_expect_eq(add(set, NULL, CALIBRATE_EMULATED, true), -EPERM);
	cr_expect_not_null(strstr(err__take(-EPERM), "calibrate_emulated"));
	cr_expect_eq(attach_set__cnt(set), 0);
	attach_set__free(set);
}

Test(attach, asks_the_kernel_what_it_can)
{
	struct attach_caps caps;

	cr_assert_eq(attach_caps__probe(&caps), 0);
	cr_expect_gt(strlen(caps.kernel), 0);
	if (geteuid() == 0) {
		cr_expect(caps.can_bpf);
		cr_expect(caps.uprobe_multi || caps.perf_uprobe);
		cr_expect(caps.ringbuf && caps.cookies);
	} else if (!caps.can_bpf) {
		cr_expect_not_null(strstr(caps.missing, "CAP_BPF"));
	}
}

Test(attach, compares_the_kernels_version)
{
	cr_expect(kernel__at_least(0, 0));
	cr_expect(kernel__at_least(5, 15), "5.15 is the oldest that the tests run on");
	cr_expect(kernel__at_least(4, 99), "4.99 is older than any 5");
	cr_expect_not(kernel__at_least(9999, 0));
}

/* Attaches to a child, counts its calls, detaches, counts none. */
static void expect_counted(enum attach_method method)
{
	struct attach_set *set = set_of("test", method);
	struct calibration_programs *progs;
	struct calibration *child;
	double ns;

	cr_assert_eq(calibration__start(&child), 0);
	load(method, &progs);
	cr_assert_eq(add(set, progs->count, CALIBRATE_EMULATED, false), 0);
	cr_assert_eq(add(set, progs->count, CALIBRATE_STEPPED, false), 0);
	cr_assert_eq(add(set, progs->count, CALIBRATE_PAIR, true), 0);
	cr_assert_eq(attach_set__attach(set, calibration__pid(child)), 0, "%s", err__take(0));
	calibration__call_emulated(5); /* ours: not the child's */
	cr_expect_eq(*progs->hits, 0);
	cr_assert_eq(calibration__run(child, CALIBRATE_EMULATED, 0, 1, 10, &ns), 0);
	cr_expect_eq(*progs->hits, 10);
	cr_assert_eq(calibration__run(child, CALIBRATE_STEPPED, 0, 1, 10, &ns), 0);
	cr_expect_eq(*progs->hits, 20);
	cr_assert_eq(calibration__run(child, CALIBRATE_PAIR, 0, 2, 5, &ns), 0);
	cr_expect_eq(*progs->hits, 30);
	attach_set__detach(set);
	cr_assert_eq(calibration__run(child, CALIBRATE_EMULATED, 0, 1, 10, &ns), 0);
	cr_expect_eq(*progs->hits, 30);
	cr_assert_eq(attach_set__attach(set, calibration__pid(child)), 0, "a set comes back");
	cr_assert_eq(calibration__run(child, CALIBRATE_EMULATED, 0, 1, 10, &ns), 0);
	cr_expect_eq(*progs->hits, 40);
	attach_set__free(set);
	calibration_programs__free(progs);
	calibration__stop(child);
}

Test(attach, counts_calls_by_uprobe_multi)
{
	NEEDS_ROOT();
	expect_counted(ATTACH_UPROBE_MULTI);
}

Test(attach, counts_calls_by_perf_events)
{
	NEEDS_ROOT();
	expect_counted(ATTACH_PERF_EVENT);
}

Test(attach, detaches_several_sets_together)
{
	struct calibration_programs *progs;
	struct attach_set *sets[3];
	struct calibration *child;
	double ns;

	NEEDS_ROOT();
	cr_assert_eq(calibration__start(&child), 0);
	load(ATTACH_AUTO, &progs);
	for (size_t i = 0; i < 2; i++) {
		sets[i] = set_of("test", ATTACH_AUTO);
		cr_assert_eq(add(sets[i], progs->count, CALIBRATE_EMULATED, false), 0);
		cr_assert_eq(attach_set__attach(sets[i], calibration__pid(child)), 0);
	}
	sets[2] = set_of("never attached", ATTACH_AUTO);
	cr_assert_eq(calibration__run(child, CALIBRATE_EMULATED, 0, 1, 10, &ns), 0);
	cr_expect_eq(*progs->hits, 20);
	attach_sets__detach(sets, 3);
	cr_assert_eq(calibration__run(child, CALIBRATE_EMULATED, 0, 1, 10, &ns), 0);
	cr_expect_eq(*progs->hits, 20);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_eq(attach_set__links(sets[i]), 0);
		attach_set__free(sets[i]);
	}
	calibration_programs__free(progs);
	calibration__stop(child);
}

/* Text of a process against the file it was mapped from. */
static bool text_is_pristine(pid_t pid, enum calibration_function fn, uint64_t addr)
{
	struct attach_point p;
	uint8_t in_file[16], in_memory[16];
	auto_close int exe = -1, mem = -1;
	char path[32];

	calibration__point(fn, &p);
	exe = open(p.path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(pread(exe, in_file, 16, (off_t)p.offset), 16);
	cr_assert_eq(pread(mem, in_memory, 16, (off_t)addr), 16);
	return memcmp(in_file, in_memory, 16) == 0;
}

Test(attach, leaves_no_breakpoint)
{
	uint64_t addr = (uint64_t)(uintptr_t)calibrate_emulated;
	struct calibration_programs *progs;
	struct attach_set *set;
	struct calibration *child;

	NEEDS_ROOT();
	cr_assert_eq(calibration__start(&child), 0);
	load(ATTACH_AUTO, &progs);
	set = set_of("test", ATTACH_AUTO);
	cr_assert_eq(add(set, progs->empty, CALIBRATE_EMULATED, false), 0);
	cr_assert_eq(attach_set__attach(set, calibration__pid(child)), 0);
	cr_expect_not(text_is_pristine(calibration__pid(child), CALIBRATE_EMULATED, addr));
	cr_expect(text_is_pristine(getpid(), CALIBRATE_EMULATED, addr), "only the child's");
	attach_set__detach(set);
	cr_expect(text_is_pristine(calibration__pid(child), CALIBRATE_EMULATED, addr));
	attach_set__free(set);
	calibration_programs__free(progs);
	calibration__stop(child);
}

/* Instructions that a probe may not have, among many that may. */
__asm__(".text\n"
	".type attach_test_vex, @function\n"
	"attach_test_vex: vpxor %xmm0, %xmm0, %xmm0\n"
	"	ret\n"
	".size attach_test_vex, . - attach_test_vex\n"
	".type attach_test_lock, @function\n"
	"attach_test_lock: lock incl (%rax)\n"
	"	ret\n"
	".size attach_test_lock, . - attach_test_lock\n");

static void add_symbol(struct attach_set *set, struct bpf_program *prog, const char *name)
{
	struct attach_point p = {.path = "/proc/self/exe", .symbol = name};
	struct elf_file *f = NULL;
	struct elf_symbol s;

	cr_assert_eq(elf_file__open("/proc/self/exe", &f), 0);
	cr_assert_eq(elf_file__symbol(f, name, &s), 0);
	cr_assert_eq(elf_file__offset(f, s.vaddr, &p.offset), 0);
	cr_assert_eq(attach_set__add(set, prog, &p), 0);
	elf_file__close(f);
}

static void expect_refused_left_out(enum attach_method method)
{
	struct attach_set *set = set_of("test", method);
	struct attach_point beyond = {
		.path = "/proc/self/exe", .offset = 1ull << 40, .symbol = "beyond"};
	struct calibration_programs *progs;
	struct calibration *child;
	double ns;

	cr_assert_eq(calibration__start(&child), 0);
	load(method, &progs);
	cr_assert_eq(attach_set__add(set, progs->count, &beyond), 0);
	add_symbol(set, progs->count, "attach_test_vex");
	add_symbol(set, progs->count, "attach_test_lock");
	cr_assert_eq(add(set, progs->count, CALIBRATE_EMULATED, false), 0);
	cr_assert_eq(add(set, progs->count, CALIBRATE_STEPPED, false), 0);
	cr_assert_eq(attach_set__attach(set, calibration__pid(child)), 0, "%s", err__take(0));
	cr_expect_eq(attach_set__cnt(set), 5);
	cr_expect_eq(attach_set__refused(set), 3);
	cr_assert_eq(calibration__run(child, CALIBRATE_EMULATED, 0, 1, 7, &ns), 0);
	cr_assert_eq(calibration__run(child, CALIBRATE_STEPPED, 0, 1, 7, &ns), 0);
	cr_expect_eq(*progs->hits, 14);
	attach_set__free(set);
	calibration_programs__free(progs);
	calibration__stop(child);
}

Test(attach, leaves_refused_points_out_of_multi_link)
{
	NEEDS_ROOT();
	expect_refused_left_out(ATTACH_UPROBE_MULTI);
}

Test(attach, leaves_refused_points_out_of_perf_events)
{
	NEEDS_ROOT();
	expect_refused_left_out(ATTACH_PERF_EVENT);
}

Test(attach, explains_a_process_that_is_gone)
{
	struct calibration_programs *progs;
	struct attach_set *set;
	pid_t pid;

	NEEDS_ROOT();
	pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	load(ATTACH_UPROBE_MULTI, &progs);
	set = set_of("test", ATTACH_UPROBE_MULTI);
	cr_assert_eq(add(set, progs->empty, CALIBRATE_EMULATED, false), 0);
	cr_expect_eq(attach_set__attach(set, pid), -ESRCH);
	cr_expect_not_null(strstr(err__take(-ESRCH), "is gone"));
	attach_set__free(set);
	calibration_programs__free(progs);
}

/* A call that is inside the function when its return probe is removed must still return. */
static volatile int pair_calls;

void attach_test_waits(int fd);
__attribute__((noinline)) void attach_test_waits(int fd)
{
	char byte;

	if (read(fd, &byte, 1) == 1)
		pair_calls++;
}

Test(attach, calls_in_flight_survive_detach)
{
	struct calibration_programs *progs;
	struct attach_set *set;
	int pipes[2], status;
	pid_t pid;

	NEEDS_ROOT();
	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(allowed_returns__add_chosen(&allowed, "attach_test_waits"), 0);
	load(ATTACH_AUTO, &progs);
	set = set_of("test", ATTACH_AUTO);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		attach_test_waits(pipes[0]); /* before attach */
		attach_test_waits(pipes[0]); /* in flight at detach */
		attach_test_waits(pipes[0]); /* after detach */
		_exit(pair_calls == 3 ? 42 : 1);
	}
	{
		struct attach_point p = {
			.path = "/proc/self/exe", .symbol = "attach_test_waits", .is_return = true};
		struct elf_file *f = NULL;
		struct elf_symbol s;

		cr_assert_eq(elf_file__open(p.path, &f), 0);
		cr_assert_eq(elf_file__symbol(f, p.symbol, &s), 0);
		cr_assert_eq(elf_file__offset(f, s.vaddr, &p.offset), 0);
		cr_assert_eq(attach_set__add(set, progs->count, &p), 0);
		elf_file__close(f);
	}
	cr_assert_eq(attach_set__attach(set, pid), 0, "%s", err__take(0));
	cr_assert_eq(write(pipes[1], "x", 1), 1);
	usleep(50000); /* the second call waits in read, with a replaced return address */
	attach_set__detach(set);
	cr_assert_eq(write(pipes[1], "xx", 2), 2);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 42, "status %x", status);
	attach_set__free(set);
	calibration_programs__free(progs);
}

Test(attach, measures_what_a_probe_costs)
{
	struct attach_cost cost;

	NEEDS_ROOT();
	cr_assert_eq(attach_cost__measure(ATTACH_AUTO, &cost), 0, "%s", err__take(0));
	cr_expect_gt(cost.entry_ns, 20);
	cr_expect_lt(cost.entry_ns, 100000);
	cr_expect_gt(cost.stepped_ns, cost.entry_ns);
	cr_expect_gt(cost.entry_return_ns, cost.entry_ns);
}

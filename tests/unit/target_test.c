// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <arpa/inet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "err_key.h"
#include "target/message_table.h"
#include "common/err.h"
#include "common/util.h"
#include "target/rank.h"
#include "target/target.h"
#include "target/target_priv.h"

#define LIB "/usr/lib/x86_64-linux-gnu/libZydis.so.4.0"

int target_test_value = 77;

/* A child that runs `prepare` and then sleeps until it is killed. */
struct child {
	pid_t pid;
	char dir[32];
};

static struct child start_child(void (*prepare)(const char *dir))
{
	struct child c = {.dir = "/tmp/proftrace-test-XXXXXX"};
	int ready[2];
	char byte;

	cr_assert_not_null(mkdtemp(c.dir));
	cr_assert_eq(pipe(ready), 0);
	c.pid = fork();
	cr_assert_geq(c.pid, 0);
	if (c.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prepare(c.dir);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 1, "the child failed to prepare");
	close(ready[0]);
	return c;
}

static void stop_child(struct child *c)
{
	char cmd[64];

	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", c->dir);
	cr_assert_eq(system(cmd), 0);
}

static void copy_lib(const char *dir, char *path, size_t size)
{
	char cmd[256];

	snprintf(path, size, "%s/libcopied.so", dir);
	snprintf(cmd, sizeof(cmd), "cp " LIB " %s", path);
	if (system(cmd) != 0)
		_exit(1);
}

static void prepare_nothing(const char *dir) {}

Test(target, tells_who_a_process_is)
{
	struct child c = start_child(prepare_nothing);
	struct target *t = NULL;
	json_t *json;
	int copy = 0;

	cr_assert_eq(target__open(c.pid, &t), 0);
	cr_expect_eq(t->pid, c.pid);
	cr_expect_eq(t->uid, getuid());
	cr_expect_gt(t->start_time, 0);
	cr_expect_not_null(t->exe);
	cr_expect_not_null(t->argv[0]);
	cr_expect_not(t->is_kthread || t->is_32bit || t->is_static || t->is_stopped);
	cr_expect_not(t->foreign_mnt_ns || t->foreign_pid_ns);
	cr_expect_null(t->python);
	cr_expect_eq(target__read(t, (uint64_t)&target_test_value, &copy, sizeof(copy)), 0);
	cr_expect_eq(copy, 77);
	cr_expect_lt(target__read(t, 16, &copy, sizeof(copy)), 0);
	json = target__json(t);
	cr_assert_not_null(json);
	cr_expect_eq(json_integer_value(json_object_get(json_object_get(json, "process"), "pid")),
		     c.pid);
	json_decref(json);
	cr_expect(target__alive(t));
	stop_child(&c);
	cr_expect_not(target__alive(t));
	target__close(t);
}

Test(target, finds_libraries_with_their_load_bias)
{
	const struct target_lib *libc;
	struct elf_symbol s;
	struct elf_file *elf;
	struct target *t = NULL;

	cr_assert_eq(target__open(getpid(), &t), 0);
	libc = target__find_lib(t, "libc.so*");
	cr_assert_not_null(libc);
	cr_expect_not(libc->deleted);
	elf = target__elf(t, libc);
	cr_assert_not_null(elf);
	cr_expect_eq(target__elf(t, libc), elf, "opened once and kept");
	cr_assert_eq(elf_file__symbol(elf, "getpid", &s), 0);
	cr_expect_eq(libc->base + s.vaddr, (uint64_t)dlsym(RTLD_DEFAULT, "getpid"));
	cr_expect_null(target__find_lib(t, "libnothing*"));
	target__close(t);
}

static void prepare_deleted(const char *dir)
{
	char path[64];

	copy_lib(dir, path, sizeof(path));
	if (!dlopen(path, RTLD_NOW) || unlink(path) < 0)
		_exit(1);
}

static void prepare_replaced(const char *dir)
{
	char path[64], cmd[256];

	copy_lib(dir, path, sizeof(path));
	snprintf(cmd, sizeof(cmd), "cp " LIB " %s.new && mv %s.new %s", path, path, path);
	if (!dlopen(path, RTLD_NOW) || system(cmd) != 0)
		_exit(1);
}

static void expect_deleted(void (*prepare)(const char *))
{
	struct child c = start_child(prepare);
	const struct target_lib *lib;
	struct elf_symbol s;
	struct target *t = NULL;
	struct elf_file *elf;

	cr_assert_eq(target__open(c.pid, &t), 0);
	lib = target__find_lib(t, "libcopied.so");
	cr_assert_not_null(lib);
	cr_expect(lib->deleted);
	cr_expect_not_null(strstr(lib->host_path, "/map_files/"));
	elf = target__elf(t, lib);
	cr_assert_not_null(elf);
	cr_expect_eq(elf_file__symbol(elf, "ZydisDecoderInit", &s), 0);
	target__close(t);
	stop_child(&c);
}

Test(target, opens_deleted_library)
{
	if (geteuid() != 0)
		cr_skip_test("map_files needs root");
	expect_deleted(prepare_deleted);
}

Test(target, opens_library_replaced_on_disk)
{
	if (geteuid() != 0)
		cr_skip_test("map_files needs root");
	expect_deleted(prepare_replaced);
}

/* A container in small: own mount namespace, the library at a path that means nothing outside. */
static void prepare_container(const char *dir)
{
	char path[64], inner[64];
	FILE *f;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", dir, "tmpfs", 0, NULL) < 0)
		_exit(1);
	copy_lib(dir, path, sizeof(path));
	snprintf(inner, sizeof(inner), "%s/version.py", dir);
	f = fopen(inner, "w");
	if (!f || fputs("inside\n", f) < 0 || fclose(f) != 0 || !dlopen(path, RTLD_NOW))
		_exit(1);
	snprintf(inner, sizeof(inner), "%s/pipe", dir);
	if (mkfifo(inner, 0600) < 0)
		_exit(1);
}

Test(target, sees_through_mount_namespace)
{
	const struct target_lib *lib;
	struct target *t = NULL;
	auto_free char *text = NULL;
	struct child c;
	char path[64];

	if (geteuid() != 0)
		cr_skip_test("a mount namespace needs root");
	c = start_child(prepare_container);
	cr_assert_eq(target__open(c.pid, &t), 0);
	cr_expect(t->foreign_mnt_ns);
	lib = target__find_lib(t, "libcopied.so");
	cr_assert_not_null(lib);
	cr_expect_not(lib->deleted);
	snprintf(path, sizeof(path), "/proc/%d/root/", c.pid);
	cr_expect_eq(strncmp(lib->host_path, path, strlen(path)), 0);
	cr_expect_not_null(target__elf(t, lib));
	snprintf(path, sizeof(path), "%s/version.py", c.dir);
	text = target__read_file(t, path, NULL);
	cr_assert_not_null(text);
	cr_expect_str_eq(text, "inside\n");
	snprintf(path, sizeof(path), "%s/pipe", c.dir);
	cr_expect_null(target__read_file(t, path, NULL), "a pipe would block us");
	target__close(t);
	stop_child(&c);
}

/* The file at the library's path was mounted over after it was mapped. */
static void prepare_overmounted(const char *dir)
{
	char path[64];

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(1);
	copy_lib(dir, path, sizeof(path));
	if (!dlopen(path, RTLD_NOW) || mount("/etc/hostname", path, NULL, MS_BIND, NULL) < 0)
		_exit(1);
}

Test(target, is_not_fooled_by_bind_mount)
{
	const struct target_lib *lib;
	struct target *t = NULL;
	struct child c;

	if (geteuid() != 0)
		cr_skip_test("a mount namespace needs root");
	c = start_child(prepare_overmounted);
	cr_assert_eq(target__open(c.pid, &t), 0);
	lib = target__find_lib(t, "libcopied.so");
	cr_assert_not_null(lib);
	cr_expect_not_null(target__elf(t, lib));
	target__close(t);
	stop_child(&c);
}

Test(target, knows_its_pid_inside_pid_namespace)
{
	char child_path[64];
	auto_free char *children = NULL;
	struct target *t = NULL;
	pid_t pid, inner = 0;

	if (geteuid() != 0)
		cr_skip_test("a pid namespace needs root");
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execlp("unshare", "unshare", "--pid", "--fork", "--kill-child", "sleep", "60",
		       NULL);
		_exit(1);
	}
	snprintf(child_path, sizeof(child_path), "/proc/%d/task/%d/children", pid, pid);
	for (int i = 0; i < 500 && !inner; i++) {
		usleep(10000);
		free(children);
		children = file__read(child_path, NULL);
		inner = children ? atoi(children) : 0;
	}
	cr_assert_gt(inner, 0);
	cr_assert_eq(target__open(inner, &t), 0);
	cr_expect(t->foreign_pid_ns);
	cr_expect_eq(t->ns_pid, 1);
	target__close(t);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void *sleep_named(void *tid)
{
	prctl(PR_SET_NAME, "worker thread");
	*(volatile pid_t *)tid = (pid_t)syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

Test(target, refuses_thread_ids_and_lists_threads)
{
	struct target_thread *threads = NULL;
	volatile pid_t tid = 0;
	struct target *t = NULL;
	bool found = false;
	pthread_t thread;
	size_t cnt;

	cr_assert_eq(pthread_create(&thread, NULL, sleep_named, (void *)&tid), 0);
	while (!tid)
		usleep(1000);
	cr_expect_eq(target__open(tid, &t), -EINVAL);
	EXPECT_ERR(MESSAGE_PROCESS_IS_THREAD);
	cr_assert_eq(target__open(getpid(), &t), 0);
	cr_assert_eq(target__threads(t, &threads, &cnt), 0);
	for (size_t i = 0; i < cnt; i++)
		found |= threads[i].tid == tid && strcmp(threads[i].comm, "worker thread") == 0;
	cr_expect(found);
	free(threads);
	target__close(t);
}

Test(target, explains_why_it_cannot_open)
{
	struct target *t = NULL;
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	cr_expect_eq(target__open(pid, &t), -ESRCH);
	/* we have not collected its status, like proftrace run */
	EXPECT_ERR(MESSAGE_PROCESS_ENDED_EARLY);
	waitpid(pid, NULL, 0);
	cr_expect_eq(target__open(pid, &t), -ESRCH);
	EXPECT_ERR(MESSAGE_PROCESS_MISSING);
	cr_expect_null(t);
}

Test(target, names_missing_capability)
{
	struct target *t = NULL;
	int err;

	if (geteuid() != 0)
		cr_skip_test("needs a process of another user");
	cr_assert_eq(setresuid(65534, 65534, 65534), 0);
	err = target__open(1, &t);
	cr_expect(err == -EACCES || err == -EPERM, "%d", err);
	cr_expect_str_eq(err__key(), MESSAGE_KEY(MESSAGE_PROCESS_NOT_PERMITTED));
	cr_expect_not_null(strstr(err__take(err), "CAP_SYS_PTRACE"));
}

Test(target, opens_kernel_thread)
{
	struct target *t = NULL;

	if (geteuid() != 0 || access("/proc/2/stat", R_OK) < 0)
		cr_skip_test("no kernel thread in sight");
	cr_assert_eq(target__open(2, &t), 0);
	cr_expect(t->is_kthread);
	cr_expect_eq(t->lib_cnt, 0);
	target__close(t);
}

static void prepare_static(const char *dir)
{
	char cmd[256];
	pid_t pid;

	snprintf(cmd, sizeof(cmd),
		 "echo 'int pause(void); int main(void){for(;;) pause();}' |"
		 "cc -x c -static -o %s/static - && mkfifo %s/never",
		 dir, dir);
	if (system(cmd) != 0)
		_exit(1);
	snprintf(cmd, sizeof(cmd), "%s/static", dir);
	pid = vfork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(cmd, "static", NULL);
		_exit(1);
	}
	snprintf(cmd, sizeof(cmd), "echo %d > %s/pid", pid, dir);
	if (system(cmd) != 0)
		_exit(1);
}

Test(target, flags_static_program)
{
	struct child c = start_child(prepare_static);
	auto_free char *pid = NULL;
	struct target *t = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%s/pid", c.dir);
	pid = file__read(path, NULL);
	cr_assert_not_null(pid);
	cr_assert_eq(target__open(atoi(pid), &t), 0);
	cr_expect(t->is_static);
	cr_expect_not(t->is_32bit);
	target__close(t);
	stop_child(&c);
}

static pid_t worker;

static bool is_worker(pid_t pid)
{
	return pid == worker;
}

static pid_t start_worker(const char *name)
{
	int ready[2];
	char byte;
	pid_t pid;

	cr_assert_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		close(ready[0]);
		close(ready[1]);
		pause();
		_exit(1);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

static bool is_any(pid_t pid)
{
	return pid != getpid();
}

static void set_own_rank(const char *dir)
{
	(void)dir;
	setenv("RANK", "3", 1);
	setenv("LOCAL_RANK", "1", 1);
	setenv("WORLD_SIZE", "8", 1);
}

Test(target, finds_the_rank_that_a_process_set_itself)
{
	struct child c = start_child(set_own_rank);
	int rank, local_rank, world_size;
	struct target *t;
	struct ranks ranks;

	rank__read(c.pid, &rank, &local_rank, &world_size);
	cr_expect_eq(rank, -1, "it was started without");
	cr_expect_eq(rank__find(c.pid), 3);
	cr_assert_eq(target__open(c.pid, &t), 0);
	cr_expect_eq(t->rank, 3);
	cr_expect_eq(t->local_rank, 1);
	cr_expect_eq(t->world_size, 8);
	target__close(t);
	cr_assert_eq(ranks__of_launcher(getpid(), is_any, &ranks), 0);
	cr_assert_eq(ranks.cnt, 1);
	cr_expect_eq(ranks.items[0].pid, c.pid);
	cr_expect_eq(ranks.items[0].rank, 3);
	ranks__clear(&ranks);
	stop_child(&c);
}

/* The damaged data in place of its variables is read, but no pointer in it is followed. */
static void damage_environment(const char *dir)
{
	static char *list[5000];
	static char unended[8192];
	char *page_end = unended + sizeof(unended) - (uintptr_t)unended % 4096;

	(void)dir;
	memset(unended, 'x', sizeof(unended));
	for (size_t i = 0; i < ARRAY_SIZE(list) - 1; i++)
		list[i] = i % 2 ? unended : (char *)8;
	list[1] = page_end - 4;
	list[3] = "RANK=5";
	list[4500] = "RANK=6";
	environ = list;
}

Test(target, reads_a_damaged_environment)
{
	struct child c = start_child(damage_environment);

	cr_expect_eq(rank__find(c.pid), 5);
	stop_child(&c);
}

static void forget_environment(const char *dir)
{
	(void)dir;
	environ = (char **)16;
}

Test(target, has_no_rank_without_an_environment)
{
	struct child c = start_child(forget_environment);

	cr_expect_eq(rank__find(c.pid), -1);
	stop_child(&c);
}

/* torch.multiprocessing.spawn passes the rank as an argument. */
Test(target, finds_ranks_by_threads_of_a_process_group)
{
	struct ranks ranks;

	worker = start_worker("pt_gloo_runloop");
	cr_assert_eq(ranks__of_launcher(getpid(), is_worker, &ranks), 0);
	cr_assert_eq(ranks.cnt, 1);
	cr_expect_eq(ranks.items[0].pid, worker);
	cr_expect_eq(ranks.items[0].rank, -1);
	cr_expect_eq(ranks.missing_cnt, 0);
	ranks__clear(&ranks);
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
}

static int connect_to(uint16_t port)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = htons(port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(fd, (const struct sockaddr *)&to, sizeof(to)))
		_exit(2);
	return fd;
}

/* A rank, and a worker that was forked from it. port: of the store, 0: it serves it; goes to `out`.
 */
static pid_t start_rank(uint16_t port, int out)
{
	struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(own);
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!port) {
		prctl(PR_SET_NAME, "pt_tcpstore_uv");
		fd = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(fd, (const struct sockaddr *)&own, len) || listen(fd, 4) ||
		    getsockname(fd, (struct sockaddr *)&own, &len))
			_exit(2);
		port = ntohs(own.sin_port);
	}
	connect_to(port);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
	}
	if (write(out, &port, sizeof(port)) != sizeof(port))
		_exit(2);
	pause();
	_exit(1);
}

/* The threads of NCCL, which have no names. */
Test(target, finds_ranks_by_the_store_that_they_share)
{
	struct ranks ranks;
	pid_t server, client;
	uint16_t port;
	int from[2];

	cr_assert_eq(pipe(from), 0);
	server = start_rank(0, from[1]);
	cr_assert_eq(read(from[0], &port, sizeof(port)), sizeof(port));
	client = start_rank(port, from[1]);
	cr_assert_eq(read(from[0], &port, sizeof(port)), sizeof(port));
	cr_assert_eq(ranks__of_launcher(getpid(), is_any, &ranks), 0);
	cr_assert_eq(ranks.cnt, 2);
	cr_expect_eq(ranks.items[0].pid + ranks.items[1].pid, server + client);
	cr_expect_eq(ranks.items[0].rank, -1);
	cr_expect_eq(ranks.missing_cnt, 0); /* the workers are theirs */
	ranks__clear(&ranks);
	kill(server, SIGKILL);
	kill(client, SIGKILL);
	waitpid(server, NULL, 0);
	waitpid(client, NULL, 0);
}

static pid_t second;

static bool is_one_of_two(pid_t pid)
{
	return pid == worker || pid == second;
}

Test(target, names_who_has_not_joined_the_ranks_yet)
{
	struct ranks ranks;

	worker = start_worker("pt_gloo_runloop");
	second = start_worker("python");
	cr_assert_eq(ranks__of_launcher(getpid(), is_one_of_two, &ranks), 0);
	cr_assert_eq(ranks.cnt, 1);
	cr_expect_eq(ranks.items[0].pid, worker);
	cr_assert_eq(ranks.missing_cnt, 1);
	cr_expect_eq(ranks.missing[0], second);
	ranks__clear(&ranks);
	kill(worker, SIGKILL);
	kill(second, SIGKILL);
	waitpid(worker, NULL, 0);
	waitpid(second, NULL, 0);
}

static pid_t start_told(const char *role)
{
	const char *const env[] = {role, NULL};
	int ready[2];
	char byte;
	pid_t pid;

	cr_assert_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execle("/bin/sleep", "sleep", "1000", NULL, env);
		_exit(1);
	}
	close(ready[1]);
	cr_assert_eq(read(ready[0], &byte, 1), 0);
	close(ready[0]);
	return pid;
}

/* MXNet's, whose tracker would have numbered them. */
Test(target, finds_workers_by_their_role)
{
	struct ranks ranks;
	pid_t server;

	worker = start_told("DMLC_ROLE=worker");
	second = start_told("DMLC_ROLE=worker");
	server = start_told("DMLC_ROLE=server");
	cr_assert_eq(ranks__of_launcher(getpid(), is_any, &ranks), 0);
	cr_assert_eq(ranks.cnt, 2);
	cr_expect_eq(ranks.items[0].pid + ranks.items[1].pid, worker + second);
	cr_expect_eq(ranks.items[0].rank, -1);
	cr_expect_eq(ranks.missing_cnt, 0);
	cr_assert_eq(ranks.serving_cnt, 1);
	cr_expect_eq(ranks.serving[0], server);
	ranks__clear(&ranks);
	cr_assert_eq(ranks__of_launcher(getpid(), is_worker, &ranks), 0);
	cr_expect_eq(ranks.cnt, 1);
	cr_assert_eq(ranks.missing_cnt, 1);
	cr_expect_eq(ranks.missing[0], second); /* has not loaded a framework yet */
	ranks__clear(&ranks);
	kill(worker, SIGKILL);
	kill(second, SIGKILL);
	kill(server, SIGKILL);
	waitpid(worker, NULL, 0);
	waitpid(second, NULL, 0);
	waitpid(server, NULL, 0);
}

Test(target, names_who_works_where_nobody_has_a_rank)
{
	struct ranks ranks;

	worker = start_worker("python");
	cr_expect_eq(ranks__of_launcher(getpid(), is_worker, &ranks), -ENOENT);
	EXPECT_ERR(MESSAGE_RANKS_MISSING_SUGGESTED);
	cr_assert_eq(ranks.missing_cnt, 1);
	cr_expect_eq(ranks.missing[0], worker);
	ranks__clear(&ranks);
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
	cr_expect_eq(ranks__of_launcher(getpid(), is_worker, &ranks), -ENOENT);
	cr_expect_eq(ranks.missing_cnt, 0);
	EXPECT_ERR(MESSAGE_RANKS_MISSING);
}

Test(target, reads_rank_and_python)
{
	struct target *t = NULL;
	char expected[32] = "";
	pid_t pid;
	FILE *f;

	f = popen("python3 -c 'import platform; print(platform.python_version())'", "r");
	cr_assert_not_null(f);
	cr_assert_not_null(fgets(expected, sizeof(expected), f));
	cr_assert_eq(pclose(f), 0);
	expected[strcspn(expected, "\n")] = '\0';
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("RANK", "3", 1);
		setenv("WORLD_SIZE", "8", 1);
		setenv("SLURM_LOCALID", "1", 1);
		execlp("python3", "python3", "-c", "import time; time.sleep(60)", NULL);
		_exit(1);
	}
	/* until it has become Python; during exec it has no memory at first, and then not all its
	 * libraries */
	for (int i = 0; i < 500; i++) {
		usleep(10000);
		if (target__open(pid, &t))
			continue;
		if (t->python && !strcmp(t->python, expected) && t->world_size == 8)
			break;
		target__close(t);
		t = NULL;
	}
	cr_assert_not_null(t);
	cr_expect_str_eq(t->python, expected);
	cr_expect_eq(t->rank, 3);
	cr_expect_eq(t->world_size, 8);
	cr_expect_eq(t->local_rank, 1);
	target__close(t);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* setproctitle leaves NUL bytes where the arguments were. */
Test(target, arguments_end_before_what_a_title_left)
{
	static const char title[64] = "VLLM::Worker", middle[] = "a\0\0b", blank[] = "";
	char **argv;

	cr_assert_eq(target_argv__split(title, sizeof(title), &argv), 0);
	cr_assert_str_eq(argv[0], "VLLM::Worker");
	cr_assert_null(argv[1]);
	free(argv[0]);
	free(argv);

	cr_assert_eq(target_argv__split(middle, sizeof(middle), &argv), 0);
	cr_assert_str_eq(argv[0], "a");
	cr_assert_str_eq(argv[1], "");
	cr_assert_str_eq(argv[2], "b");
	cr_assert_null(argv[3]);
	for (char **arg = argv; *arg; arg++)
		free(*arg);
	free(argv);

	cr_assert_eq(target_argv__split(blank, sizeof(blank), &argv), 0);
	cr_assert_str_eq(argv[0], "");
	cr_assert_null(argv[1]);
	free(argv[0]);
	free(argv);
}

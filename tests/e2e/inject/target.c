// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that would notice: each thread repeats something whose result is known and counts what
 * differs. `target KIND...` runs one thread per KIND (and the main thread in pause) until SIGTERM,
 * then prints "ok ROUNDS" or what went wrong.
 */
#include <dlfcn.h>
#include <errno.h>
#include <immintrin.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static atomic_bool stop;
static atomic_long rounds, failures;
static __thread volatile long handled;

static void fail(const char *what)
{
	if (stop) /* SIGTERM itself interrupts */
		return;
	if (failures++ < 20)
		fprintf(stderr, "failed: %s (%s)\n", what, strerror(errno));
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- kinds of threads ---- */

static void round_malloc(void)
{
	unsigned char *p[64];

	for (unsigned int i = 0; i < 64; i++) {
		p[i] = malloc(16 + i * 97);
		memset(p[i], (int)i, 16 + i * 97);
	}
	for (unsigned int i = 0; i < 64; i++) {
		if (p[i][0] != i || p[i][15 + i * 97] != i)
			fail("malloc: contents");
		free(p[i]);
	}
}

static void round_dlopen(void)
{
	void *lib = dlopen("libutil.so.1", RTLD_NOW), *m = dlopen("libresolv.so.2", RTLD_NOW);

	if (!m || !dlsym(m, "ns_name_ntop"))
		fail("dlopen");
	if (m)
		dlclose(m);
	if (lib)
		dlclose(lib);
	usleep(300);
}

/* Registers of all kinds hold values across the whole loop, which makes no call. */
static void round_compute(void)
{
	__m128d v = _mm_set_pd(1.0, 3.0);
	unsigned long a = 1, b = 2, c = 3, d = 5;
	double s[2];

	for (int i = 0; i < 300000; i++) {
		v = _mm_add_pd(_mm_mul_pd(v, _mm_set1_pd(0.5)), _mm_set1_pd(1.0));
		a = a * 6364136223846793005ul + 1442695040888963407ul;
		b ^= a >> 7;
		c += b;
		d = (d << 1 | d >> 63) ^ c;
	}
	_mm_storeu_pd(s, v);
	static unsigned long first;
	unsigned long sum = a ^ b ^ c ^ d;

	if (!first)
		first = sum;
	if (sum != first || s[0] != 2.0 || s[1] != 2.0)
		fail("compute: registers");
}

static void round_nanosleep(void)
{
	struct timespec t = {.tv_nsec = 5000000}, left;
	double before = now_s();

	if (nanosleep(&t, &left) < 0)
		fail("nanosleep: interrupted");
	if (now_s() - before < 0.005)
		fail("nanosleep: too short");
}

static void round_poll(void)
{
	static __thread int fds[2];
	struct pollfd p;

	if (!fds[1] && pipe(fds) < 0)
		abort();
	p = (struct pollfd){.fd = fds[0], .events = POLLIN};
	if (poll(&p, 1, 7) != 0)
		fail("poll");
}

static void round_epoll(void)
{
	static __thread int fd;
	struct epoll_event e;

	if (!fd)
		fd = epoll_create1(0);
	if (epoll_wait(fd, &e, 1, 6) != 0)
		fail("epoll_wait");
}

/* Blocks in read until the partner has written. The partner is the thread before this one. Bytes
 * must come in order. */
static int pingpong[2], pongping[2];
static void round_read(void)
{
	static unsigned char expected;
	unsigned char c;

	if (read(pingpong[0], &c, 1) != 1 || c != expected++)
		fail("read");
	if (write(pongping[1], &c, 1) != 1)
		fail("write");
}

static void round_write(void)
{
	static unsigned char next;
	unsigned char c = next++, back;

	usleep(300);
	if (write(pingpong[1], &c, 1) != 1 || read(pongping[0], &back, 1) != 1 || back != c)
		fail("write, read");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long guarded, guarded_twin;

static void round_cond(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 2000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &until);
	if (guarded != guarded_twin)
		fail("mutex: not held");
	guarded++;
	guarded_twin++;
	pthread_mutex_unlock(&mutex);
	pthread_cond_signal(&cond);
}

static void round_fork(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		free(malloc(1000));
		_exit(7);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		fail("fork");
	usleep(2000);
}

/* A signal that interrupts a read which would never end: lost or restarted, it hangs here. */
static void on_usr1(int sig)
{
	char buf[64];
	long n = handled++;

	snprintf(buf, sizeof(buf), "%ld", n);
	if (!buf[0])
		abort();
}

static void round_eintr(void)
{
	static int never[2];
	/* The timer repeats, because on a busy machine its first signal may come before the
	 * read. */
	struct itimerspec in = {.it_value.tv_nsec = 3000000, .it_interval.tv_nsec = 3000000};
	struct sigevent ev = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
	timer_t timer;
	long before = handled;
	char c;

	if (!never[1] && pipe(never) < 0)
		abort();
	ev._sigev_un._tid = (int)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) < 0 ||
	    timer_settime(timer, 0, &in, NULL) < 0)
		abort();
	if (read(never[0], &c, 1) != -1 || errno != EINTR)
		fail("read: not interrupted by a signal");
	if (handled == before)
		fail("signal: not handled");
	timer_delete(timer);
}

/* Timers interrupt any code, with a handler that has SA_RESTART. */
static void on_alarm(int sig)
{
	handled++;
}

static void round_itimer(void)
{
	static int once;

	if (!once++) {
		struct itimerval it = {{0, 1000}, {0, 1000}};

		setitimer(ITIMER_REAL, &it, NULL);
	}
	for (volatile int i = 0; i < 200000; i++)
		;
}

/* Nearly always inside a handler, which sleeps: never to be borrowed there. */
static void on_usr2(int sig)
{
	struct timespec t = {.tv_nsec = 4000000};

	nanosleep(&t, NULL);
	handled++;
}

static void round_handler(void)
{
	pthread_kill(pthread_self(), SIGUSR2);
}

static void round_exit(void)
{
	pthread_t t;
	void *(*body)(void *) = (void *(*)(void *))(void *)getenv;
	static char name[] = "HOME";

	if (pthread_create(&t, NULL, body, name) || pthread_join(t, NULL))
		fail("pthread_create");
}

static const struct kind {
	const char *name;
	void (*round)(void);
} kinds[] = {
	{"malloc", round_malloc},   {"dlopen", round_dlopen}, {"compute", round_compute},
	{"sleep", round_nanosleep}, {"poll", round_poll},     {"epoll", round_epoll},
	{"read", round_read},	    {"write", round_write},   {"cond", round_cond},
	{"fork", round_fork},	    {"eintr", round_eintr},   {"itimer", round_itimer},
	{"handler", round_handler}, {"threads", round_exit},
};

/* Signals of the timer and of the sleeping handler go only to the threads made for them. */
static void choose_signals(const struct kind *kind)
{
	sigset_t all;

	sigemptyset(&all);
	if (kind->round != round_itimer)
		sigaddset(&all, SIGALRM);
	if (kind->round != round_handler)
		sigaddset(&all, SIGUSR2);
	if (kind->round != round_eintr)
		sigaddset(&all, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
}

static void *run(void *arg)
{
	const struct kind *kind = arg;

	choose_signals(kind);

	while (!stop) {
		kind->round();
		rounds++;
	}
	return NULL;
}

/* ---- seccomp: everything is allowed but one call, which kills or fails ---- */

static void forbid(int nr, unsigned int action)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {.len = 4, .filter = insns};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		abort();
}

static void install_handlers(void)
{
	struct sigaction usr1 = {.sa_handler = on_usr1};
	struct sigaction restart = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct sigaction usr2 = {.sa_handler = on_usr2, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &usr1, NULL);
	sigaction(SIGALRM, &restart, NULL);
	sigaction(SIGUSR2, &usr2, NULL);
}

static const struct kind *find_kind(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	abort();
}

static void on_term(int sig)
{
	stop = true;
}

/* Starts what the arguments ask for. Returns the kind for the main thread itself, or NULL. */
static const struct kind *obey(int argc, char **argv)
{
	const struct kind *own = NULL;
	pthread_t t;
	int nr;

	for (int i = 1; i < argc; i++) {
		if (sscanf(argv[i], "kill:%d", &nr) == 1)
			forbid(nr, SECCOMP_RET_KILL_PROCESS);
		else if (sscanf(argv[i], "errno:%d", &nr) == 1)
			forbid(nr, SECCOMP_RET_ERRNO | ENOSYS);
		else if (strncmp(argv[i], "alone:", 6) == 0)
			own = find_kind(argv[i] + 6);
		else if (pthread_create(&t, NULL, run, (void *)find_kind(argv[i])))
			abort();
	}
	return own;
}

int main(int argc, char **argv)
{
	const struct kind *own;
	sigset_t term;
	int sig;

	install_handlers();
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, NULL);
	if (pipe(pingpong) < 0 || pipe(pongping) < 0)
		return 1;
	own = obey(argc, argv);
	printf("ready\n");
	fflush(stdout);
	if (own) {
		signal(SIGTERM, on_term);
		sigprocmask(SIG_UNBLOCK, &term, NULL);
		run((void *)own);
	} else {
		sigaddset(&term, SIGALRM);
		sigprocmask(SIG_BLOCK, &term, NULL);
		sigdelset(&term, SIGALRM);
		sigwait(&term, &sig);
	}
	stop = true;
	usleep(100000);
	printf("%s %ld\n", failures ? "FAILED" : "ok", (long)rounds);
	fflush(stdout);
	_exit(failures != 0);
}

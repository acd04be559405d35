// SPDX-License-Identifier: BSD-2-Clause
/* Disks that fill up, places that refuse files, and incomplete writes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include "common/err.h"
#include "common/util.h"
#include "recording/sink.h"
#include "recording_sample.h"

static int create(const char *path, struct recording_writer **w)
{
	json_t *meta = json_object();
	int err = recording_writer__create(path, meta, w);

	json_decref(meta);
	return err;
}

/* Events that do not compress well, until the writer has had enough or cnt are in. */
static int write_noise(struct recording_writer *w, uint64_t cnt)
{
	uint64_t x = 88172645463325252ull;
	int err = 0;

	for (uint64_t i = 0; i < cnt && !err; i++) {
		struct event e = {.type = EVENT_DEVICE, .track = 1, .name = 1, .ts_ns = i};

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		e.id = x >> 1;
		err = recording_writer__event(w, &e);
		if (!err && i % 1000 == 999)
			err = recording_writer__flush(w);
	}
	return err;
}

static int create_in_memory(int memfd, struct recording_writer **w)
{
	json_t *meta = json_object();
	struct sink sink;
	int err = sink__open_memory(&sink, memfd, "in memory");

	if (!err)
		err = recording_writer__begin(&sink, meta, w);
	json_decref(meta);
	return err;
}

Test(recording_output, memory_gets_the_bytes_that_a_file_gets)
{
	const char *path = "/tmp/pt_unit_output_memory.ptrec";
	auto_close int memfd = memfd_create("test", MFD_CLOEXEC);
	auto_close int fd = -1;
	struct recording_writer *in_file, *in_memory;
	static char a[1 << 20], b[1 << 20];
	ssize_t len;

	cr_assert_eq(create(path, &in_file), 0);
	cr_assert_eq(create_in_memory(memfd, &in_memory), 0);
	cr_assert_eq(write_noise(in_file, 5000), 0);
	cr_assert_eq(write_noise(in_memory, 5000), 0);
	cr_assert_eq(recording_writer__close(in_file, NULL), 0);
	cr_assert_eq(recording_writer__close(in_memory, NULL), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = pread(fd, a, sizeof(a), 0);
	cr_assert_gt(len, 5000 * 8);
	cr_assert_eq(pread(memfd, b, sizeof(b), 0), len);
	cr_assert_arr_eq(a, b, (size_t)len);
	unlink(path);
}

Test(recording_output, memory_that_is_refused_is_told)
{
	auto_close int memfd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct recording_writer *w;

	cr_assert_eq(create_in_memory(memfd, &w), 0);
	cr_assert_eq(fcntl(memfd, F_ADD_SEALS, F_SEAL_GROW), 0);
	cr_assert_eq(write_noise(w, 5000), -EPERM);
	cr_assert_neq(strstr(err__take(0), "cannot write recording in memory after "), NULL);
	cr_assert_eq(recording_writer__close(w, NULL), -EPERM);
}

Test(recording_output, a_full_disk_is_told_with_file_cause_and_next_step)
{
	struct recording_writer *w;
	const char *text;

	cr_assert_eq(create("/dev/full", &w), -ENOSPC);
	text = err__take(-ENOSPC);
	cr_expect_not_null(strstr(text, "/dev/full"));
	cr_expect_not_null(strstr(text, strerror(ENOSPC)));
	cr_expect_not_null(strstr(text, "free some space"));
}

Test(recording_output, an_unwritable_place_is_told)
{
	struct recording_writer *w;

	cr_assert_eq(create("/nonexistent/dir/file", &w), -ENOENT);
	cr_expect_not_null(strstr(err__take(-ENOENT), "/nonexistent/dir/file"));
	cr_assert_eq(create("/", &w), -EISDIR);
	cr_expect_not_null(strstr(err__take(-EISDIR), "not a directory"));
}

Test(recording_output, an_earlier_recording_moves_aside)
{
	auto_free char *path = sample__path(), *old = NULL;
	struct sample_reading reading;
	struct recording_writer *w;

	cr_assert_neq(asprintf(&old, "%s.old", path), -1);
	sample__write(path, 100);
	cr_assert_eq(create(path, &w), 0);
	cr_assert_eq(recording_writer__close(w, NULL), 0);
	cr_assert_eq(sample__read(old, &reading), 0);
	cr_expect(reading.prefix);
	cr_expect(gt(sz, reading.events, 0));
	cr_assert_eq(sample__read(path, &reading), 0);
	cr_expect(zero(sz, reading.events));
	unlink(path);
	unlink(old);
}

Test(recording_output, what_is_no_recording_is_not_overwritten)
{
	auto_free char *path = sample__path();
	static const char precious[] = "the only copy of a thesis, in which nobody looked";
	struct recording_writer *w;
	struct blob left;

	sample__store(path, precious, sizeof(precious));
	cr_assert_eq(create(path, &w), -EEXIST);
	cr_expect_not_null(strstr(err__take(-EEXIST), "choose another place with -o"));
	left = sample__load(path);
	cr_expect(eq(sz, left.len, sizeof(precious)));
	cr_expect_arr_eq(left.data, precious, sizeof(precious));
	free(left.data);
	unlink(path);
}

/* The limit is reached within a chunk, like a full disk: half of the chunk is written and the rest
 * refused. */
Test(recording_output, the_first_error_sticks_and_whole_chunks_stay)
{
	auto_free char *path = sample__path();
	const struct rlimit limit = {100000, 100000};
	struct event e = {.type = EVENT_INSTANT, .id = EVENT_NO_ID};
	struct recording_writer *w;
	struct recording *r;
	uint64_t bytes;

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	cr_assert_eq(create(path, &w), 0);
	cr_assert_eq(write_noise(w, 1000000), -EFBIG);
	cr_expect_not_null(strstr(err__take(-EFBIG), path));
	bytes = recording_writer__bytes(w);
	cr_expect(eq(int, recording_writer__event(w, &e), -EFBIG));
	cr_expect(eq(int, recording_writer__flush(w), -EFBIG));
	cr_expect(eq(u32, recording_writer__name(w, CAT_USER, "x", NULL), 0));
	cr_expect(eq(u64, recording_writer__bytes(w), bytes));
	cr_expect(eq(int, recording_writer__close(w, NULL), -EFBIG));

	cr_assert_eq(recording__open(path, &r), 0);
	cr_expect(gt(u64, recording__event_cnt(r), 5000));
	cr_expect(zero(u64, recording__event_cnt(r) % 1000));
	cr_expect(recording__damage(r)->truncated);
	cr_expect(zero(u64, recording__damage(r)->ignored_bytes));
	recording__close(r);
	unlink(path);
}

struct drain {
	const char *from, *to;
};

/* Reads slowly, so that the writer's pipe is full when a signal comes. */
static void *drain_slowly(void *arg)
{
	const struct drain *d = arg;
	auto_close int in = open(d->from, O_RDONLY);
	auto_close int out = open(d->to, O_WRONLY | O_TRUNC);
	char buf[3001];
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0) {
		if (write(out, buf, (size_t)n) != n)
			return arg;
		usleep(200);
	}
	return NULL;
}

static volatile sig_atomic_t ticks;
static void count_tick(int sig)
{
	ticks++;
}

Test(recording_output, interrupted_and_short_writes_lose_nothing, .timeout = 60)
{
	auto_free char *fifo = sample__path(), *copy = sample__path();
	struct sigaction sa = {.sa_handler = count_tick}; /* no SA_RESTART: writes break off */
	struct itimerval timer = {{0, 700}, {0, 700}}, off = {0};
	struct drain drain = {fifo, copy};
	struct recording_writer *w;
	struct recording *r;
	json_t *summary = json_object();
	pthread_t thread;
	sigset_t alarm;
	void *failed;

	unlink(fifo);
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	cr_assert_eq(pthread_create(&thread, NULL, drain_slowly, &drain), 0);
	cr_assert_eq(create(fifo, &w), 0);
	sigaction(SIGALRM, &sa, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	cr_assert_eq(write_noise(w, 20000), 0);
	cr_assert_eq(recording_writer__close(w, summary), 0);
	setitimer(ITIMER_REAL, &off, NULL);
	pthread_join(thread, &failed);
	cr_assert_null(failed);
	cr_expect(gt(int, ticks, 10));

	cr_assert_eq(recording__open(copy, &r), 0);
	cr_expect(eq(u64, recording__event_cnt(r), 20000));
	cr_expect_not(recording__damage(r)->truncated);
	cr_expect(
		zero(u64, recording__damage(r)->bad_chunks + recording__damage(r)->ignored_bytes));
	recording__close(r);
	json_decref(summary);
	unlink(fifo);
	unlink(copy);
}

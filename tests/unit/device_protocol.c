// SPDX-License-Identifier: BSD-2-Clause
/* The memory shared with the library in the target: its rings, with correct and with hostile
 * producers. */
#include "common/util.h"
#include "device/shim_link.h"
#include "device/shim_request.h"
#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* The target's side of the file. */
static struct shim_link *link_;
static struct shim_control *target;

static void open_both(void)
{
	int fd;

	cr_assert_eq(shim_link__create(&link_), 0);
	fd = open(shim_link__path(link_), O_RDWR);
	cr_assert(fd >= 0);
	target = mmap(NULL, SHIM_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert(target != MAP_FAILED);
	close(fd);
}

static void close_both(void)
{
	shim_link__free(link_);
	munmap(target, SHIM_FILE_BYTES);
}

TestSuite(device_protocol, .init = open_both, .fini = close_both, .timeout = 60);

struct seen {
	uint64_t cnt, sum, last, disorder;
	uint32_t tid;
};

static int take_call(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	struct seen *s = ctx;

	s[ring].disorder += call->end_ns <= s[ring].last && s[ring].cnt;
	s[ring].last = call->end_ns;
	s[ring].cnt++;
	s[ring].tid = tid;
	return 0;
}

static int take_record(void *ctx, const struct shim_record *r)
{
	struct seen *s = ctx;
	const struct shim_kernel *kernel = (const struct shim_kernel *)r;

	if (r->kind != SHIM_REC_KERNEL)
		return 0;
	s->disorder += kernel->a.correlation != s->last + 1;
	s->last = kernel->a.correlation;
	s->cnt++;
	return 0;
}

static void put_calls(size_t ring, uint64_t from, uint64_t cnt)
{
	target->rings[ring].tid = 100 + (uint32_t)ring;
	for (uint64_t i = 0; i < cnt; i++)
		shim_put_call(&target->rings[ring], shim_calls(target, ring),
			      &(struct shim_call){.begin_ns = from + i, .end_ns = from + i});
}

Test(device_protocol, commands_are_answered_by_number)
{
	uint32_t first = shim_link__command(link_, SHIM_RECORD), second;

	cr_assert_not(shim_link__is_done(link_, first));
	cr_assert_eq(target->command, SHIM_RECORD);
	target->done_seq = target->command_seq;
	cr_assert(shim_link__is_done(link_, first));
	second = shim_link__command(link_, SHIM_PARK);
	cr_assert_not(shim_link__is_done(link_, second));
	cr_assert(shim_link__is_done(link_, first));
}

Test(device_protocol, the_file_loses_its_name_when_it_is_taken)
{
	char path[64];

	snprintf(path, sizeof(path), "%s", shim_link__path(link_));
	shim_link__beat(link_);
	cr_assert_eq(access(path, F_OK), 0);
	target->pid = 17;
	shim_link__beat(link_);
	cr_assert_eq(access(path, F_OK), -1);
}

Test(device_protocol, calls_come_once_in_order_by_thread)
{
	struct seen seen[SHIM_RINGS] = {0};

	put_calls(0, 1, 1000);
	put_calls(5, 1, 10);
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	put_calls(0, 1001, 500);
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[0].cnt, 1500);
	cr_assert_eq(seen[0].disorder, 0);
	cr_assert_eq(seen[0].tid, 100);
	cr_assert_eq(seen[5].cnt, 10);
	cr_assert_eq(seen[5].tid, 105);
}

Test(device_protocol, a_full_ring_of_calls_counts_what_it_loses)
{
	struct seen seen[SHIM_RINGS] = {0};
	struct shim_facts facts;

	put_calls(2, 1, SHIM_RING_CALLS + 7);
	shim_link__facts(link_, &facts);
	cr_assert_eq(facts.lost_rings, 7);
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[2].cnt, SHIM_RING_CALLS);
	put_calls(2, 1 << 20, 3);
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[2].cnt, SHIM_RING_CALLS + 3);
}

static uint64_t first_in_ring(void)
{
	return shim_calls(target, 0)[0].end_ns;
}

/* A ring touches no more of the target's memory than the most that is ever unread. */
Test(device_protocol, a_ring_that_was_read_is_filled_from_its_front)
{
	struct seen seen[SHIM_RINGS] = {0};

	for (uint64_t i = 0; i < 10; i++) {
		put_calls(0, 1 + 100 * i, 100);
		cr_assert_eq(first_in_ring(), 1 + 100 * i);
		cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	}
	cr_assert_eq(seen[0].cnt, 1000);
	cr_assert_eq(seen[0].disorder, 0);
	put_calls(0, 1001, 100);
	put_calls(0, 1101, 100);
	cr_assert_eq(first_in_ring(), 1001);
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[0].cnt, 1200);
	cr_assert_eq(seen[0].disorder, 0);
}

static bool put_kernel(uint32_t correlation)
{
	const struct shim_kernel kernel = {
		.a = {.h = {SHIM_REC_KERNEL, sizeof(kernel)}, .correlation = correlation}};

	return shim_put(target, &kernel);
}

Test(device_protocol, a_full_ring_of_activities_counts_what_it_loses)
{
	struct seen seen = {0};
	uint32_t cnt = 0;
	struct shim_facts facts;

	while (put_kernel(cnt + 1))
		cnt++;
	cr_assert_eq(cnt, SHIM_ACTIVITY_BYTES / sizeof(struct shim_kernel));
	shim_link__facts(link_, &facts);
	cr_assert_eq(facts.lost_rings, 1);
	cr_assert_eq(shim_link__activities(link_, take_record, &seen), 0);
	cr_assert_eq(seen.cnt, cnt);
	cr_assert_eq(seen.disorder, 0);
}

#define MANY 2000000u

static void *produce(void *unused)
{
	for (uint32_t i = 1; i <= MANY; i++)
		while (!put_kernel(i))
			usleep(100);
	return unused;
}

/* Many times around the ring, whose size is no multiple of a record's. */
Test(device_protocol, activities_are_whole_while_both_sides_work)
{
	struct seen seen = {0};
	struct shim_facts facts;
	pthread_t producer;

	cr_assert_eq(pthread_create(&producer, NULL, produce, NULL), 0);
	while (seen.cnt < MANY) {
		cr_assert_eq(shim_link__activities(link_, take_record, &seen), 0);
		usleep(1000);
	}
	pthread_join(producer, NULL);
	shim_link__facts(link_, &facts);
	cr_assert_eq(seen.cnt, MANY);
	cr_assert_eq(seen.disorder, 0);
	cr_assert_eq(facts.malformed, 0);
}

/* ---- a target that lies ---- */

static uint64_t malformed(void)
{
	struct shim_facts facts;

	shim_link__facts(link_, &facts);
	return facts.malformed;
}

Test(device_protocol, a_counter_that_jumps_is_not_followed)
{
	struct seen seen[SHIM_RINGS] = {0};

	target->rings[1].head = 1ull << 60;
	target->activities.head = 1ull << 60;
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(shim_link__activities(link_, take_record, seen), 0);
	cr_assert_eq(seen[1].cnt, 0);
	cr_assert_eq(malformed(), 2);
	/* and records after it are read again */
	put_calls(1, 1, 3);
	cr_assert(put_kernel(1));
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[1].cnt, 3);
}

Test(device_protocol, a_front_that_cannot_be_is_not_believed)
{
	struct seen seen[SHIM_RINGS] = {0};

	cr_assert(put_kernel(1));
	target->activities.base = SHIM_ACTIVITY_BYTES - 4;
	cr_assert_eq(shim_link__activities(link_, take_record, seen), 0);
	put_calls(1, 1, 3);
	target->rings[1].base = 12345678901234567ull;
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(malformed(), 1);
}

Test(device_protocol, records_that_cannot_be_are_left_out)
{
	static const struct shim_record bad[] = {
		{SHIM_REC_KERNEL, 8},			 /* too short */
		{SHIM_REC_KERNEL, 0},			 /* would never end */
		{SHIM_REC_KERNEL, 133},			 /* not aligned */
		{SHIM_REC_KERNEL, SHIM_ACTIVITY_BYTES},	 /* longer than the written data */
		{SHIM_REC_NAME, 8},			 /* without a name */
		{77, 64},				 /* unknown */
		{SHIM_REC_PAD, SHIM_ACTIVITY_BYTES + 8}, /* beyond the end */
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct seen seen = {0};

		memset(shim_reserve(target, 512), 0, 512);
		memcpy(shim_reserve(target, 512), &bad[i], sizeof(bad[i]));
		shim_commit(target, 512);
		cr_assert_eq(shim_link__activities(link_, take_record, &seen), 0);
		cr_assert_eq(seen.cnt, 0, "row %zu", i);
		cr_assert_eq(malformed(), i + 1, "row %zu", i);
	}
}

Test(device_protocol, a_call_that_ends_before_it_begins_is_left_out)
{
	struct seen seen[SHIM_RINGS] = {0};

	shim_put_call(&target->rings[0], shim_calls(target, 0),
		      &(struct shim_call){.begin_ns = 5, .end_ns = 4});
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[0].cnt, 0);
	cr_assert_eq(malformed(), 1);
}

Test(device_protocol, an_error_s_text_is_bounded)
{
	memset(target->cupti_call, 'x', sizeof(target->cupti_call));
	target->error = SHIM_CUPTI_FAILED;
	cr_assert(strstr(shim_link__error(link_), "gave CUPTI error"));
	target->error = 1234;
	cr_assert(strstr(shim_link__error(link_), "gave CUPTI error"));
	target->error = SHIM_OK;
	cr_assert_null(shim_link__error(link_));
}

static void check_connection(uint32_t cupti, uint32_t driver, const char *want)
{
	snprintf(target->cupti_call, sizeof(target->cupti_call), "cuptiSubscribe");
	target->error = SHIM_CUPTI_FAILED;
	target->cupti_result = 15;
	target->cupti_version = cupti;
	target->driver_version = driver;
	cr_assert_str_eq(shim_link__error(link_), want);
}

Test(device_protocol,
     a_libcupti_without_a_connection_to_the_driver_has_both_versions_and_a_next_step)
{
	check_connection(130202, 13000,
			 "cuptiSubscribe gave CUPTI error 15: its libcupti, of CUDA 13.2, cannot "
			 "connect to its driver, of CUDA 13.0 (the libcupti is newer); start the "
			 "process with a libcupti that its driver supports");
	check_connection(130202, 13020,
			 "cuptiSubscribe gave CUPTI error 15: its libcupti, of CUDA 13.2, cannot "
			 "connect to its driver, of CUDA 13.2 (cause unknown); start the process "
			 "with a libcupti that its driver supports");
	check_connection(18, 0,
			 "cuptiSubscribe gave CUPTI error 15: its libcupti, of API version 18, "
			 "cannot connect to its driver, of an unknown version (cause unknown); "
			 "start the process with a libcupti that its driver supports");
	memset(target->cupti_call, 'x', sizeof(target->cupti_call));
	target->cupti_version = target->driver_version = UINT32_MAX;
	cr_assert(strstr(shim_link__error(link_), "a libcupti that its driver supports"));
	target->error = SHIM_OK;
}

/* ---- a file that the library made ---- */

static int memfd(off_t bytes, uint32_t version)
{
	int fd = memfd_create("proftrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct shim_control c = {.magic = SHIM_MAGIC, .version = version};

	cr_assert(fd >= 0 && ftruncate(fd, bytes) == 0);
	cr_assert_eq(pwrite(fd, &c, 64, 0), 64);
	return fd;
}

/* Any process with $PROFTRACE_SHIM can do this. */
Test(device_protocol, a_file_that_is_cut_off_ends_it_and_is_told)
{
	struct seen seen[SHIM_RINGS] = {0};
	struct shim_request wish = {.link = link_};

	cr_assert_eq(shim_link__keep_alive(link_), 0);
	shim_request__want(&wish, true);
	put_calls(0, 1, 100);
	target->state = SHIM_RECORDING;
	cr_assert_eq(truncate(shim_link__path(link_), 0), 0);
	cr_expect_eq(shim_link__state(link_), SHIM_LEFT);
	cr_expect(shim_link__is_torn(link_));
	cr_expect_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_expect_eq(seen[0].cnt, 0);
	shim_link__beat(link_);
	shim_link__command(link_, SHIM_PARK);
	cr_assert_not_null(shim_request__refusal(&wish));
	cr_expect_not_null(strstr(shim_request__refusal(&wish), "cut off the memory"));
	cr_expect_str_eq(shim_request__explain(&wish), shim_request__refusal(&wish));
}

Test(device_protocol, each_refusal_has_one_text)
{
	struct shim_request request = {.link = link_};

	for (int why = REFUSAL_NONE + 1; why <= REFUSAL_LATE; why++) {
		if (why == REFUSAL_BY_LIBRARY)
			continue;
		shim_request__give_up(&request, why);
		cr_assert_not_null(shim_request__refusal(&request));
		cr_expect_str_eq(shim_request__explain(&request), shim_request__refusal(&request));
	}
	snprintf(request.error, sizeof(request.error), "another tool uses CUPTI in it");
	shim_request__give_up(&request, REFUSAL_BY_LIBRARY);
	cr_expect_str_eq(shim_request__explain(&request), "another tool uses CUPTI in it");
}

static void refused(int fd)
{
	struct shim_link *l = NULL;

	cr_assert_lt(shim_link__adopt(fd, &l), 0);
	cr_assert_null(l);
	close(fd);
}

Test(device_protocol, a_made_file_is_adopted_and_cannot_shrink)
{
	int fd = memfd((off_t)SHIM_FILE_BYTES, SHIM_VERSION);
	struct shim_link *l = NULL;

	cr_assert_eq(shim_link__adopt(fd, &l), 0);
	cr_assert_eq(ftruncate(fd, 0), -1);
	shim_link__free(l);
	close(fd);
}

Test(device_protocol, other_files_are_not_adopted)
{
	refused(memfd(4096, SHIM_VERSION));
	refused(memfd((off_t)SHIM_FILE_BYTES, SHIM_VERSION + 1));
	refused(open("/dev/null", O_RDWR));
	refused(open(shim_link__path(link_),
		     O_RDWR)); /* the size is right, but it cannot be sealed */
}

Test(device_protocol, a_kept_link_beats_by_itself)
{
	uint64_t beat = target->heartbeat_ns;

	cr_assert_eq(shim_link__keep_alive(link_), 0);
	while (__atomic_load_n(&target->heartbeat_ns, __ATOMIC_RELAXED) == beat)
		usleep(1000);
	beat = __atomic_load_n(&target->heartbeat_ns, __ATOMIC_RELAXED);
	while (__atomic_load_n(&target->heartbeat_ns, __ATOMIC_RELAXED) == beat)
		usleep(1000);
}

static void wait_for_room(size_t ring)
{
	while (target->rings[ring].head -
		       __atomic_load_n(&target->rings[ring].tail, __ATOMIC_ACQUIRE) >=
	       SHIM_RING_CALLS / 4)
		usleep(1000);
}

Test(device_protocol, a_kept_link_takes_calls_out_of_rings_that_fill_up)
{
	struct seen seen[SHIM_RINGS] = {0};
	const uint64_t cnt = SHIM_RING_CALLS / 2, rounds = 8;
	struct shim_facts facts;

	cr_assert_eq(shim_link__keep_alive(link_), 0);
	shim_link__command(link_, SHIM_RECORD);
	put_calls(5, 1, 1000);
	for (uint64_t i = 0; i < rounds; i++) {
		put_calls(0, 1 + i * cnt, cnt);
		wait_for_room(0);
	}
	put_calls(0, 1 + rounds * cnt, 10);
	cr_assert_eq(target->rings[5].tail, 0);
	shim_link__facts(link_, &facts);
	cr_assert_eq(facts.lost_rings, 0);
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[0].cnt, rounds * cnt + 10);
	cr_assert_eq(seen[0].disorder, 0);
	cr_assert_eq(seen[5].cnt, 1000);
	cr_assert_eq(shim_link__calls(link_, take_call, seen), 0);
	cr_assert_eq(seen[0].cnt, rounds * cnt + 10);
}

static int take_tid(void *ctx, size_t ring, uint32_t tid, const struct shim_call *call)
{
	uint32_t *first_of_next = ctx;

	(void)ring;
	if (tid == 200 && !*first_of_next)
		*first_of_next = (uint32_t)call->end_ns;
	return 0;
}

Test(device_protocol, calls_taken_out_early_stay_their_threads_own)
{
	uint32_t first_of_next = 0;
	uint64_t taken;

	cr_assert_eq(shim_link__keep_alive(link_), 0);
	shim_link__command(link_, SHIM_RECORD);
	put_calls(0, 1, SHIM_RING_CALLS / 2);
	wait_for_room(0);
	taken = target->rings[0].tail;
	put_calls(0, SHIM_RING_CALLS / 2 + 1, 10);
	target->rings[0].tid = 200;
	cr_assert_eq(shim_link__calls(link_, take_tid, &first_of_next), 0);
	cr_assert_eq(first_of_next, taken + 1);
}

static uint32_t owner(void)
{
	return __atomic_load_n(&target->owner, __ATOMIC_ACQUIRE);
}

Test(device_protocol, a_kept_link_is_held_until_it_is_freed)
{
	cr_assert_eq(shim_link__keep_alive(link_), 0);
	while (!owner())
		usleep(1000);
	cr_assert_eq(owner() & SHIM_OWNER_DIED, 0);
	shim_link__free(link_);
	link_ = NULL;
	cr_assert_eq(owner(), 0);
}

Test(device_protocol, the_kernel_marks_the_link_of_one_that_is_killed)
{
	pid_t pid = fork();

	if (!pid) {
		shim_link__keep_alive(link_);
		for (;;)
			pause();
	}
	while (!owner())
		usleep(1000);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_eq(owner(), SHIM_OWNER_DIED);
}

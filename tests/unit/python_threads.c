// SPDX-License-Identifier: BSD-2-Clause
#include "target/python/python_threads.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

static pthread_barrier_t begun, over;

static void *wait_for_end(void *tid)
{
	*(pid_t *)tid = gettid();
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&over);
	return NULL;
}

/* The interpreter of 3.10 knows its threads in this form. */
Test(python_threads, glibc_says_what_a_thread_calls_itself)
{
	struct target *t = NULL;
	pthread_t thread;
	uint64_t id = 0;
	pid_t tid;

	cr_assert_eq(target__open(getpid(), &t), 0);
	pthread_barrier_init(&begun, NULL, 2);
	pthread_barrier_init(&over, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, wait_for_end, &tid), 0);
	pthread_barrier_wait(&begun);
	cr_expect_eq(python_threads__id_of(t, thread, &id), 0);
	cr_expect_eq(id, (uint64_t)tid);
	cr_expect_eq(python_threads__id_of(t, pthread_self(), &id), 0);
	cr_expect_eq(id, (uint64_t)gettid());
	pthread_barrier_wait(&over);
	pthread_join(thread, NULL);
	target__close(t);
}

Test(python_threads, what_is_no_thread_of_glibc_has_none)
{
	static const char elsewhere[1024];
	struct target *t = NULL;
	uint64_t id = 7;

	cr_assert_eq(target__open(getpid(), &t), 0);
	cr_expect_eq(python_threads__id_of(t, (uintptr_t)elsewhere, &id), -ENOTSUP);
	cr_expect_eq(python_threads__id_of(t, 1, &id), -EFAULT);
	cr_expect_eq(id, 7);
	target__close(t);
}

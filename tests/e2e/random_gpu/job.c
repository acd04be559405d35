// SPDX-License-Identifier: BSD-2-Clause
/*
 * job DESCRIPTION NOTES: does what the description says, in turns, until SIGTERM. Thread 0 makes
 * the steps, which are ranges "job::step". Operators are functions with a name each: operator_0 and
 * so on.
 */
#include "job.h"
#include "include/proftrace.h"
#include "tests/simgpu/client/client.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static struct description job;
static const proftrace_range step_range = {"job", "step"};
static const proftrace_range ranges[RANGES] = {
	{"job", "load"}, {"job", "compute"}, {"job", "exchange"}, {NULL, "plain"}};

static void on_term(int number)
{
	stop = number;
}

static size_t run(const struct program *p, size_t at);

/* Each operator has its own symbol. It writes a note after its last call, so no call is a tail
 * call. */
#define OPERATOR(n)                                                                                \
	__attribute__((noinline, noclone)) size_t operator_##n(const struct program *p, size_t at, \
							       size_t note);                       \
	size_t operator_##n(const struct program *p, size_t at, size_t note)                       \
	{                                                                                          \
		notes__at(note)->begun_ns = now_ns();                                              \
		at = run(p, at);                                                                   \
		notes__at(note)->ending_ns = now_ns();                                             \
		__asm__ volatile("" ::: "memory");                                                 \
		return at + n - n;                                                                 \
	}
OPERATOR(0)
OPERATOR(1)
OPERATOR(2)
OPERATOR(3)
OPERATOR(4)
OPERATOR(5)

static size_t (*const operators[OPERATORS])(const struct program *, size_t, size_t) = {
	operator_0, operator_1, operator_2, operator_3, operator_4, operator_5};

static size_t run_operator(const struct program *p, size_t at)
{
	const int number = p->actions[at].arg[0] % OPERATORS;
	const size_t note = notes__begin(NOTE_OPERATOR, number);

	at = operators[number](p, at + 1, note);
	notes__at(note)->ended_ns = now_ns();
	return at;
}

static size_t run_range(const struct program *p, size_t at)
{
	const int number = p->actions[at].arg[0] % RANGES;
	const size_t note = notes__begin(NOTE_RANGE, number);

	proftrace_begin(&ranges[number]);
	notes__at(note)->begun_ns = now_ns();
	at = run(p, at + 1);
	notes__at(note)->ending_ns = now_ns();
	proftrace_end(&ranges[number]);
	notes__at(note)->ended_ns = now_ns();
	return at;
}

static void spin(int us)
{
	const uint64_t until = now_ns() + (uint64_t)us * 1000;

	while (now_ns() < until)
		;
}

/* Runs up to the end of the open operator or range. Returns the place behind that end. */
static size_t run(const struct program *p, size_t at)
{
	while (at < p->cnt) {
		const struct action *a = &p->actions[at];

		switch (a->kind) {
		case ACTION_OPERATOR:
			at = run_operator(p, at);
			break;
		case ACTION_RANGE:
			at = run_range(p, at);
			break;
		case ACTION_END:
			return at + 1;
		case ACTION_SLEEP:
			usleep((useconds_t)a->arg[0]);
			at++;
			break;
		case ACTION_SPIN:
			spin(a->arg[0]);
			at++;
			break;
		default:
			devices__do(a);
			at++;
		}
	}
	return at;
}

static void *work(void *argument)
{
	while (!stop)
		run(argument, 0);
	return NULL;
}

static void make_step(uint64_t number)
{
	const size_t note = notes__begin(NOTE_STEP, (int)number);

	proftrace_begin(&step_range);
	notes__at(note)->begun_ns = now_ns();
	run(&job.threads[0], 0);
	devices__end_step(&job, number);
	notes__at(note)->ending_ns = now_ns();
	proftrace_end(&step_range);
	notes__at(note)->ended_ns = now_ns();
}

int main(int argc, char **argv)
{
	pthread_t threads[MAX_THREADS];

	CHECK(argc == 3);
	signal(SIGTERM, on_term);
	description__read(argv[1], &job);
	devices__open(&job);
	printf("ready %d\n", getpid());
	fflush(stdout);
	for (int i = 1; i < job.thread_cnt; i++)
		OK(pthread_create(&threads[i], NULL, work, &job.threads[i]));
	for (uint64_t number = 0; !devices__all_stop(number, stop); number++)
		make_step(number);
	stop = SIGTERM;
	for (int i = 1; i < job.thread_cnt; i++)
		OK(pthread_join(threads[i], NULL));
	devices__close();
	notes__write(argv[2]);
	return 0;
}

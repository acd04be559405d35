// SPDX-License-Identifier: BSD-2-Clause
/*
 * What really happened, for tests to hold a profiler's results against. Written by the engine and
 * never through CUPTI: one file per process, SIMGPU_TRUTH.PID, tab-separated, first line the
 * columns. Times are CLOCK_MONOTONIC in ns, threads are kernel thread ids. "-" where a column does
 * not apply.
 */
#include "engine.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char buffer[1 << 16];
static size_t used;
static int fd = -1;
static _Atomic int state;
enum { UNDECIDED, OFF, ON };

static void flush_locked(void)
{
	size_t at = 0;

	while (fd >= 0 && at < used) {
		ssize_t n = write(fd, buffer + at, used - at);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	used = 0;
}

static void append(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void append_v(const char *format, va_list args)
{
	if (used > sizeof(buffer) - 4096)
		flush_locked();
	used += (size_t)vsnprintf(buffer + used, 4096, format, args);
	if (used > sizeof(buffer) - 1)
		used = sizeof(buffer) - 1;
}

static void append(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	append_v(format, args);
	va_end(args);
}

static void open_log(void)
{
	const char *prefix = getenv("SIMGPU_TRUTH");
	char path[4096];

	state = OFF;
	if (!prefix || !*prefix)
		return;
	snprintf(path, sizeof(path), "%s.%d", prefix, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		fprintf(stderr, "simgpu: cannot write the truth log %s: %m\n", path);
		return;
	}
	state = ON;
	append("kind\tdev\tstream\tsubmit_ns\tstart_ns\tend_"
	       "ns\tcorrelation\ttid\tbytes\tgraph\tnode\t"
	       "grid\tblock\tapi\tname\n");
}

static bool begin(void)
{
	if (state == OFF)
		return false;
	pthread_mutex_lock(&mutex);
	if (state == UNDECIDED)
		open_log();
	if (state == ON)
		return true;
	pthread_mutex_unlock(&mutex);
	return false;
}

static const char *const kind_names[] = {"kernel", "memcpy", "memset", "host", "mark"};

void sim_truth_op(const struct sim_op *op)
{
	if (!begin())
		return;
	append("%s\t%d\t%u\t%lu\t%lu\t%lu\t%u\t%d\t%zu\t%u\t%lu\t", kind_names[op->kind], op->dev,
	       op->stream_id, op->submit_ns, op->start_ns, op->end_ns, op->correlation, op->tid,
	       op->bytes, op->graph_id, op->node_id);
	if (op->kind == SIM_KERNEL)
		append("%u,%u,%u\t%u,%u,%u", op->grid[0], op->grid[1], op->grid[2], op->block[0],
		       op->block[1], op->block[2]);
	else
		append("-\t-");
	append("\t%s\t%.2000s\n", op->api ? op->api : "-", op->name);
	pthread_mutex_unlock(&mutex);
}

void sim_truth_call(const struct sim_frame *frame, uint64_t end_ns)
{
	const struct sim_thread *t = sim_thread();

	if (!begin())
		return;
	append("%s\t%d\t-\t-\t%lu\t%lu\t%u\t%d\t-\t-\t-\t-\t-\t%s\t%s\n",
	       frame->domain == SIM_RUNTIME ? "runtime" : "driver", t->dev, frame->truth_ns, end_ns,
	       frame->correlation, t->tid, t->api ? t->api : "-", frame->name);
	pthread_mutex_unlock(&mutex);
}

void sim_truth_note(const char *kind, const char *format, ...)
{
	uint64_t now = sim_now();
	va_list args;

	if (!begin())
		return;
	append("%s\t-\t-\t-\t%lu\t%lu\t-\t%d\t-\t-\t-\t-\t-\t-\t", kind, now, now,
	       sim_thread()->tid);
	va_start(args, format);
	append_v(format, args);
	va_end(args);
	append("\n");
	pthread_mutex_unlock(&mutex);
}

void sim_truth_flush(void)
{
	pthread_mutex_lock(&mutex);
	flush_locked();
	pthread_mutex_unlock(&mutex);
}

void sim_truth_forked(void)
{
	pthread_mutex_init(&mutex, NULL);
	used = 0;
	state = OFF;
	if (fd >= 0)
		close(fd);
	fd = -1;
}

/* What ended before the process did is true even if nobody asked for it. */
__attribute__((destructor)) static void at_exit(void)
{
	if (state != ON)
		return;
	sim_advance();
	sim_truth_flush();
}

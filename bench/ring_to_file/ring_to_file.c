// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the kernel's ring to the file: a BPF program fills the real ring with batches of spans, at a
 * given rate, while the real decoder and the real writer empty it.
 *
 *	ring_to_file [--rate EVENTS_PER_S] [--seconds N] [--output PATH] [--begin MIB]
 *
 * --begin: the ring is so large at first, and grows as in a session; default is the largest.
 *
 * Prints events per second of the consumer's CPU time (one core's worth), what was lost, and bytes
 * per event. Exits 1 if an event was lost or the file does not hold what was made.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include "bpf/bench.h"
#include "bpf/events.h"
#include "bpf/skeleton.h"
#include "capture/decode/decoder.h"
#include "capture/ring.h"
#include "common/err.h"
#include "common/message.h"
#include "common/util.h"

#define MS	    1000000ull
#define ROWS	    300u
#define RING_BYTES  (64ull << 20)  /* the default of --ring-size */
#define UNREAD_NS   16000000000ull /* as user/capture/capture_ring.c */
#define RUN_BATCHES 64u
#define RUN_EVENTS  (RUN_BATCHES * PT_BATCH)

struct bench {
	uint64_t rate;
	double seconds;
	const char *output;
	struct proftrace_bpf *skel;
	struct target *target;
	struct probe_plan plan;
	struct decoder *decoder;
	struct recording_writer *writer;
	struct ring *ring;
	uint64_t begin_bytes;
	struct pt_bench gen;
	atomic_bool done;
	int producer_err;
	uint64_t producer_ns; /* how long it took to make all */
	double producer_cpu_s;
};

/* ---- a target's types, as the Itanium ABI has them: this process is the target ---- */

struct fake_type {
	const void *vtable_words[2]; /* type_info *, first function: a vtable points here */
	const void *type_info[2];
	char name[32];
};
static struct fake_type types[PT_BENCH_TYPES];

static void make_types(struct pt_bench *gen)
{
	for (uint32_t i = 0; i < PT_BENCH_TYPES; i++) {
		struct fake_type *t = &types[i];

		snprintf(t->name, sizeof(t->name), "12Backward%04u", i);
		t->type_info[1] = t->name;
		t->vtable_words[0] = t->type_info;
	}
	gen->vtable = (uintptr_t)&types[0].vtable_words[1];
	gen->vtable_stride = sizeof(types[0]);
}

static int make_plan(struct bench *b)
{
	static struct target_lib nowhere = {.path = "none", .host_path = "none"};
	char name[64];
	int err = 0;

	for (uint32_t i = 0; i <= ROWS && !err; i++) {
		bool node = i == ROWS;
		struct planned_probe probe = {
			.group = GROUP_OPERATOR,
			.symbol = "none",
			.lib = &nowhere,
			.name = node ? NULL : name,
			.return_program = node ? NULL : "call_return",
			.category = node ? CAT_BACKWARD_NODE : CAT_OPERATOR,
		};

		snprintf(name, sizeof(name), "aten::operator_%u", i);
		err = probe_plan__add(&b->plan, &probe);
	}
	b->gen.row_cnt = ROWS;
	return err;
}

/* ---- set-up ---- */

static int load(struct bench *b)
{
	struct bpf_program *prog;
	int err;

	b->skel = proftrace_bpf__open();
	if (!b->skel)
		return err__set(-errno,
				MESSAGE("bench.bpf-not-opened", "cannot open the BPF object: %s"),
				strerror(errno));
	bpf_object__for_each_program(prog, b->skel->obj)
		bpf_program__set_autoload(prog, prog == b->skel->progs.bench_spans);
	err = proftrace_bpf__load(b->skel);
	return err ? err__set(err,
			      MESSAGE("bench.bpf-not-loaded", "cannot load the BPF object: %s"),
			      strerror(-err))
		   : 0;
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct bench *b = ctx;

	return decoder__record(b->decoder, data, size);
}

static int set_up(struct bench *b)
{
	const struct ring_limits limits = {b->begin_bytes, RING_BYTES};
	json_t *meta = json_pack("{s:s}", "detail", "operator");
	int err = make_plan(b);

	make_types(&b->gen);
	b->gen.clock_ns = clock__monotonic_ns();
	if (!err)
		err = target__open(getpid(), &b->target);
	if (!err)
		err = load(b);
	if (!err)
		err = recording_writer__create(b->output, meta, &b->writer);
	json_decref(meta);
	if (err)
		return err;
	b->decoder =
		decoder__new(b->target, frameworks__all()[0], &b->plan, &b->skel->bss->ctl.ended);
	if (!b->decoder)
		return -ENOMEM;
	decoder__set_writer(b->decoder, b->writer);
	return ring__new(bpf_map__fd(b->skel->maps.ring), &limits, on_record, b, &b->ring);
}

/* ---- both ends ---- */

/* Not faster than the rate; catches up when it was held up. */
static void *produce(void *arg)
{
	struct bench *b = arg;
	uint64_t begin = clock__monotonic_ns(), total = (uint64_t)((double)b->rate * b->seconds);
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &b->gen, .ctx_size_in = sizeof(b->gen));

	b->gen.batches = RUN_BATCHES;
	while (b->gen.pos < total && !b->producer_err) {
		uint64_t due = begin + (uint64_t)((double)b->gen.pos / (double)b->rate * 1e9);
		const struct timespec at = {(time_t)(due / 1000000000), (long)(due % 1000000000)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		b->producer_err =
			bpf_prog_test_run_opts(bpf_program__fd(b->skel->progs.bench_spans), &opts);
	}
	b->producer_ns = clock__monotonic_ns() - begin;
	b->producer_cpu_s = (double)clock__ns(CLOCK_THREAD_CPUTIME_ID) / 1e9;
	b->done = true;
	return NULL;
}

/* As user/capture does it: poll, empty, flush once a second. */
static int consume(struct bench *b)
{
	uint64_t flushed = clock__monotonic_ns(), now;
	bool done;
	int err;

	do {
		done = b->done;
		poll(&(struct pollfd){.fd = ring__poll_fd(b->ring), .events = POLLIN}, 1, 10);
		err = ring__fit(b->ring, UNREAD_NS);
		if (!err)
			err = ring__read(b->ring);
		now = clock__monotonic_ns();
		if (!err && now - flushed > 1000 * MS) {
			flushed = now;
			err = recording_writer__flush(b->writer);
		}
	} while (!done && !err);
	return err;
}

/* Of every thread but the producer, which has ended. */
static double consumer_cpu_s(const struct bench *b)
{
	return (double)clock__ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9 - b->producer_cpu_s;
}

/* ---- result ---- */

static int check_file(const struct bench *b, uint64_t bytes, double cpu_s)
{
	uint64_t made = b->gen.pos, lost = b->gen.lost, bad = decoder__malformed(b->decoder), held;
	struct recording *r;
	int err = recording__open(b->output, &r);

	if (err)
		return err;
	held = recording__event_cnt(r);
	recording__close(r);
	printf("made %.1f M events in %.2f s (%.2f M/s)\n", (double)made / 1e6,
	       (double)b->producer_ns / 1e9, (double)made * 1e3 / (double)b->producer_ns);
	printf("ring to file: %.2f M events/s per core of CPU time (goal 2), %llu lost, "
	       "%.2f bytes/event (goal 8), ring of %llu MiB at last\n",
	       (double)held / cpu_s / 1e6, (unsigned long long)lost, (double)bytes / (double)held,
	       (unsigned long long)(ring__bytes(b->ring) >> 20));
	if (held + lost != made || bad)
		return err__set(
			-EIO,
			MESSAGE("bench.events-malformed",
				"%s holds %llu of %llu events, %llu records were malformed"),
			b->output, (unsigned long long)held, (unsigned long long)made,
			(unsigned long long)bad);
	return lost ? err__set(-ENOBUFS,
			       MESSAGE("bench.ring-full", "%llu events found the ring full"),
			       (unsigned long long)lost)
		    : 0;
}

static int run(struct bench *b)
{
	pthread_t producer;
	uint64_t bytes;
	double cpu_s;
	int err = set_up(b), close_err;

	if (err)
		return err;
	if (pthread_create(&producer, NULL, produce, b))
		return -EAGAIN;
	cpu_s = consumer_cpu_s(b);
	err = consume(b);
	pthread_join(producer, NULL);
	if (!err)
		err = b->producer_err;
	if (!err)
		err = recording_writer__flush(b->writer);
	bytes = recording_writer__bytes(b->writer);
	close_err = recording_writer__close(b->writer, NULL);
	cpu_s = consumer_cpu_s(b) - cpu_s;
	if (err || close_err)
		return err ? err : close_err;
	return check_file(b, bytes, cpu_s);
}

static void clean_up(struct bench *b)
{
	ring__free(b->ring);
	decoder__free(b->decoder);
	probe_plan__free(&b->plan);
	proftrace_bpf__destroy(b->skel);
	if (b->target)
		target__close(b->target);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"rate", required_argument, NULL, 'r'},
		{"seconds", required_argument, NULL, 's'},
		{"output", required_argument, NULL, 'o'},
		{"begin", required_argument, NULL, 'b'},
		{0},
	};
	struct bench b = {.rate = 2000000,
			  .seconds = 10,
			  .output = "ring_to_file.ptrec",
			  .begin_bytes = RING_BYTES};
	int c, err;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'r')
			b.rate = strtoull(optarg, NULL, 10);
		else if (c == 's')
			b.seconds = strtod(optarg, NULL);
		else if (c == 'o')
			b.output = optarg;
		else if (c == 'b')
			b.begin_bytes = strtoull(optarg, NULL, 10) << 20;
		else
			return 2;
	}
	if (!b.rate || b.seconds <= 0) {
		fputs("ring_to_file: give a rate and a time greater than 0\n", stderr);
		return 2;
	}
	err = run(&b);
	clean_up(&b);
	if (err)
		fprintf(stderr, "ring_to_file: %s\n", err__take(err));
	return err ? 1 : 0;
}

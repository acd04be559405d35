// SPDX-License-Identifier: BSD-2-Clause
/*
 * How fast a recording is written and read, and how big it is: a stream like that of a training
 * loop (nested operators on a main thread, backward nodes with sequence numbers on a second one,
 * data-loader threads; 300 names; the same sequence with every step, other times), fixed seed.
 *
 *	recording_rate [--shapes] [EVENTS...]		default: 1000000 10000000
 *
 * Each size runs in processes of its own, so that peak RSS is that of one writer or one reader.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "common/err.h"
#include "common/message.h"
#include "common/util.h"
#include "recording/recording.h"

#define NAMES	     300u
#define STEP_OPS     1200u /* operators of one step, backward nodes included */
#define LOADERS	     4u
#define TRACKS	     (2 + LOADERS)
#define FLUSH_EVENTS 500000u /* "about once a second" at the rates of a busy target */
#define SHAPES	     64u
#define ROW_SIZE     36u /* struct event_tensor and four dims */
#define BATCH	     4096u

struct plan_op {
	uint32_t name, track;
	uint32_t median_ns;
	uint8_t depth; /* operators around it */
	uint8_t shape;
	bool has_seq;
};

struct stream {
	uint64_t rng;
	struct plan_op ops[STEP_OPS]; /* one step, in the order in which they end */
	uint32_t names[NAMES], tracks[TRACKS];
	uint64_t clock[TRACKS]; /* end of the latest event */
	uint64_t seq;
	bool shapes;
	uint8_t args[SHAPES][3 * ROW_SIZE];
};

static uint64_t rnd(struct stream *s)
{
	s->rng ^= s->rng << 13;
	s->rng ^= s->rng >> 7;
	s->rng ^= s->rng << 17;
	return s->rng;
}

/* Durations of real operators are skewed to the right; so are these, around their median. */
static uint64_t vary(struct stream *s, uint32_t median_ns)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(rnd(s) >> 11) / 9007199254740992.0;
	return (uint64_t)((double)median_ns * exp(0.15 * sum));
}

static void plan_shapes(struct stream *s)
{
	for (uint32_t i = 0; i < SHAPES * 3; i++) {
		uint8_t *row = s->args[i / 3] + (size_t)(i % 3) * ROW_SIZE;
		const struct event_tensor head = {(uint8_t)(i % 3), 6, 0, 4};

		memcpy(row, &head, sizeof(head));
		for (uint32_t d = 0; d < 4; d++) {
			int64_t dim = 1 << rnd(s) % 12;

			memcpy(row + sizeof(head) + (size_t)d * 8, &dim, sizeof(dim));
		}
	}
}

static void plan(struct stream *s)
{
	s->rng = 0x2545f4914f6cdd1dull;
	for (uint32_t i = 0; i < STEP_OPS; i++) {
		struct plan_op *op = &s->ops[i];

		op->name = (uint32_t)(rnd(s) % NAMES);
		op->track = i >= STEP_OPS / 2;
		op->median_ns = 600 + (uint32_t)(rnd(s) % 30000);
		op->depth = (uint8_t)(rnd(s) % 3);
		op->has_seq = op->depth == 0;
		op->shape = (uint8_t)(rnd(s) % SHAPES);
	}
	plan_shapes(s);
}

static int define(struct stream *s, struct recording_writer *w)
{
	char text[64];

	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(text, sizeof(text), "aten::operator_%u", i);
		s->names[i] = recording_writer__name(w, CAT_OPERATOR, text, "f(Tensor self)");
	}
	for (uint32_t i = 0; i < TRACKS; i++) {
		const struct track t = {.kind = TRACK_THREAD, .pid = 100, .tid = 100 + i};

		s->tracks[i] = recording_writer__track(w, &t);
	}
	return recording_writer__flush(w);
}

static void make_event(struct stream *s, const struct plan_op *op, struct event *e)
{
	uint64_t *clock = &s->clock[op->track];

	memset(e, 0, sizeof(*e));
	e->type = EVENT_SPAN;
	e->track = s->tracks[op->track];
	e->name = s->names[op->name];
	e->dur_ns = vary(s, op->median_ns);
	e->end = op->depth ? END_SITE : END_RETURN;
	/* An outer operator ends shortly after the last one in it. */
	*clock += op->depth ? e->dur_ns + vary(s, 500) : vary(s, 900);
	e->ts_ns = *clock - e->dur_ns;
	e->id = op->has_seq ? s->seq++ : EVENT_NO_ID;
	if (s->shapes) {
		e->args = s->args[op->shape];
		e->args_len = sizeof(s->args[0]);
	}
}

/* Forward and backward of a step follow one another: all threads meet where either begins. */
static void meet(struct stream *s)
{
	uint64_t now = s->clock[0] > s->clock[1] ? s->clock[0] : s->clock[1];

	for (uint32_t t = 0; t < TRACKS; t++)
		s->clock[t] = now;
}

/* What comes next; one event in 40 is a loader's, between the operators. */
static void make_batch(struct stream *s, struct event *batch, size_t cnt, uint64_t pos)
{
	for (size_t i = 0; i < cnt; i++, pos++) {
		struct plan_op op = s->ops[pos % STEP_OPS];

		if (pos % (STEP_OPS / 2) == 0)
			meet(s);
		if (pos % 40 == 39)
			op.track = 2 + (uint32_t)(rnd(s) % LOADERS);
		make_event(s, &op, &batch[i]);
	}
}

static double cpu_seconds(void)
{
	return (double)clock__ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
}

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static int write_batch(struct recording_writer *w, const struct event *batch, size_t cnt,
		       bool flush)
{
	int err = 0;

	for (size_t i = 0; i < cnt && !err; i++)
		err = recording_writer__event(w, &batch[i]);
	return err || !flush ? err : recording_writer__flush(w);
}

/* CPU seconds of taking, encoding, compressing and writing; making the events is not in it. */
static int feed(struct stream *s, struct recording_writer *w, uint64_t cnt, double *spent)
{
	static struct event batch[BATCH];
	int err = 0;

	for (uint64_t pos = 0; !err && pos < cnt; pos += BATCH) {
		size_t n = cnt - pos < BATCH ? cnt - pos : BATCH;
		double start;

		make_batch(s, batch, n, pos);
		start = cpu_seconds();
		err = write_batch(w, batch, n, pos % FLUSH_EVENTS < BATCH || pos + n == cnt);
		*spent += cpu_seconds() - start;
	}
	return err;
}

static int write_stream(const char *path, uint64_t cnt, bool shapes)
{
	static struct stream s;
	struct recording_writer *w;
	json_t *object = json_object();
	double spent = 0;
	uint64_t bytes;
	int err = recording_writer__create(path, object, &w), close_err;

	if (err)
		goto out;
	plan(&s);
	s.shapes = shapes;
	err = define(&s, w);
	if (!err)
		err = feed(&s, w, cnt, &spent);
	bytes = recording_writer__bytes(w);
	close_err = recording_writer__close(w, object);
	err = err ? err : close_err;
	printf("write %10llu events  %6.2f M/s  %5.2f bytes/event  peak RSS %6ld KiB\n",
	       (unsigned long long)cnt, (double)cnt / spent / 1e6, (double)bytes / (double)cnt,
	       peak_kib());
out:
	json_decref(object);
	return err;
}

static int count_events(const struct recording *r, uint64_t *cnt)
{
	struct recording_cursor *c;
	struct event e;
	int err = recording_cursor__open(r, &c);

	if (err)
		return err;
	while ((err = recording_cursor__next(c, &e)) == 1)
		(*cnt)++;
	recording_cursor__close(c);
	return err;
}

static int read_stream(const char *path, uint64_t cnt, bool shapes)
{
	double start = cpu_seconds(), opened;
	struct recording *r;
	uint64_t seen = 0;
	int err = recording__open(path, &r);

	if (err)
		return err;
	opened = cpu_seconds();
	err = count_events(r, &seen);
	recording__close(r);
	printf("read  %10llu events  %6.2f M/s  (open %6.3f s)     peak RSS %6ld KiB\n",
	       (unsigned long long)seen, (double)seen / (cpu_seconds() - start) / 1e6,
	       opened - start, peak_kib());
	if (!err && seen != cnt)
		err = err__set(-EBADMSG,
			       MESSAGE("bench.events-missing", "%s: not all events came back"),
			       path);
	return err;
}

/* In a child, for a peak RSS of its own. */
static int apart(int (*run)(const char *path, uint64_t cnt, bool shapes), const char *path,
		 uint64_t cnt, bool shapes)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int err = run(path, cnt, shapes);

		if (err)
			log__error(err);
		fflush(stdout);
		_exit(err != 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return status != 0;
}

int main(int argc, char **argv)
{
	static char *defaults[] = {"1000000", "10000000", NULL};
	bool shapes = argc > 1 && strcmp(argv[1], "--shapes") == 0;
	char **sizes = argc > 1 + shapes ? argv + 1 + shapes : defaults;
	const char *dir = getenv("TMPDIR");
	auto_free char *path = NULL;
	int failed = 0, fd;

	if (asprintf(&path, "%s/recording-rate-XXXXXX", dir ? dir : P_tmpdir) < 0)
		return 1;
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	for (; *sizes && !failed; sizes++) {
		uint64_t cnt = strtoull(*sizes, NULL, 10);

		failed = apart(write_stream, path, cnt, shapes) ||
			 apart(read_stream, path, cnt, shapes);
	}
	unlink(path);
	return failed;
}

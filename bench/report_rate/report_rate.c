// SPDX-License-Identifier: BSD-2-Clause
/*
 * How fast a recording becomes trees and a report: a training loop of 3000 events per step (data
 * loader, operators three deep, backward nodes on a second thread, optimizer), written first.
 *
 *	report_rate [EVENTS...]		default: 1000000 10000000
 *	report_rate --write FILE EVENTS	only writes the recording
 *	report_rate --behind STEPS [EVENTS...]
 *		each block launches a kernel, and the device is so many steps behind its host
 *
 * Every figure comes from a process of its own, so that peak RSS is that of one pass: reading
 * alone (the floor), the model, the default report; each with steps and without.
 */
#include <string.h>
#include <sys/resource.h>
#include <stdbool.h>
#include <sys/wait.h>
#include "analysis/report.h"
#include "common/err.h"
#include "common/util.h"
#include "model/model.h"

#define NAMES	300u
#define BLOCKS	490u /* of six events each, on either thread */
#define GAP_NS	200u
#define LEAF_NS 1500u

struct loop {
	struct recording_writer *w;
	uint32_t names[NAMES], nodes[NAMES], phases[4], tracks[2];
	uint32_t launch, kernel, stream;
	uint64_t clock, cnt;
	uint64_t launched, run; /* kernels */
};

static bool has_device;
static uint64_t steps_behind;

static void put(struct loop *l, uint32_t track, uint32_t name, uint64_t begin, uint64_t end)
{
	const struct event e = {.ts_ns = begin,
				.dur_ns = end - begin,
				.id = EVENT_NO_ID,
				.track = track,
				.name = name,
				.type = EVENT_SPAN};

	if (recording_writer__event(l->w, &e))
		exit(1);
	l->cnt++;
}

static void put_kernel(struct loop *l)
{
	const struct event_kernel args = {.grid = {64, 1, 1}, .block = {256, 1, 1}};
	const struct event e = {.ts_ns = l->clock + l->run % 1000,
				.dur_ns = LEAF_NS,
				.id = ++l->run,
				.track = l->stream,
				.name = l->kernel,
				.type = EVENT_DEVICE,
				.args = &args,
				.args_len = sizeof(args)};

	if (recording_writer__event(l->w, &e))
		exit(1);
	l->cnt++;
}

/* ... and the device comes to one that was launched some steps ago. */
static void put_launch(struct loop *l, uint32_t track, uint64_t begin, uint64_t end)
{
	const struct event e = {.ts_ns = begin,
				.dur_ns = end - begin,
				.id = ++l->launched,
				.track = track,
				.name = l->launch,
				.type = EVENT_SPAN};

	if (recording_writer__event(l->w, &e))
		exit(1);
	l->cnt++;
	if (l->launched > steps_behind * BLOCKS)
		put_kernel(l);
}

/* Two leaves in an operator in an operator, three leaves in a node: six events. */
static void put_block(struct loop *l, uint32_t i, bool backward)
{
	uint64_t t = l->clock, leaf = LEAF_NS + i % 7 * 100;
	uint32_t track = l->tracks[backward], *n = l->names;

	put(l, track, n[i % NAMES], t + 2 * GAP_NS, t + 2 * GAP_NS + leaf);
	put(l, track, n[(i + 1) % NAMES], t + 3 * GAP_NS + leaf, t + 3 * GAP_NS + 2 * leaf);
	put(l, track, n[(i + 2) % NAMES], t + GAP_NS, t + 4 * GAP_NS + 2 * leaf);
	t += 5 * GAP_NS + 2 * leaf;
	if (has_device)
		put_launch(l, track, t, t + leaf);
	else
		put(l, track, n[(i + 3) % NAMES], t, t + leaf);
	put(l, track, n[(i + 4) % NAMES], t + leaf, t + 2 * leaf);
	put(l, track, backward ? l->nodes[i % NAMES] : n[(i + 5) % NAMES], l->clock,
	    t + 2 * leaf + GAP_NS);
	l->clock = t + 2 * leaf + 2 * GAP_NS;
}

static void put_step(struct loop *l, uint64_t index, bool steps)
{
	uint64_t begin = l->clock, mark;

	put(l, l->tracks[0], l->phases[0], begin, begin + 50000);
	l->clock += 60000;
	for (uint32_t i = 0; i < BLOCKS / 2; i++)
		put_block(l, i, false);
	mark = l->clock;
	for (uint32_t i = 0; i < BLOCKS / 2; i++)
		put_block(l, i, true);
	put(l, l->tracks[0], l->phases[1], mark, l->clock);
	put(l, l->tracks[0], l->phases[2], l->clock, l->clock + 90000);
	put(l, l->tracks[0], l->phases[3], l->clock + 95000, l->clock + 99000);
	l->clock += 100000;
	if (steps) {
		const struct event e = {.ts_ns = begin,
					.dur_ns = l->clock - begin,
					.id = index,
					.track = l->tracks[0],
					.type = EVENT_STEP};

		if (recording_writer__event(l->w, &e))
			exit(1);
	}
}

static void write_loop(const char *path, uint64_t events, bool steps)
{
	static const struct {
		enum span_category cat;
		const char *text;
	} phases[] = {{CAT_DATALOADER, "next"},
		      {CAT_BACKWARD, "backward"},
		      {CAT_OPTIMIZER, "step"},
		      {CAT_ZERO_GRAD, "zero_grad"}};
	const struct track threads[] = {{.kind = TRACK_THREAD, .pid = 1, .tid = 1, .name = "main"},
					{.kind = TRACK_THREAD, .pid = 1, .tid = 2, .name = "bwd"}};
	json_t *meta = json_pack("{s:{s:i}, s:{s:i, s:i}}", "process", "pid", 1, "probe_cost",
				 "span_inside_ns", 300, "span_total_ns", 900);
	struct loop l = {};
	char name[32];

	if (recording_writer__create(path, meta, &l.w))
		exit(1);
	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "aten::operator_%u", i);
		l.names[i] = recording_writer__name(l.w, CAT_OPERATOR, name, NULL);
		snprintf(name, sizeof(name), "Node%uBackward0", i);
		l.nodes[i] = recording_writer__name(l.w, CAT_BACKWARD_NODE, name, NULL);
	}
	for (size_t i = 0; i < 4; i++)
		l.phases[i] = recording_writer__name(l.w, phases[i].cat, phases[i].text, NULL);
	for (size_t i = 0; i < 2; i++)
		l.tracks[i] = recording_writer__track(l.w, &threads[i]);
	if (has_device) {
		const struct track t = {.kind = TRACK_DEVICE, .pid = 1, .stream = 7};

		l.launch = recording_writer__name(l.w, CAT_RUNTIME, "cudaLaunchKernel", NULL);
		l.kernel = recording_writer__name(l.w, CAT_KERNEL, "kernel", NULL);
		l.stream = recording_writer__track(l.w, &t);
	}
	for (uint64_t i = 0; l.cnt < events; i++)
		put_step(&l, i, steps);
	while (l.run < l.launched)
		put_kernel(&l);
	json_decref(meta);
	if (recording_writer__close(l.w, NULL))
		exit(1);
}

static int ignore(const struct batch *b, void *ctx)
{
	return 0;
}

static int read_events(const struct recording *r)
{
	struct recording_cursor *c;
	struct event e;
	int err = recording_cursor__open(r, &c);

	while (!err && (err = recording_cursor__next(c, &e)) > 0)
		err = 0;
	recording_cursor__close(c);
	return err;
}

static int run_model(const struct recording *r)
{
	return model__run(r, NULL, ignore, NULL);
}

static int run_report(const struct recording *r)
{
	const struct report_opts opts = {.style.unit = UNIT_MS};
	auto_fclose FILE *out = fopen("/dev/null", "w");

	return out ? report__print(r, &opts, out) : -errno;
}

/* In a child, for its peak RSS; prints one line. */
static void measure(const char *path, const char *what, int (*pass)(const struct recording *))
{
	struct rusage usage;
	struct recording *r;
	uint64_t begin, ns, cnt;
	pid_t pid = fork();

	if (pid) {
		int status;

		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			exit(1);
		return;
	}
	begin = clock__ns(CLOCK_PROCESS_CPUTIME_ID);
	if (recording__open(path, &r) || pass(r)) {
		fprintf(stderr, "report_rate: %s\n", err__take(-EIO));
		_exit(1);
	}
	ns = clock__ns(CLOCK_PROCESS_CPUTIME_ID) - begin;
	cnt = recording__event_cnt(r);
	getrusage(RUSAGE_SELF, &usage);
	printf("  %-8s %7.2f M events/s of CPU time, %7.1f ns/event, peak RSS %6.1f MiB\n", what,
	       (double)cnt * 1e3 / (double)ns, (double)ns / (double)cnt,
	       (double)usage.ru_maxrss / 1024);
	fflush(stdout);
	_exit(0);
}

static void run_size(const char *path, uint64_t events, bool steps)
{
	printf("%llu events %s", (unsigned long long)events, steps ? "in steps" : "without steps");
	if (has_device)
		printf(", the device %llu steps behind", (unsigned long long)steps_behind);
	printf("\n");
	fflush(stdout);
	write_loop(path, events, steps);
	measure(path, "read", read_events);
	measure(path, "model", run_model);
	measure(path, "report", run_report);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const char *const defaults[] = {"1000000", "10000000"};
	const char *const *sizes = defaults;
	int cnt = ARRAY_SIZE(defaults);
	const char *dir = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (argc == 4 && !strcmp(argv[1], "--write")) {
		write_loop(argv[2], strtoull(argv[3], NULL, 0), true);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "--behind")) {
		has_device = true;
		steps_behind = strtoull(argv[2], NULL, 0);
		argv += 2;
		argc -= 2;
	}
	if (argc > 1) {
		sizes = (const char *const *)argv + 1;
		cnt = argc - 1;
	}
	snprintf(path, sizeof(path), "%s/report_rate.XXXXXX", dir ? dir : P_tmpdir);
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	for (int i = 0; i < cnt; i++)
		for (int steps = 1; steps >= 0; steps--)
			run_size(path, strtoull(sizes[i], NULL, 0), steps);
	return 0;
}

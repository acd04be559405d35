// SPDX-License-Identifier: BSD-2-Clause
/*
 * How fast a recording becomes a file of each format: a training loop on a device (operators with
 * shapes, launches, kernels, backward nodes on a second thread, allocations), written first.
 *
 *	export_rate [EVENTS [FORMAT...]]	default: 5000000, all
 *
 * Every figure comes from a process of its own, so that peak RSS is that of one export; `read` is
 * reading alone, the floor. The ratio is the time of the chrome format by that of this one.
 */
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "common/err.h"
#include "common/util.h"
#include "exporters/exporter.h"
#include "recording/recording.h"

#define NAMES	300u
#define KERNELS 60u
#define BLOCKS	400u /* per step and thread, of seven or eight events */
#define GAP_NS	200u
#define LEAF_NS 3000u

struct loop {
	struct recording_writer *w;
	uint32_t names[NAMES], nodes[NAMES], kernels[KERNELS], phases[3], launch;
	uint32_t threads[2], stream;
	uint64_t clock, device_clock, correlation, cnt;
};

static void put(struct loop *l, struct event e)
{
	if (recording_writer__event(l->w, &e))
		exit(1);
	l->cnt++;
}

static void put_span(struct loop *l, uint32_t track, uint32_t name, uint64_t begin, uint64_t end,
		     uint64_t id)
{
	put(l, (struct event){.type = EVENT_SPAN,
			      .track = track,
			      .name = name,
			      .ts_ns = begin,
			      .dur_ns = end - begin,
			      .id = id});
}

/* Begins after its launch did, at launch_ns. */
static void put_kernel(struct loop *l, uint32_t i, uint64_t launch_ns)
{
	const struct event_kernel k = {
		.grid = {i % 512 + 1, 1, 1}, .block = {128, 1, 1}, .registers = 32 + i % 8};

	if (l->device_clock < launch_ns + GAP_NS)
		l->device_clock = launch_ns + GAP_NS;
	put(l, (struct event){.type = EVENT_DEVICE,
			      .track = l->stream,
			      .name = l->kernels[i % KERNELS],
			      .ts_ns = l->device_clock,
			      .dur_ns = 2000 + i % 9 * 100,
			      .id = l->correlation,
			      .args = &k,
			      .args_len = sizeof(k)});
	l->device_clock += 2900; /* keeps up with the host */
}

static void put_shaped(struct loop *l, uint32_t track, uint32_t name, uint64_t begin, uint64_t end)
{
	unsigned char args[sizeof(struct event_tensor) + 2 * sizeof(int64_t)];
	const int64_t dims[2] = {64, 1024};

	memcpy(args, &(struct event_tensor){.ndim = 2}, sizeof(struct event_tensor));
	memcpy(args + sizeof(struct event_tensor), dims, sizeof(dims));
	put(l, (struct event){.type = EVENT_SPAN,
			      .track = track,
			      .name = name,
			      .ts_ns = begin,
			      .dur_ns = end - begin,
			      .id = EVENT_NO_ID,
			      .args = args,
			      .args_len = sizeof(args)});
}

static void put_memory(struct loop *l, uint32_t track, uint32_t i)
{
	const struct event_memory m = {
		.total_allocated = 1 << 20, .total_reserved = 1 << 22, .device_type = 1};

	put(l, (struct event){.type = EVENT_MEMORY,
			      .track = track,
			      .ts_ns = l->clock + GAP_NS,
			      .id = 0x7f0000000000 + i * 512,
			      .value = i % 2 ? -4096 : 4096,
			      .args = &m,
			      .args_len = sizeof(m)});
}

/* An operator in an operator with two launches, or a backward node with them. */
static void put_block(struct loop *l, uint32_t i, bool backward)
{
	const uint32_t track = l->threads[backward], *n = l->names;
	uint64_t t = l->clock + 2 * GAP_NS;

	put_memory(l, track, i);
	for (int launch = 0; launch < 2; launch++) {
		l->correlation++;
		put_span(l, track, l->launch, t, t + LEAF_NS, l->correlation);
		put_kernel(l, i, t);
		t += LEAF_NS + GAP_NS;
	}
	put_shaped(l, track, n[i % NAMES], l->clock + GAP_NS, t);
	if (backward)
		put_span(l, track, l->nodes[i % NAMES], l->clock, t + GAP_NS, i);
	else
		put_shaped(l, track, n[(i + 1) % NAMES], l->clock, t + GAP_NS);
	l->clock = t + 2 * GAP_NS;
}

static void put_step(struct loop *l, uint64_t index)
{
	const uint64_t begin = l->clock;
	uint64_t mark;

	put_span(l, l->threads[0], l->phases[0], begin, begin + 50000, EVENT_NO_ID);
	l->clock += 60000;
	for (uint32_t i = 0; i < BLOCKS; i++)
		put_block(l, i, false);
	mark = l->clock;
	for (uint32_t i = 0; i < BLOCKS; i++)
		put_block(l, i, true);
	put_span(l, l->threads[0], l->phases[1], mark, l->clock, EVENT_NO_ID);
	put_span(l, l->threads[0], l->phases[2], l->clock, l->clock + 90000, EVENT_NO_ID);
	l->clock += 100000;
	put(l, (struct event){.type = EVENT_STEP,
			      .track = l->threads[0],
			      .ts_ns = begin,
			      .dur_ns = l->clock - begin,
			      .id = index});
}

static void name_all(struct loop *l)
{
	char name[128];

	for (uint32_t i = 0; i < NAMES; i++) {
		snprintf(name, sizeof(name), "aten::operator_%u", i);
		l->names[i] = recording_writer__name(l->w, CAT_OPERATOR, name, NULL);
		snprintf(name, sizeof(name), "Node%uBackward0", i);
		l->nodes[i] = recording_writer__name(l->w, CAT_BACKWARD_NODE, name, NULL);
	}
	for (uint32_t i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name),
			 "void at::native::vectorized_elementwise_kernel<4, functor_%u, "
			 "std::array<char*, 3ul> >(int, functor)",
			 i);
		l->kernels[i] = recording_writer__name(l->w, CAT_KERNEL, name, NULL);
	}
	l->launch = recording_writer__name(l->w, CAT_RUNTIME, "cudaLaunchKernel", NULL);
	l->phases[0] = recording_writer__name(l->w, CAT_DATALOADER, "next", NULL);
	l->phases[1] = recording_writer__name(l->w, CAT_BACKWARD, "backward", NULL);
	l->phases[2] = recording_writer__name(l->w, CAT_OPTIMIZER, "step", NULL);
}

static void write_loop(const char *path, uint64_t events)
{
	const struct track threads[] = {{.kind = TRACK_THREAD, .pid = 1, .tid = 1, .name = "main"},
					{.kind = TRACK_THREAD, .pid = 1, .tid = 2, .name = "bwd"}};
	const struct track stream = {.kind = TRACK_DEVICE, .stream = 7};
	json_t *meta = json_pack("{s:{s:i}, s:[s]}", "process", "pid", 1, "dtypes", "float");
	json_t *end = json_object(); /* it was not cut off */
	struct loop l = {.clock = 1000000000};

	if (recording_writer__create(path, meta, &l.w))
		exit(1);
	json_decref(meta);
	name_all(&l);
	for (size_t i = 0; i < 2; i++)
		l.threads[i] = recording_writer__track(l.w, &threads[i]);
	l.stream = recording_writer__track(l.w, &stream);
	for (uint64_t i = 0; l.cnt < events; i++)
		put_step(&l, i);
	if (recording_writer__close(l.w, end))
		exit(1);
	json_decref(end);
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

/* In the child: all threads' CPU time. e NULL: read alone. */
static void measure_here(const char *path, const struct exporter *e, double *ns_per_event, int fd)
{
	struct export_result result = {0};
	struct rusage usage;
	struct recording *r;
	char output[4096];
	uint64_t ns = clock__ns(CLOCK_PROCESS_CPUTIME_ID);
	int err;

	snprintf(output, sizeof(output), "%s.out", path);
	err = recording__open(path, &r);
	if (!err)
		err = e ? e->run(r, &(struct export_opts){.output = output, .gzip_level = -1},
				 &result)
			: read_events(r);
	if (err) {
		fprintf(stderr, "export_rate: %s\n", err__take(err));
		_exit(1);
	}
	ns = clock__ns(CLOCK_PROCESS_CPUTIME_ID) - ns;
	*ns_per_event = (double)ns / (double)recording__event_cnt(r);
	getrusage(RUSAGE_SELF, &usage);
	unlink(output);
	printf("  %-11s %6.2f M events/s of CPU time, %7.1f ns/event, peak RSS %6.1f MiB, "
	       "%5.1f bytes/event",
	       e ? e->name : "read", 1e3 / *ns_per_event, *ns_per_event,
	       (double)usage.ru_maxrss / 1024,
	       (double)result.bytes / (double)recording__event_cnt(r));
	fflush(stdout);
	_exit(write(fd, ns_per_event, sizeof(*ns_per_event)) == sizeof(*ns_per_event) ? 0 : 1);
}

static double measure(const char *path, const struct exporter *e, double chrome_ns)
{
	double ns = 0;
	int fds[2], status;
	pid_t pid;

	if (pipe(fds))
		exit(1);
	pid = fork();
	if (!pid)
		measure_here(path, e, &ns, fds[1]);
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status ||
	    read(fds[0], &ns, sizeof(ns)) != sizeof(ns))
		exit(1);
	close(fds[0]);
	close(fds[1]);
	if (chrome_ns > 0)
		printf(", %.2f of chrome's rate", chrome_ns / ns);
	printf("\n");
	fflush(stdout);
	return ns;
}

static bool is_chosen(const char *name, int argc, char **argv)
{
	for (int i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	const uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 0) : 5000000;
	const char *dir = getenv("TMPDIR");
	double chrome_ns = 0, load[1] = {0};
	char path[4096];
	int fd;

	if (getenv("EXPORT_RATE_KEEP")) { /* the recording alone, for bench/peers */
		write_loop(getenv("EXPORT_RATE_KEEP"), events);
		return 0;
	}
	snprintf(path, sizeof(path), "%s/export_rate.XXXXXX", dir ? dir : P_tmpdir);
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	write_loop(path, events);
	if (getloadavg(load, 1) < 1)
		load[0] = 0;
	printf("%llu events, load average %.1f\n", (unsigned long long)events, load[0]);
	fflush(stdout);
	measure(path, NULL, 0);
	for (const struct exporter *const *e = exporters__all(); *e; e++) {
		double ns;

		if (!is_chosen((*e)->name, argc, argv))
			continue;
		ns = measure(path, *e, chrome_ns);
		if (!strcmp((*e)->name, "chrome"))
			chrome_ns = ns;
	}
	unlink(path);
	return 0;
}

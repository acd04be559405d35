// SPDX-License-Identifier: BSD-2-Clause
/* Reads what devices did, step by step, from recordings of so many device events. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "common/util.h"
#include "model/device_clock.h"

#define STREAMS	   4
#define STEP_NS	   10000000ull
#define SPACING_NS 2500ull

static void write_recording(const char *path, uint64_t cnt)
{
	struct recording_writer *w;
	json_t *meta = json_object();
	uint32_t streams[STREAMS], name;

	if (recording_writer__create(path, meta, &w))
		exit(1);
	json_decref(meta);
	name = recording_writer__name(w, CAT_KERNEL, "gemm", NULL);
	for (int i = 0; i < STREAMS; i++)
		streams[i] = recording_writer__track(w, &(struct track){.kind = TRACK_DEVICE,
									.pid = 1,
									.device = i / 2,
									.stream = 7 + i % 2});
	for (uint64_t i = 0; i <= cnt; i++) {
		const uint64_t end_ns = (i + 40) * SPACING_NS;
		const uint64_t dur_ns = i == cnt ? end_ns : (i % 97 + 3) * 100;
		/* Buffers of streams come one after the other, 1000 events each. */
		const uint64_t late_ns = i / 1000 % STREAMS * 1000 * SPACING_NS;
		const struct event e = {
			.type = EVENT_DEVICE,
			.track = streams[i / 1000 % STREAMS],
			.name = name,
			.id = i,
			.ts_ns = end_ns - dur_ns > late_ns ? end_ns - dur_ns - late_ns : 0,
			.dur_ns = dur_ns};

		recording_writer__event(w, &e);
	}
	recording_writer__close(w, NULL);
}

static int take(const struct device_work *w, void *ctx)
{
	busy_time__add(ctx, w->begin_ns, w->end_ns);
	return 0;
}

static void read_all(const char *path, uint64_t cnt)
{
	const uint64_t begin_ns = clock__monotonic_ns();
	struct recording *r;
	struct device_clock *c;
	struct busy_time busy = {0};
	struct rusage usage;
	double s;

	if (recording__open(path, &r) || device_clock__open(r, &c))
		exit(1);
	for (uint64_t ns = 0; ns < cnt * SPACING_NS; ns += STEP_NS)
		if (device_clock__between(c, ns, ns + STEP_NS, take, &busy))
			exit(1);
	device_clock__close(c);
	recording__close(r);
	s = (double)(clock__monotonic_ns() - begin_ns) / 1e9;
	getrusage(RUSAGE_SELF, &usage);
	printf("%9llu device events: %6.2f s, %5.2f million/s, peak %ld MiB\n",
	       (unsigned long long)cnt, s, (double)cnt / s / 1e6, usage.ru_maxrss / 1024);
}

int main(int argc, char **argv)
{
	char path[] = "/tmp/device_clock.XXXXXX";
	const int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	for (int i = 1; i < (argc > 1 ? argc : 3); i++) {
		const uint64_t cnt = argc > 1 ? strtoull(argv[i], NULL, 10)
				     : i == 1 ? 1000000
					      : 10000000;

		write_recording(path, cnt);
		fflush(stdout);
		if (!fork()) { /* each with a peak of its own */
			read_all(path, cnt);
			exit(0);
		}
		wait(NULL);
	}
	unlink(path);
	return 0;
}

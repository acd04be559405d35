// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sched/sched_table.h"
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "bpf/skeleton.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"

_Static_assert(sizeof(struct pt_sched_cpu) % 8 == 0 && sizeof(struct pt_sched_set) % 8 == 0 &&
		       sizeof(struct pt_sched_thread) % 8 == 0,
	       "elements of a map are 8 bytes apart");

static size_t in_pages(size_t size)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static void *map_memory(const struct bpf_map *map, size_t size)
{
	void *memory =
		mmap(NULL, in_pages(size), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static size_t threads_size(const struct sched_table *t)
{
	return t->set_cnt * PT_SCHED_WAYS * sizeof(*t->threads);
}

int sched_table__map(struct sched_table *t, const struct proftrace_bpf *skel, size_t cpu_cnt)
{
	t->cpu_cnt = cpu_cnt;
	t->set_cnt = bpf_map__max_entries(skel->maps.sched_sets);
	t->sets = map_memory(skel->maps.sched_sets, t->set_cnt * sizeof(*t->sets));
	t->threads = t->sets ? map_memory(skel->maps.sched_threads, threads_size(t)) : NULL;
	t->cpus = t->threads ? map_memory(skel->maps.sched_cpus, cpu_cnt * sizeof(*t->cpus)) : NULL;
	if (t->cpus)
		return 0;
	sched_table__unmap(t);
	return err__set(-errno, MESSAGE_SCHED_TABLES_NOT_MAPPED, strerror(errno));
}

void sched_table__unmap(struct sched_table *t)
{
	const int err = errno;

	if (t->sets)
		munmap(t->sets, in_pages(t->set_cnt * sizeof(*t->sets)));
	if (t->threads)
		munmap(t->threads, in_pages(threads_size(t)));
	if (t->cpus)
		munmap(t->cpus, in_pages(t->cpu_cnt * sizeof(*t->cpus)));
	memset(t, 0, sizeof(*t));
	errno = err;
}

void sched_table__clear(struct sched_table *t)
{
	for (size_t i = 0; i < t->set_cnt * PT_SCHED_WAYS; i++)
		if (t->sets[i / PT_SCHED_WAYS].tids[i % PT_SCHED_WAYS])
			memset(&t->threads[i], 0, sizeof(t->threads[i]));
	memset(t->sets, 0, t->set_cnt * sizeof(*t->sets));
	memset(t->cpus, 0, t->cpu_cnt * sizeof(*t->cpus));
}

int sched_table__take(struct sched_table *t, uint32_t gen, sched_record_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; i < t->set_cnt * PT_SCHED_WAYS && !err; i++) {
		uint32_t *owner = &t->sets[i / PT_SCHED_WAYS].tids[i % PT_SCHED_WAYS];
		const uint32_t tid = __atomic_load_n(owner, __ATOMIC_ACQUIRE);
		struct pt_sched_thread *thread = &t->threads[i];
		struct pt_sched_step *step = &thread->steps[gen];

		if (!tid)
			continue;
		if (pt_sched_step_in_use(step)) {
			struct pt_sched_record record = {
				.tid = tid & ~PT_SCHED_GONE,
				.tgid = thread->open.tgid,
				.step = *step,
			};

			memcpy(record.comm, thread->comm, sizeof(record.comm));
			err = fn(ctx, &record);
			if (!err)
				memset(step, 0, sizeof(*step));
		}
		if (!err && tid & PT_SCHED_GONE)
			__atomic_store_n(owner, 0, __ATOMIC_RELEASE);
	}
	return err;
}

/* Reads until two reads agree, so that the copy is of one state. */
static struct pt_sched_open open_read(const struct pt_sched_open *at)
{
	struct pt_sched_open one, again = *at;

	do {
		one = again;
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		again = *(const volatile struct pt_sched_open *)at;
	} while (memcmp(&one, &again, sizeof(one)) != 0);
	return one;
}

/* Two places may hold the same thread for a moment. BPF programs then use the first place. */
static bool is_found(const uint32_t *tids, size_t way)
{
	if (!tids[way] || tids[way] & PT_SCHED_GONE)
		return false;
	for (size_t i = 0; i < way; i++)
		if (tids[i] == tids[way])
			return false;
	return true;
}

static int set_open(const struct sched_table *t, size_t set, sched_open_fn fn, void *ctx)
{
	uint32_t tids[PT_SCHED_WAYS];
	int err = 0;

	memcpy(tids, t->sets[set].tids, sizeof(tids));
	for (size_t way = 0; way < PT_SCHED_WAYS && !err; way++) {
		struct pt_sched_open open;

		if (!is_found(tids, way))
			continue;
		open = open_read(&t->threads[set * PT_SCHED_WAYS + way].open);
		if (open.state)
			err = fn(ctx, tids[way], &open);
	}
	return err;
}

int sched_table__open(const struct sched_table *t, sched_open_fn fn, void *ctx)
{
	int err = 0;

	for (size_t set = 0; set < t->set_cnt && !err; set++)
		err = set_open(t, set, fn, ctx);
	return err;
}

uint64_t sched_table__asleep_since(const struct sched_table *t, uint32_t tid)
{
	const size_t set = tid & (t->set_cnt - 1);

	for (size_t way = 0; way < PT_SCHED_WAYS; way++) {
		struct pt_sched_open open;

		if (t->sets[set].tids[way] != tid)
			continue;
		open = open_read(&t->threads[set * PT_SCHED_WAYS + way].open);
		return open.state == PT_SCHED_BLOCKED ? open.since_ns : 0;
	}
	return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "capture/sched/sched_source.h"
#include "attach/attach.h"
#include "bpf/skeleton.h"
#include "capture/ring.h"
#include "capture/sched/sched_open.h"
#include "capture/sched/sched_table.h"
#include "capture/sched/wait_reason.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/mounts.h"
#include "common/util.h"
#include "recording/recording.h"
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>

#define LINK_MAX 10

#define RING_BEGIN_BYTES (2ull << 20)
#define RING_MOST_BYTES	 (8ull << 20)

struct sched_source {
	struct proftrace_bpf *skel;
	struct bpf_link *links[LINK_MAX];
	size_t link_cnt;
	struct ring *ring; /* has struct pt_sched_span and struct pt_sched_record */
	struct sched_table table;
	struct sched_sums sums;
	uint64_t drained_ns;
	uint32_t *online; /* indices of the online CPUs */
	size_t online_cnt, online_cap;
	uint64_t start_ns;
};

/* sched_switch(preempt, prev, next, prev_state): Linux 5.18 added the last argument (fa2c3254d7cf).
 * The function type has a void pointer as first argument. */
static bool switch_has_prev_state(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, "btf_trace_sched_switch", BTF_KIND_TYPEDEF);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) && btf_vlen(t) == 5;
}

static int check_faults(void)
{
	int err = kernel__traces_page_faults();

	return err ? err__set(-ENOTSUP, MESSAGE_PAGE_FAULTS_NOT_PROBED, strerror(-err)) : 0;
}

/* Lists the programs to attach, the scheduler's own first. */
static void list_programs(const struct proftrace_bpf *skel, struct bpf_program *out[LINK_MAX])
{
	struct bpf_program *const progs[LINK_MAX] = {
		skel->progs.sched_switch,  skel->progs.sched_wakeup, skel->progs.sched_wakeup_new,
		skel->progs.sched_exec,	   skel->progs.sched_rename, skel->progs.sched_idle,
		skel->progs.syscall_enter, skel->progs.syscall_exit, skel->progs.fault_enter,
		skel->progs.fault_exit,
	};

	memcpy(out, progs, sizeof(progs));
}

/* Loader processes and their threads start later, so there are at least 16 places per thread. A
 * place costs 260 bytes. A thread without a place counts as lost. */
uint32_t sched_source__places(size_t threads)
{
	uint32_t places = PT_SCHED_MIN_THREADS;

	while (places < PT_SCHED_MAX_THREADS && places / 16 < threads)
		places *= 2;
	return places;
}

static void size_tables(struct proftrace_bpf *skel, uint32_t places)
{
	bpf_map__set_max_entries(skel->maps.sched_sets, places / PT_SCHED_WAYS);
	bpf_map__set_max_entries(skel->maps.sched_threads, places);
	skel->rodata->sched_set_cnt = places / PT_SCHED_WAYS;
}

int sched_source__prepare(struct proftrace_bpf *skel, const struct sched_source_opts *opts)
{
	struct bpf_program *progs[LINK_MAX];
	struct btf *btf = btf__load_vmlinux_btf();
	int err = btf ? 0 : -errno;

	if (err)
		return err__set(err, MESSAGE_SCHED_BTF_UNREADABLE,
				descriptors__lack(err) ? descriptors__why(err, 0)
						       : mounts__why_no_btf("/sys"));
	skel->rodata->sched_has_prev_state = switch_has_prev_state(btf);
	skel->rodata->sched_all = opts->all;
	btf__free(btf);
	err = opts->page_faults ? check_faults() : 0;
	if (err)
		return err;
	size_tables(skel, opts->all ? PT_SCHED_MAX_THREADS : sched_source__places(opts->threads));
	list_programs(skel, progs);
	for (size_t i = 0; i < LINK_MAX; i++)
		bpf_program__set_autoload(progs[i], true);
	bpf_program__set_autoload(skel->progs.sched_seed, true);
	bpf_program__set_autoload(skel->progs.syscall_enter, opts->syscalls);
	bpf_program__set_autoload(skel->progs.syscall_exit, opts->syscalls);
	bpf_program__set_autoload(skel->progs.fault_enter, opts->page_faults);
	bpf_program__set_autoload(skel->progs.fault_exit, opts->page_faults);
	if (!opts->syscalls)
		bpf_map__set_max_entries(skel->maps.open_calls, 1);
	if (!opts->page_faults)
		bpf_map__set_max_entries(skel->maps.open_faults, 1);
	if (!opts->syscalls && !opts->page_faults)
		bpf_map__set_max_entries(skel->maps.entry_sums, 1);
	err = bpf_map__set_max_entries(skel->maps.sched_cpus, libbpf_num_possible_cpus());
	if (err)
		return err__set(err, MESSAGE_SCHED_MAP_NOT_SIZED, libbpf_num_possible_cpus());
	return 0;
}

/* "0-3,5" as the kernel prints CPU lists. */
static int online_read(struct sched_source *s)
{
	auto_free char *text = file__read("/sys/devices/system/cpu/online", NULL);
	uint32_t limit = libbpf_num_possible_cpus();
	char *at = text;
	int err = 0;

	while (at && *at >= '0' && *at <= '9' && !err) {
		uint32_t lo = strtoul(at, &at, 10), hi = *at == '-' ? strtoul(at + 1, &at, 10) : lo;

		for (; lo <= hi && lo < limit && !err; lo++)
			err = ARRAY_PUSH(s->online, s->online_cnt, s->online_cap, lo);
		at += *at == ',';
	}
	if (!err && !s->online_cnt)
		err = err__set(-ENODATA, MESSAGE_SCHED_CPU_LIST_MISSING);
	return err;
}

/* Runs the iterator program over all tasks. */
static int seed(struct sched_source *s)
{
	struct bpf_link *link = bpf_program__attach_iter(s->skel->progs.sched_seed, NULL);
	auto_close int fd = -1;
	char none[64];
	ssize_t n;

	if (!link)
		return err__set(-errno, MESSAGE_SCHED_THREADS_UNREADABLE, strerror(errno));
	fd = bpf_iter_create(bpf_link__fd(link));
	do {
		n = fd < 0 ? -1 : read(fd, none, sizeof(none));
	} while (n > 0 || (n < 0 && errno == EINTR));
	bpf_link__destroy(link);
	return n < 0 ? err__set(-errno, MESSAGE_SCHED_THREADS_UNREADABLE, strerror(errno)) : 0;
}

static int record_read(void *ctx, void *data, size_t size)
{
	struct sched_source *s = ctx;

	return size == sizeof(struct pt_sched_record) ? sched_sums__record(&s->sums, data)
						      : sched_sums__span(&s->sums, data);
}

static int ring_make(struct sched_source *s)
{
	struct ring_limits limits = {RING_BEGIN_BYTES, RING_MOST_BYTES};
	int err;

	if (s->skel->rodata->sched_all)
		limits.begin_bytes = limits.most_bytes;
	err = ring__new(bpf_map__fd(s->skel->maps.sched_ring), &limits, record_read, s, &s->ring);
	return err ? err__set(err, MESSAGE_SCHED_RING_NOT_MADE, strerror(-err)) : 0;
}

static int attach(struct sched_source *s)
{
	struct bpf_program *progs[LINK_MAX];

	list_programs(s->skel, progs);
	for (size_t i = 0; i < LINK_MAX; i++) {
		struct bpf_link *link;

		if (!bpf_program__autoload(progs[i]))
			continue;
		link = bpf_program__attach(progs[i]);
		if (!link)
			return err__set(-errno, MESSAGE_SCHED_PROGRAM_NOT_ATTACHED,
					bpf_program__section_name(progs[i]), strerror(errno));
		s->links[s->link_cnt++] = link;
	}
	return 0;
}

/* Removes what an earlier source left. Otherwise the run time since then would count in the next
 * interval. */
static void forget_rest(struct sched_source *s)
{
	const struct bpf_map *const open[] = {s->skel->maps.open_calls, s->skel->maps.open_faults};
	uint32_t key;

	for (size_t m = 0; m < ARRAY_SIZE(open); m++) {
		int fd = bpf_map__fd(open[m]);

		for (size_t i = 0;
		     i < 4 * PT_SCHED_MAX_THREADS && !bpf_map_get_next_key(fd, NULL, &key); i++)
			bpf_map_delete_elem(fd, &key);
	}
	sched_table__clear(&s->table);
}

int sched_source__start(struct proftrace_bpf *skel, struct sched_source **out)
{
	struct sched_source *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->skel = skel;
	err = ring_make(s);
	if (!err)
		err = online_read(s);
	if (!err)
		err = sched_table__map(&s->table, skel, libbpf_num_possible_cpus());
	if (!err) {
		forget_rest(s);
		err = attach(s);
	}
	s->start_ns = clock__monotonic_ns();
	if (!err)
		err = seed(s);
	skel->bss->ctl.run_in_ns = 0;
	skel->bss->ctl.run_is_seen = !err;
	if (err) {
		sched_source__stop(s);
		return err;
	}
	*out = s;
	return 0;
}

void sched_source__stop(struct sched_source *s)
{
	if (!s)
		return;
	s->skel->bss->ctl.run_is_seen = 0;
	for (size_t i = 0; i < s->link_cnt; i++)
		bpf_link__destroy(s->links[i]);
	ring__free(s->ring);
	sched_table__unmap(&s->table);
	sched_sums__free(&s->sums);
	free(s->online);
	free(s);
}

int sched_source__boundary(struct sched_source *s, uint64_t ts_ns, uint64_t step)
{
	return sched_sums__boundary(&s->sums, ts_ns, step);
}

/* Returns when every running program has ended. Programs run with interrupts off, and an RCU grace
 * period waits for them. With nohz_full the kernel refuses membarrier; then the time of some ticks
 * suffices. */
static void programs_wait(void)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0) != 0)
		usleep(20000);
}

static int entries_take(struct sched_source *s, uint32_t gen)
{
	int fd = bpf_map__fd(s->skel->maps.entry_sums), err = 0;
	size_t cnt = 0, cap = 0;
	auto_free struct pt_entry_key *old = NULL;
	struct pt_entry_key key, *prev = NULL;
	struct pt_entry_sum sum;

	while (!err && !bpf_map_get_next_key(fd, prev, &key)) {
		prev = &key;
		if (key.gen != gen || bpf_map_lookup_elem(fd, &key, &sum))
			continue;
		err = sched_sums__entry(&s->sums, &key, &sum);
		if (!err)
			err = ARRAY_PUSH(old, cnt, cap, key);
	}
	for (size_t i = 0; i < cnt; i++)
		bpf_map_delete_elem(fd, &old[i]);
	return err;
}

static int record_take(void *ctx, const struct pt_sched_record *record)
{
	struct sched_source *s = ctx;

	return sched_sums__record(&s->sums, record);
}

static int sums_take(struct sched_source *s, uint32_t gen)
{
	int err = sched_table__take(&s->table, gen, record_take, s);

	for (size_t i = 0; i < s->table.cpu_cnt && !err; i++) {
		struct pt_sched_cpu_sum *sum = &s->table.cpus[i].sums[gen];

		err = sched_sums__cpu(&s->sums, i, sum);
		if (!err)
			memset(sum, 0, sizeof(*sum));
	}
	return err ? err : entries_take(s, gen);
}

/* Makes the programs use the other generation. Returns the generation that they no longer
 * change. */
static uint32_t gen_flip(struct sched_source *s)
{
	struct pt_sched_ctl *ctl = &s->skel->bss->sched_ctl;
	uint32_t gen = ctl->gen & 1;

	__atomic_store_n(&ctl->gen, !gen, __ATOMIC_SEQ_CST);
	programs_wait();
	return gen;
}

uint64_t sched_source__own_ns(const struct proftrace_bpf *skel)
{
	return skel->bss->sched_ctl.own_ns;
}

uint64_t sched_source__lost(const struct proftrace_bpf *skel)
{
	const struct pt_sched_ctl *ctl = &skel->bss->sched_ctl;

	return ctl->lost_sums + ctl->lost_threads + ctl->lost_records;
}

uint64_t sched_source__asleep_since(const struct sched_source *s, uint32_t tid)
{
	return sched_table__asleep_since(&s->table, tid);
}

int sched_source__fit(struct sched_source *s, uint64_t unread_ns)
{
	const int err = ring__fit(s->ring, unread_ns);

	return err || !ring__fills(s->ring) ? err : ring__read(s->ring);
}

int sched_source__poll(struct sched_source *s)
{
	uint32_t gen = gen_flip(s);
	int err = ring__read(s->ring);

	return err < 0 ? err : sums_take(s, gen);
}

static int cpus_open(struct sched_source *s, uint64_t close_ns, struct sched_spans *out)
{
	int err = 0;

	for (size_t i = 0; i < s->online_cnt && !err; i++) {
		struct pt_sched_span span = {
			.begin_ns = s->start_ns,
			.end_ns = close_ns,
			.tid = s->online[i],
			.tgid = PT_SCHED_CPU,
			.state = PT_SCHED_BLOCKED,
		};
		const uint64_t since_busy =
			__atomic_load_n(&s->table.cpus[s->online[i]].since_busy, __ATOMIC_RELAXED);

		if (since_busy >> 1 >= close_ns)
			continue;
		if (since_busy)
			span.begin_ns = since_busy >> 1;
		if (since_busy & 1)
			span.state = PT_SCHED_RUN;
		err = ARRAY_PUSH(out->items, out->cnt, out->cap, span);
	}
	return err;
}

/*
 * An interval across close_ns is found open here and cut, or a program has seen its end. The
 * program sends the whole interval before it changes the map. So the ring is read after the maps.
 */
static int window_take(struct sched_source *s, uint64_t open_ns, uint64_t close_ns)
{
	struct sched_spans open = {0};
	uint32_t gen;
	int err;

	__atomic_store_n(&s->skel->bss->sched_ctl.drained_ns, close_ns, __ATOMIC_SEQ_CST);
	gen = gen_flip(s);
	err = sched_open__threads(&s->table, close_ns, &open);
	if (!err)
		err = sched_open__entries(s->skel->maps.open_calls, close_ns, &open);
	if (!err)
		err = sched_open__entries(s->skel->maps.open_faults, close_ns, &open);
	if (!err)
		err = cpus_open(s, close_ns, &open);
	if (!err)
		err = sched_sums__cut(&s->sums, open.items, open.cnt, open_ns);
	free(open.items);
	if (!err)
		err = ring__read(s->ring);
	return err < 0 ? err : sums_take(s, gen);
}

static int totals_new(const struct sched_source *s, struct sched_totals *t)
{
	memset(t, 0, sizeof(*t));
	t->per_cpu = calloc(s->online_cnt, sizeof(*t->per_cpu));
	if (!t->per_cpu)
		return -ENOMEM;
	for (; t->cpu_cnt < s->online_cnt; t->cpu_cnt++)
		t->per_cpu[t->cpu_cnt].cpu = s->online[t->cpu_cnt];
	t->missed = s->skel->bss->sched_ctl.missed;
	t->lost = sched_source__lost(s->skel);
	return 0;
}

static void totals_add(struct sched_totals *t, const struct sched_sum_row *row)
{
	if (row->tgid != PT_SCHED_CPU) {
		t->process_ns += row->cpu_ns;
		return;
	}
	for (uint32_t i = 0; i < t->cpu_cnt; i++) {
		struct sched_cpu_time *c = &t->per_cpu[i];

		if (c->cpu != row->tid)
			continue;
		if (row->state == PT_SCHED_RUN)
			c->busy_ns += row->ns, t->busy_ns += row->ns;
		else
			c->idle_ns += row->ns, t->idle_ns += row->ns;
	}
}

int sched_source__drain(struct sched_source *s, uint64_t open_ns, uint64_t close_ns,
			sched_row_fn fn, void *ctx, struct sched_totals *totals)
{
	uint64_t from = s->drained_ns > open_ns ? s->drained_ns : open_ns;
	size_t cnt = 0;
	int err = totals_new(s, totals);

	if (err)
		return err;
	s->drained_ns = close_ns;
	err = window_take(s, from, close_ns);
	if (!err)
		err = sched_sums__window(&s->sums, from, close_ns, &cnt);
	totals->wall_ns = close_ns - from;
	for (size_t i = 0; i < cnt && !err; i++) {
		totals_add(totals, &s->sums.rows[i]);
		if (fn && s->sums.rows[i].tgid != PT_SCHED_CPU)
			err = fn(ctx, &s->sums.rows[i]);
	}
	sched_sums__forget(&s->sums, close_ns, cnt);
	if (err)
		sched_totals__free(totals);
	return err;
}

void sched_totals__free(struct sched_totals *t)
{
	free(t->per_cpu);
	memset(t, 0, sizeof(*t));
}

int sched_sink__row(void *ctx, const struct sched_sum_row *row)
{
	struct sched_sink *sink = ctx;
	const bool is_entry = row->state >= PT_ENTRY_SYSCALL;
	char buf[WAIT_REASON_MAX];
	const char *reason = is_entry ? entry__text(row->state, row->reason, buf)
				      : wait_reason__text(row->reason, buf);
	struct sched_row out = {
		.step = row->step,
		.ns = row->ns,
		.cnt = row->cnt,
		.state = row->state,
		.track = sink->track(sink->ctx, row->tgid, row->tid, row->comm),
	};

	if (!out.track)
		return -ENOMEM;
	if (reason) {
		out.reason = recording_writer__name(sink->writer, CAT_NONE, reason, NULL);
		if (!out.reason)
			return -ENOMEM;
	}
	return is_entry ? recording_writer__entry(sink->writer, &out)
			: recording_writer__sched(sink->writer, &out);
}

json_t *sched_totals__json(const struct sched_totals *t)
{
	json_t *cpus = json_array();

	for (uint32_t i = 0; i < t->cpu_cnt; i++)
		json_array_append_new(cpus, json_pack("{s:I,s:I,s:I}", "cpu",
						      (json_int_t)t->per_cpu[i].cpu, "busy_ns",
						      (json_int_t)t->per_cpu[i].busy_ns, "idle_ns",
						      (json_int_t)t->per_cpu[i].idle_ns));
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:o}", "wall_ns", (json_int_t)t->wall_ns,
			 "process_ns", (json_int_t)t->process_ns, "busy_ns", (json_int_t)t->busy_ns,
			 "idle_ns", (json_int_t)t->idle_ns, "cpus", (json_int_t)t->cpu_cnt,
			 "per_cpu", cpus);
}

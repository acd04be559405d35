// SPDX-License-Identifier: BSD-2-Clause
#include "capture/probes.h"
#include "bpf/thread_state.h"
#include "capture/device/cupti_watch.h"
#include "attach/attach.h"
#include "attach/privilege.h"
#include "attach/watchpoint.h"
#include "bpf/skeleton.h"
#include "capture/processes/descendant.h"
#include "capture/sched/sched_source.h"
#include "capture/sched/task_source.h"
#include "common/counted.h"
#include "common/descriptors.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include "target/python/python_threads.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

/* ---- load ---- */

/* Some programs are always loaded: those that measure the cost of a span (span_cost.c), and those
 * for libraries that may be loaded later. */
static bool program_planned(const struct probe_plan *plan, const char *name)
{
	if (!strcmp(name, "call_entry") || !strcmp(name, "call_return") ||
	    !strcmp(name, "call_site"))
		return true;
	if (!strncmp(name, "device_", strlen("device_")))
		return true;
	for (size_t i = 0; i < plan->cnt; i++) {
		const struct planned_probe *probe = &plan->probes[i];

		if (probe->return_site_program && !strcmp(probe->return_site_program, name))
			return true;
		if ((probe->program && !strcmp(probe->program, name)) ||
		    (probe->return_program && !strcmp(probe->return_program, name)))
			return true;
	}
	return false;
}

/* Autoloads only the programs of the plan. Other sources choose their programs afterwards. */
static void choose_programs(struct probes *p)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, p->skel->obj)
	{
		const char *section = bpf_program__section_name(prog);

		bpf_program__set_autoload(prog, program_planned(p->plan, bpf_program__name(prog)));
		if (!strcmp(section, "uprobe"))
			attach_method__prepare(prog, p->method);
	}
}

int probes__plan_grew(struct probes *p, size_t from)
{
	int fd = bpf_map__fd(p->skel->maps.probe_cfg);

	for (size_t i = from; i < p->plan->cnt; i++) {
		const struct planned_probe *probe = &p->plan->probes[i];

		if (bpf_map_update_elem(fd, &probe->row, &probe->cfg, BPF_ANY))
			return err__set(-errno, MESSAGE_PROBE_TABLE_NOT_FILLED, strerror(errno));
	}
	return 0;
}

static int fill_tables(struct probes *p)
{
	int err = probes__plan_grew(p, 0);

	if (err)
		return err;
	p->ctl->layout = p->plan->layout;
	memcpy(p->ctl->name_rules, p->plan->name_rules, sizeof(p->ctl->name_rules));
	return 0;
}

/*
 * Before Linux 6.1 (34dd3bad1a6f) the kernel objects to hash maps that allocate rows on demand in a
 * probe's program. It logs a warning with a stack trace, and panics if panic_on_warn is set. On
 * these kernels we preallocate the maps, which takes 64 MB. Only the version number shows the
 * defect.
 */
static void preallocate(struct proftrace_bpf *skel)
{
	struct bpf_map *maps[] = {skel->maps.threads, skel->maps.rows_by_address, skel->maps.stacks,
				  skel->maps.long_names};

	if (kernel__at_least(6, 1))
		return;
	bpf_map__set_max_entries(skel->maps.long_names, 256);
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		bpf_map__set_map_flags(maps[i],
				       bpf_map__map_flags(maps[i]) & ~(uint32_t)BPF_F_NO_PREALLOC);
}

static int refused(struct probes *p, int err)
{
	const size_t needed = bpf_object__descriptors(p->skel->obj);

	if ((err == -EPERM || err == -EACCES) && privilege__require())
		return err;
	if (!descriptors__lack(err) && !kernel__at_least(KERNEL_MAJOR_MIN, KERNEL_MINOR_MIN))
		return err__set(err, MESSAGE_KERNEL_TOO_OLD, attach__libbpf_error(err),
				KERNEL_MAJOR_MIN, KERNEL_MINOR_MIN);
	if (!descriptors__lack(err))
		return err__set(err, MESSAGE_BPF_REFUSED, attach__libbpf_error(err));
	/* Destroy the object first: its own descriptors must not count as open. */
	proftrace_bpf__destroy(p->skel);
	p->skel = NULL;
	return err__set(err, MESSAGE_BPF_LACKS_DESCRIPTORS, descriptors__why(err, needed));
}

/* A framework starts some threads for each CPU. They may not have started yet. */
static size_t threads_expected(pid_t pid)
{
	const size_t now = descendant__threads(pid),
		     per_cpu = 2 * (size_t)libbpf_num_possible_cpus();

	return now > per_cpu ? now : per_cpu;
}

/* CUDA's functions are planned when its libraries are loaded, at most twice each. */
#define LATER_ROWS 1024

static void size_maps(struct probes *p)
{
	const uint32_t rows = p->plan->row_cnt + LATER_ROWS;
	struct proftrace_bpf *skel = p->skel;

	if (rows < PT_MAX_PROBES) {
		bpf_map__set_max_entries(skel->maps.probe_cfg, rows);
		bpf_map__set_max_entries(skel->maps.probe_stat, rows);
	}
	if (p->method != ATTACH_PERF_EVENT) /* with this method each probe has its own cookie */
		bpf_map__set_max_entries(skel->maps.rows_by_address, 1);
	if (!p->plan->layout.stacks.wanted)
		bpf_map__set_max_entries(skel->maps.stacks, 1);
}

int probes__load(struct probes *p, struct target *target, const struct capture_opts *opts,
		 const struct probe_plan *plan)
{
	const struct sched_source_opts sched = {.syscalls = opts->syscalls,
						.page_faults = opts->page_faults,
						.threads = threads_expected(target->pid)};
	int err;

	p->target = target;
	p->plan = plan;
	p->method = attach_method__resolve(opts->method);
	p->skel = proftrace_bpf__open();
	err = p->skel ? 0 : -errno;
	if (err)
		return err__set(err, MESSAGE_BPF_NOT_OPENED,
				descriptors__lack(err) ? descriptors__why(err, 0)
						       : attach__libbpf_error(err));
	choose_programs(p);
	err = sched_source__prepare(p->skel, &sched);
	if (!err)
		err = task_source__prepare(p->skel);
	if (!err && !opts->no_inject)
		cupti_watch__prepare(p->skel, p->method);
	if (err)
		return err;
	size_maps(p);
	p->skel->rodata->with_stacks = plan->layout.stacks.wanted;
	p->skel->rodata->with_args = opts->record_shapes;
	preallocate(p->skel);
	err = proftrace_bpf__load(p->skel);
	if (err)
		return refused(p, err);
	p->ctl = &p->skel->bss->ctl;
	return fill_tables(p);
}

/* ---- attach ---- */

static int set_add(struct probes *p, struct attach_set *set, const struct planned_probe *probe)
{
	struct attach_point point = {
		.path = probe->lib->host_path,
		.offset = probe->offset,
		.cookie = probe->row,
		.symbol = probe->symbol,
	};
	const struct bpf_object *obj = p->skel->obj;
	struct bpf_program *prog;
	int err = 0;

	if (probe->program) {
		prog = bpf_object__find_program_by_name(obj, probe->program);
		err = attach_set__add(set, prog, &point);
	}
	if (err || !probe->return_program)
		return err;
	prog = bpf_object__find_program_by_name(obj, probe->return_program);
	point.is_return = true;
	return attach_set__add(set, prog, &point);
}

const char *probe_group__name(enum probe_group group)
{
	static const char *const names[GROUP_CNT] = {"step",  "update",	   "phase",  "operator",
						     "inner", "memory",	   "device", "node_type",
						     "watch", "enclosing", "launch"};

	return names[group];
}

static struct watch_point watch_point(const struct probes *p, const struct planned_probe *probe)
{
	return (struct watch_point){
		.address = probe->watch_address,
		.prog = bpf_object__find_program_by_name(p->skel->obj, probe->program),
		.writes_alone = probe->writes_alone,
		.tid = probe->watch_tid,
	};
}

/* The optimizer's step is the last of the points. It gives up its breakpoint first, since other
 * means can show it. */
static int attach_points(struct probes *p, const struct watch_point *points, size_t cnt,
			 const pid_t *tids, size_t tid_cnt)
{
	int err = watchpoints__attach(points, cnt, tids, tid_cnt, &p->watchpoints);

	p->step_watched = !err && points[cnt - 1].writes_alone;
	if (!err || !points[cnt - 1].writes_alone)
		return err;
	log__debug("the optimizer's step: %s", err__take(err));
	return cnt > 1 ? watchpoints__attach(points, cnt - 1, tids, tid_cnt, &p->watchpoints) : 0;
}

/* All watched addresses belong to Python. So only Python's threads get data breakpoints. */
static int attach_to_python(struct probes *p, const struct watch_point *points, size_t cnt)
{
	auto_free pid_t *tids = NULL;
	size_t tid_cnt;
	int err = python_threads__list(p->target, &tids, &tid_cnt);

	if (err)
		return err;
	log__debug("%s watched", counted(tid_cnt, "thread is", "threads are").s);
	return attach_points(p, points, cnt, tids, tid_cnt);
}

/* Breakpoints may be missing: a debugger uses them, or the machine has none. Then proftrace records
 * without them. */
int probes__watch(struct probes *p)
{
	struct watch_point points[WATCHPOINTS_MAX];
	size_t cnt = 0;
	int err;

	probes__unwatch(p);
	for (size_t i = 0; i < p->plan->cnt && cnt < WATCHPOINTS_MAX; i++)
		if (p->plan->probes[i].group == GROUP_WATCH && p->plan->probes[i].watch_address &&
		    !(p->pruned && p->pruned[p->plan->probes[i].row]))
			points[cnt++] = watch_point(p, &p->plan->probes[i]);
	if (!cnt)
		return 0;
	err = attach_to_python(p, points, cnt);
	p->attached[GROUP_WATCH] = p->watchpoints;
	if (!err || p->unwatched)
		return 0;
	p->unwatched = true;
	log__warn(MESSAGE_PYTHON_FUNCTIONS_MISSING, err__take(err));
	return 0;
}

void probes__unwatch(struct probes *p)
{
	watchpoints__free(p->watchpoints);
	p->watchpoints = NULL;
	p->step_watched = p->attached[GROUP_WATCH] = false;
}

static bool is_hooked(const struct probes *p, const struct planned_probe *probe)
{
	return p->hooked && p->hooked[probe->row];
}

/* Makes a set of the group's probes from number `from` on: the hooked ones or the others. */
static int make_set(struct probes *p, enum probe_group group, size_t from, bool hooked,
		    struct attach_set **out)
{
	struct attach_set *set =
		attach_set__new(probe_group__name(group), p->method, &p->plan->returns);
	int err = 0;

	if (!set)
		return -ENOMEM;
	attach_set__rows(set, bpf_map__fd(p->skel->maps.rows_by_address));
	for (size_t i = from; i < p->plan->cnt && !err; i++) {
		const struct planned_probe *probe = &p->plan->probes[i];

		if (probe->group == group && !(p->pruned && p->pruned[probe->row]) &&
		    is_hooked(p, probe) == hooked)
			err = set_add(p, set, probe);
	}
	if (err) {
		attach_set__free(set);
		return err;
	}
	*out = set;
	return 0;
}

int probes__attach(struct probes *p, enum probe_group group, pid_t pid)
{
	int err;

	probes__detach(p, group);
	err = make_set(p, group, 0, false, &p->sets[group]);
	if (!err && p->hooked)
		err = make_set(p, group, 0, true, &p->sets[GROUP_CNT + group]);
	if (!err && attach_set__cnt(p->sets[group]))
		err = attach_set__attach(p->sets[group], pid);
	if (err) {
		probes__detach(p, group);
		return err;
	}
	p->attached[group] = attach_set__cnt(p->sets[group]) > 0;
	return 0;
}

static int attach_added(struct probes *p, enum probe_group group, size_t from, pid_t pid)
{
	struct added_set added = {.group = group};
	int err = make_set(p, group, from, false, &added.set);

	if (err)
		return err;
	if (attach_set__cnt(added.set))
		err = attach_set__attach(added.set, pid);
	if (!err)
		err = ARRAY_PUSH(p->added, p->added_cnt, p->added_cap, added);
	if (err)
		attach_set__free(added.set);
	return err;
}

int probes__attach_added(struct probes *p, size_t from, pid_t pid)
{
	int err = 0;

	for (int g = 0; g < GROUP_CNT && !err; g++)
		if (g != GROUP_WATCH && p->attached[g])
			err = attach_added(p, g, from, pid);
	return err;
}

int probes__attach_hooked(struct probes *p, enum probe_group group, pid_t pid)
{
	struct attach_set *hooked = p->sets[GROUP_CNT + group];

	return hooked && attach_set__cnt(hooked) ? attach_set__attach(hooked, pid) : 0;
}

int probes__attach_more(struct probes *p, enum probe_group group, pid_t pid)
{
	int err =
		p->sets[group] && p->attached[group] ? attach_set__attach(p->sets[group], pid) : 0;

	return err ? err : probes__attach_hooked(p, group, pid);
}

static void free_set(struct attach_set **set)
{
	if (*set)
		attach_set__free(*set);
	*set = NULL;
}

void probes__detach(struct probes *p, enum probe_group group)
{
	free_set(&p->sets[group]);
	free_set(&p->sets[GROUP_CNT + group]);
	for (size_t i = 0; i < p->added_cnt; i++)
		if (p->added[i].group == group)
			free_set(&p->added[i].set);
	p->attached[group] = false;
}

void probes__forget_spans(struct probes *p)
{
	int fd = bpf_map__fd(p->skel->maps.threads);
	uint32_t tid, next = 0;
	bool more = !bpf_map_get_next_key(fd, NULL, &tid);

	/* The bound ends the loop: threads may come back into the map during the walk. */
	for (int i = 0; more && i < PT_MAX_THREADS; i++) {
		more = !bpf_map_get_next_key(fd, &tid, &next);
		bpf_map_delete_elem(fd, &tid);
		tid = next;
	}
	p->ctl->nests = 0; /* a span that never ends would seem to enclose all later spans */
}

void probes__release(struct probes *p, const pid_t *pids, size_t cnt)
{
	attach_sets__release(p->sets, 2 * GROUP_CNT, pids, cnt);
}

void probes__free(struct probes *p)
{
	attach_sets__detach(p->sets, 2 * GROUP_CNT);
	probes__unwatch(p);
	for (int g = GROUP_CNT - 1; g >= 0; g--)
		probes__detach(p, g);
	free(p->added);
	proftrace_bpf__destroy(p->skel);
	memset(p, 0, sizeof(*p));
}

int probes__add_target(struct probes *p, pid_t pid)
{
	uint32_t key = (uint32_t)pid, value = p->ctl->target_pid == key ? 1 : 2;

	if (bpf_map_update_elem(bpf_map__fd(p->skel->maps.targets), &key, &value, BPF_ANY))
		return err__set(-errno, MESSAGE_FORKS_NOT_FOLLOWED, pid, strerror(errno));
	return 0;
}

/* ---- statistics ---- */

void probes__stat(const struct probes *p, uint32_t row, struct pt_probe_stat *out)
{
	int cpus = libbpf_num_possible_cpus();
	struct pt_probe_stat per_cpu[cpus > 0 ? cpus : 1];

	memset(out, 0, sizeof(*out));
	if (cpus <= 0 || bpf_map_lookup_elem(bpf_map__fd(p->skel->maps.probe_stat), &row, per_cpu))
		return;
	for (int c = 0; c < cpus; c++) {
		out->hits += per_cpu[c].hits;
		out->spans += per_cpu[c].spans;
		out->span_ns += per_cpu[c].span_ns;
		out->clipped_ns += per_cpu[c].clipped_ns;
		out->long_spans += per_cpu[c].long_spans;
		out->inner += per_cpu[c].inner;
		out->inner_ns += per_cpu[c].inner_ns;
		out->before_ns += per_cpu[c].before_ns;
		out->launches += per_cpu[c].launches;
		out->ends += per_cpu[c].ends;
		out->callers |= per_cpu[c].callers;
		if (per_cpu[c].outer)
			out->outer = per_cpu[c].outer;
	}
}

void probes__forget_stats(struct probes *p)
{
	const int cpus = libbpf_num_possible_cpus();
	auto_free struct pt_probe_stat *none =
		cpus > 0 ? calloc((size_t)cpus, sizeof(*none)) : NULL;

	for (uint32_t row = 0; none && row <= p->plan->row_cnt; row++)
		bpf_map_update_elem(bpf_map__fd(p->skel->maps.probe_stat), &row, none, BPF_ANY);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Attaching BPF programs to a process: what this kernel can do, and the ladder from the fastest way
 * to the surest. And a detach that leaves nothing.
 *
 * Life cycle: attach_set__new, attach_set__add (any number), attach_set__attach, ..., _detach,
 * _free. A set is attached and detached as a whole; use one set per group that comes and goes
 * together. Links are bpf_links: they die with the process that holds them, SIGKILL included.
 */
#ifndef PROFTRACE_ATTACH_H
#define PROFTRACE_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bpf_object;
struct bpf_program;

enum attach_method {
	ATTACH_AUTO = 0,
	ATTACH_UPROBE_MULTI = 1, /* one link for all offsets; Linux 6.6, commit 89ae89f53d20 */
	/* Perf events; with tracefs one event carries many probes. Cookies since Linux 5.15,
	 * 82e6b1eee6a8 */
	ATTACH_PERF_EVENT = 2,
};

/* What the running kernel and our privileges allow, found out by trying, once. */
struct attach_caps {
	bool btf;	       /* /sys/kernel/btf/vmlinux, for CO-RE */
	bool can_bpf;	       /* a trivial program loads */
	bool uprobe_multi;     /* a multi link on a function of our own works */
	bool perf_uprobe;      /* perf_event_open on the uprobe PMU works */
	bool ringbuf, cookies; /* Linux 5.8, 5.15 */
	bool page_faults;      /* for --page-faults: programs around the kernel's function */
	char kernel[65];
	char missing[512]; /* how to get what is missing; empty if nothing is */
};
int attach_caps__probe(struct attach_caps *caps);

/* Does the kernel let a BPF program run around its page fault handler? Some kernels are built
 * without that, or a sandbox forbids it. 0 or a negative errno. */
int kernel__traces_page_faults(void);

/* Is the running kernel at least version major.minor? For features that cannot be tried. True if
 * the kernel does not tell its version. */
bool kernel__at_least(unsigned int major, unsigned int minor);

/* The oldest kernel that has all that proftrace needs. */
enum { KERNEL_MAJOR_MIN = 5, KERNEL_MINOR_MIN = 15 };

/* How many descriptors it takes to open and load the object: its maps and its chosen programs. */
size_t bpf_object__descriptors(const struct bpf_object *obj);

/* What a probe costs on this machine in nanoseconds: the median of many measurements in a child
 * process. */
struct attach_cost {
	uint64_t entry_ns;	  /* plain probe, emulated instruction */
	uint64_t stepped_ns;	  /* plain probe, single-stepped instruction */
	uint64_t entry_return_ns; /* entry and return probe on one function, together */
};
int attach_cost__measure(enum attach_method method, struct attach_cost *cost);

struct attach_point {
	const char *path;   /* file, openable from here */
	uint64_t offset;    /* file offset of the instruction */
	uint64_t cookie;    /* index of its row in the probe table */
	const char *symbol; /* for messages and allow.h (mangled) */
	bool is_return;	    /* refused unless the list of allow.h has the symbol */
};

struct attach_set;
struct allowed_returns;
/* method: not ATTACH_AUTO. returns: the functions that may have return probes, borrowed; NULL:
 * none. Returns NULL if out of memory. */
struct attach_set *attach_set__new(const char *name, enum attach_method method, const struct allowed_returns *returns);
/* Lets one perf event have many points. The programs find each point's row in this map
 * (rows_by_address). Without it each point has an event of its own. */
void attach_set__rows(struct attach_set *s, int map_fd);
/* Copies the point. -EPERM with err__set for a return probe that is not allowed. */
int attach_set__add(struct attach_set *s, struct bpf_program *prog, const struct attach_point *p);
size_t attach_set__cnt(const struct attach_set *s);
/* Attaches to one process, with its present and future threads. Points that the kernel refuses are
 * left out and counted. 0 if at least one point is attached. Several pids may be attached one after
 * another. */
int attach_set__attach(struct attach_set *s, pid_t pid);
size_t attach_set__refused(const struct attach_set *s);
size_t attach_set__links(const struct attach_set *s); /* number of kernel links; detaching takes
							 time for each */
/* Detaches from every process. On return no breakpoint of this set is left. */
void attach_set__detach(struct attach_set *s);
/* The same for several sets, in the time of one, because they wait for the kernel together. */
void attach_sets__detach(struct attach_set *const *sets, size_t cnt);
/* Closes the links of processes that have ended, in all sets. Until then these links cost
 * descriptors and memory. Both functions skip a NULL among the sets. */
void attach_sets__release(struct attach_set *const *sets, size_t cnt, const pid_t *pids,
			  size_t pid_cnt);
void attach_set__free(struct attach_set *s); /* detaches first */

/* Can one perf event have many points here, by tracefs? */
bool attach__has_trace_events(void);

/* Opens the files that attaching by this method writes to. Later this process may lack the right to
 * open them. */
void attach__prepare(enum attach_method method);
/* Call it in a child that attaches probes of its own afterwards. */
void attach__forked(void);

/* Prints libbpf's messages with --verbose only. Our own errors say what matters. */
void attach__hush_libbpf(void);
/* Why libbpf could not open or load an object of ours. Kept until the thread's next call. */
const char *attach__libbpf_error(int err);

/* The method that ATTACH_AUTO stands for here; asks the kernel once. Other methods are returned
 * unchanged. */
enum attach_method attach_method__resolve(enum attach_method method);
/* Sets the program's attach type for the method, before the object is loaded. method: not
 * ATTACH_AUTO. */
void attach_method__prepare(struct bpf_program *prog, enum attach_method method);

#endif

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
	/* Perf events, with many probes each where tracefs lets us; cookies since Linux 5.15,
	 * 82e6b1eee6a8 */
	ATTACH_PERF_EVENT = 2,
};

/* What the running kernel and our privileges allow; asked by trying, once. */
struct attach_caps {
	bool btf;	       /* /sys/kernel/btf/vmlinux, for CO-RE */
	bool can_bpf;	       /* a trivial program loads */
	bool uprobe_multi;     /* a multi link on a function of our own works */
	bool perf_uprobe;      /* perf_event_open on the uprobe PMU works */
	bool ringbuf, cookies; /* Linux 5.8, 5.15 */
	bool page_faults;      /* for --page-faults: programs around the kernel's function */
	char kernel[65];
	char missing[512]; /* what to do about what is missing, empty if nothing is */
};
int attach_caps__probe(struct attach_caps *caps);

/* Whether the kernel lets a program be called around its function that handles page faults. Some
 * kernels are built without that, or a sandbox forbids it. 0 or a negative errno. */
int kernel__traces_page_faults(void);

/* Whether the running kernel's version is at least major.minor, for what cannot be asked by trying.
 * True where it does not say its version. */
bool kernel__at_least(unsigned int major, unsigned int minor);

/* The oldest one that has all that proftrace needs. */
enum { KERNEL_MAJOR_MIN = 5, KERNEL_MINOR_MIN = 15 };

/* Descriptors that opening and loading it takes, for its maps and the programs that are chosen. */
size_t bpf_object__descriptors(const struct bpf_object *obj);

/* What a probe costs here, measured in a child of ours (median of many), in nanoseconds. */
struct attach_cost {
	uint64_t entry_ns;	  /* plain probe, emulated instruction */
	uint64_t stepped_ns;	  /* plain probe, single-stepped instruction */
	uint64_t entry_return_ns; /* entry and return probe on one function, together */
};
int attach_cost__measure(enum attach_method method, struct attach_cost *cost);

struct attach_point {
	const char *path;   /* file, openable from here */
	uint64_t offset;    /* file offset of the instruction */
	uint64_t cookie;    /* row of the probe table */
	const char *symbol; /* for messages and allow.h (mangled) */
	bool is_return;	    /* refused unless allow.h's list has the symbol */
};

struct attach_set;
struct allowed_returns;
/* method: no ATTACH_AUTO. returns: which functions may have return probes, NULL: none; borrowed. NULL: out of memory. */
struct attach_set *attach_set__new(const char *name, enum attach_method method, const struct allowed_returns *returns);
/* Lets perf events have many points each, whose rows the programs find in this map
 * (rows_by_address); without it each point has an event of its own. */
void attach_set__rows(struct attach_set *s, int map_fd);
/* Copies the point. -EPERM with err__set for a return probe that is not allowed. */
int attach_set__add(struct attach_set *s, struct bpf_program *prog, const struct attach_point *p);
size_t attach_set__cnt(const struct attach_set *s);
/* To one process (its threads of now and later). Points that the kernel refuses are left out and
 * counted; 0 if at least one point is attached. Several pids may be attached one after another. */
int attach_set__attach(struct attach_set *s, pid_t pid);
size_t attach_set__refused(const struct attach_set *s);
size_t attach_set__links(const struct attach_set *s); /* kernel links held; detach pays per link */
/* Detaches from every process; when it returns no breakpoint of this set is left. */
void attach_set__detach(struct attach_set *s);
/* The same for several sets in the time of one: detaching waits for the kernel, and they wait
 * together. */
void attach_sets__detach(struct attach_set *const *sets, size_t cnt);
/* Lets go of processes that have ended, in all sets: until then their links cost descriptors and
 * memory. NULL among the sets is skipped, by both. */
void attach_sets__release(struct attach_set *const *sets, size_t cnt, const pid_t *pids,
			  size_t pid_cnt);
void attach_set__free(struct attach_set *s); /* detaches first */

/* Can perf events have many points each here, by tracefs? */
bool attach__has_trace_events(void);

/* Opens what attaching by the method writes to. Later this process may have no right to. */
void attach__prepare(enum attach_method method);
/* In a child that attaches probes of its own after that. */
void attach__forked(void);

/* Sends libbpf's messages to --verbose: what matters of them is said by our own errors. */
void attach__hush_libbpf(void);
/* Why it could not open or load an object of ours. Kept until the thread's next call. */
const char *attach__libbpf_error(int err);

/* What ATTACH_AUTO means here; asks the kernel once. Others come back as they are. */
enum attach_method attach_method__resolve(enum attach_method method);
/* The program's attach type must fit the method, which is no ATTACH_AUTO, before the object is loaded. */
void attach_method__prepare(struct bpf_program *prog, enum attach_method method);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* A process as found: identity, namespaces, libraries, threads, Python, rank. Read-only. */
#ifndef PROFTRACE_TARGET_H
#define PROFTRACE_TARGET_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include "target/elf_file.h"

/* A file mapped executable by the target. */
struct target_lib {
	char *path;	 /* as /proc lists it: target__own_path gives the target's own */
	char *host_path; /* openable from here: the path itself, else /proc/PID/root/..., else
			    /proc/PID/map_files/... for a deleted or overmounted file; identity
			    (device, inode) is verified */
	uint64_t base;	 /* runtime address of virtual address 0 (load bias) */
	bool deleted;	 /* replaced on disk since it was mapped */
};

struct target_thread {
	pid_t tid;
	char comm[16];
};

struct target {
	pid_t pid, ns_pid; /* here; in the process's innermost pid namespace */
	uid_t uid;
	uint64_t start_time; /* ticks, field 22 of /proc/PID/stat: tells a reused pid */
	char comm[16];
	char *exe;   /* resolved path as /proc lists it */
	char *root;  /* what begins such paths where the target lives in a chroot; else empty */
	char **argv; /* NULL-terminated */
	bool is_kthread, is_32bit, is_static, is_stopped;
	bool foreign_mnt_ns, foreign_pid_ns; /* differs from ours: a container */
	struct target_lib *libs;
	size_t lib_cnt;
	char *unreadable;	/* first library that we may not open, or NULL */
	char *copied_text;	/* first library whose code runs from anonymous memory, or NULL */
	size_t copied_text_cnt; /* such libraries */
	char *python; /* "3.11.7" or NULL: from libpython / the executable's name and its library */
	int rank, local_rank, world_size; /* from RANK, LOCAL_RANK, WORLD_SIZE (or OMPI_...,
					     SLURM_...) in its environment; -1 if not set */
};

/* 0 or a negative errno with err__set: -ESRCH (no such process), -EPERM/-EACCES (names the
 * capability), -EINVAL (a thread id: names the process it belongs to). Kernel threads, static and
 * 32-bit programs open; the flags say so. */
int target__open(pid_t pid, struct target **out);
void target__close(struct target *t);
int target__refresh_libs(struct target *t); /* after a dlopen */

/* First library whose basename matches the shell pattern ("libtorch_cpu.so*"); NULL if none. */
const struct target_lib *target__find_lib(const struct target *t, const char *pattern);

/* The library that has the address, and where it is in it; NULL: none, as for code made while
 * running. */
const struct target_lib *target__lib_at(struct target *t, uint64_t address, uint64_t *vaddr);

/* Opened once and kept; NULL with err__set if it cannot be. */
struct elf_file *target__elf(struct target *t, const struct target_lib *lib);
/* Gives back the memory of those that were opened. They stay open. */
void target__drop_elfs(struct target *t);

/* x of its CPython 3.x, 0: none, or not known. */
unsigned int target__python_minor(const struct target *t);
/* Bytes of its str objects before the text of compact ASCII, 0: not known. */
unsigned int target__python_str_head(const struct target *t);
/* The library, or the program itself, that has a CPython interpreter with symbols; NULL: none. */
const struct target_lib *target__python_lib(struct target *t);
/* Runtime address of a symbol of it; 0: there is none. */
uint64_t target__python_symbol(struct target *t, const char *symbol);

/* Threads as of now; caller frees *out. */
int target__threads(const struct target *t, struct target_thread **out, size_t *cnt);

/* Reads the target's memory (process_vm_readv, else /proc/PID/mem); all of len or a negative errno.
 */
int target__read(const struct target *t, uint64_t addr, void *buf, size_t len);
/* The same of another process, a child of the target. */
int target__read_of(pid_t pid, uint64_t addr, void *buf, size_t len);

/* What the target itself calls a path that /proc lists. */
const char *target__own_path(const struct target *t, const char *listed);

/* A regular file of the target's filesystem by its path there, links followed inside its root: a
 * descriptor to read from, or a negative errno. */
int target__open_file(const struct target *t, const char *path);

/* The same file's bytes, at most 64 MB; as file__read. */
char *target__read_file(const struct target *t, const char *path, size_t *len);

/* Same process, not a zombie; is_stopped (by a signal or a debugger) is brought up to date. */
bool target__alive(struct target *t);

/* "process" and "rank" objects of the recording's metadata (doc/reference/recording.md). */
json_t *target__json(const struct target *t);

#endif

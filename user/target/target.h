/* SPDX-License-Identifier: BSD-2-Clause */
/* A process, read-only: identity, namespaces, libraries, threads, Python, rank. */
#ifndef PROFTRACE_TARGET_H
#define PROFTRACE_TARGET_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include "target/elf_file.h"

/* A file mapped executable by the target. */
struct target_lib {
	char *path;	 /* as /proc lists it; target__own_path gives the target's own path */
	char *host_path; /* can be opened from here: the path itself, else /proc/PID/root/...,
			    else /proc/PID/map_files/... for a deleted or overmounted file.
			    Identity (device, inode) is checked */
	uint64_t base;	 /* runtime address of virtual address 0 (load bias) */
	bool deleted;	 /* it was replaced on disk after it was mapped */
};

struct target_thread {
	pid_t tid;
	char comm[16];
};

struct target {
	pid_t pid, ns_pid; /* pid: here; ns_pid: in the process's innermost pid namespace */
	uid_t uid;
	uint64_t start_time; /* in ticks, field 22 of /proc/PID/stat: shows whether a pid was
				reused */
	char comm[16];
	char *exe;   /* resolved path as /proc lists it */
	char *root;  /* prefix of such paths if the target is in a chroot; else empty */
	char **argv; /* NULL-terminated */
	bool is_kthread, is_32bit, is_static, is_stopped;
	bool foreign_mnt_ns, foreign_pid_ns; /* differs from ours, as in a container */
	struct target_lib *libs;
	size_t lib_cnt;
	char *unreadable;	/* first library that this process may not open, or NULL */
	char *copied_text;	/* first library whose code runs from anonymous memory, or NULL */
	size_t copied_text_cnt; /* number of such libraries */
	char *python; /* "3.11.7" or NULL; from libpython, or from the executable's name and
			 library */
	int rank, local_rank, world_size; /* from RANK, LOCAL_RANK, WORLD_SIZE (or OMPI_...,
					     SLURM_...) in its environment; -1: not set */
};

/* 0 or a negative errno with err__set: -ESRCH (no such process), -EPERM/-EACCES (names the
 * capability), -EINVAL (a thread id: names its process). Kernel threads, static and 32-bit programs
 * can be opened; flags show them. */
int target__open(pid_t pid, struct target **out);
void target__close(struct target *t);
int target__refresh_libs(struct target *t); /* call it after a dlopen */

/* First library whose basename matches the shell pattern ("libtorch_cpu.so*"); NULL if none. */
const struct target_lib *target__find_lib(const struct target *t, const char *pattern);

/* The library that contains the address, and where in it. NULL: none, as for code made at run
 * time. */
const struct target_lib *target__lib_at(struct target *t, uint64_t address, uint64_t *vaddr);

/* Opens a library's ELF file once and keeps it. NULL with err__set if that fails. */
struct elf_file *target__elf(struct target *t, const struct target_lib *lib);
/* Gives back the memory of the opened ELF files, which stay open. */
void target__drop_elfs(struct target *t);

/* The x of its CPython 3.x. 0: there is none, or it is unknown. */
unsigned int target__python_minor(const struct target *t);
/* In its str objects, the number of bytes before the text of compact ASCII. 0: unknown. */
unsigned int target__python_str_head(const struct target *t);
/* The library, or the program itself, that has a CPython interpreter with symbols; NULL: none. */
const struct target_lib *target__python_lib(struct target *t);
/* Runtime address of a symbol in that library. 0: there is none. */
uint64_t target__python_symbol(struct target *t, const char *symbol);

/* Threads as of now; caller frees *out. */
int target__threads(const struct target *t, struct target_thread **out, size_t *cnt);

/* Reads the target's memory (process_vm_readv, else /proc/PID/mem); all of len or a negative errno.
 */
int target__read(const struct target *t, uint64_t addr, void *buf, size_t len);
/* The same for another process, a child of the target. */
int target__read_of(pid_t pid, uint64_t addr, void *buf, size_t len);

/* The target's own path for a path that /proc lists. */
const char *target__own_path(const struct target *t, const char *listed);

/* Opens a regular file by its path in the target's file system. Links cannot lead out of its root.
 * A descriptor for reading, or a negative errno. */
int target__open_file(const struct target *t, const char *path);

/* The same file's bytes, at most 64 MB; as file__read. */
char *target__read_file(const struct target *t, const char *path, size_t *len);

/* Is it the same process, and no zombie? Updates is_stopped (by a signal or a debugger). */
bool target__alive(struct target *t);

/* The objects "process" and "rank" of the recording's metadata (doc/reference/recording.md). */
json_t *target__json(const struct target *t);

#endif

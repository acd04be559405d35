/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * The kernel types that the BPF programs use, trimmed to the fields they read. CO-RE relocates each
 * access against the running kernel, so only names matter here; order and size do not. Not a dump:
 * add a field when a program needs it.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef _Bool bool;
enum { false = 0, true = 1 };

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};
enum { BPF_ANY = 0, BPF_NOEXIST = 1, BPF_EXIST = 2 };
enum { BPF_F_NO_PREALLOC = 1, BPF_F_MMAPABLE = 1024 };
enum { BPF_LOCAL_STORAGE_GET_F_CREATE = 1 };
enum { BPF_RB_NO_WAKEUP = 1, BPF_RB_FORCE_WAKEUP = 2 };
enum { BPF_RB_AVAIL_DATA = 0 };

/* Registers at a probe: a fixed ABI, so not relocated. */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs,
		flags, sp, ss;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct file;
struct vm_area_struct {
	struct file *vm_file;
};

struct thread_info {
	unsigned long flags;
	u32 cpu;
};

struct sched_entity {
	u64 sum_exec_runtime;
};

struct sched_info {
	unsigned long long run_delay;
};

struct signal_struct {
	atomic_t live;
	int group_exit_code;
	unsigned int flags;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	int pid;
	int tgid;
	int on_cpu;
	unsigned int flags;
	int exit_code;
	char comm[16];
	struct sched_entity se;
	struct sched_info sched_info;
	struct signal_struct *signal;
	struct task_struct *group_leader;
	struct task_struct *real_parent;
	struct thread_struct thread;
};

/* Before 5.14 the state was a long named `state`; before 5.16 x86 kept the CPU in the task. */
struct task_struct___before_5_14 {
	volatile long state;
};
struct task_struct___before_5_16 {
	unsigned int cpu;
};

struct bpf_iter__task {
	struct task_struct *task;
};

#pragma clang attribute pop

#endif

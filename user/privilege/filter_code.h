/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions of seccomp filters (seccomp(2)). */
#ifndef PROFTRACE_FILTER_CODE_H
#define PROFTRACE_FILTER_CODE_H

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#else
#error "which architecture does seccomp call this?"
#endif

#define WRITES ((uint32_t)(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY)))

/* Flags of clone() that make namespaces. */
#define NEW_SPACES                                                                                 \
	((uint32_t)(CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWUTS |     \
		    CLONE_NEWIPC | CLONE_NEWCGROUP))

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Skips `no` instructions unless the loaded word is value. */
#define UNLESS(value, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(value), 0, (no))
#define RETURN(value)	  BPF_STMT(BPF_RET | BPF_K, (value))
/* Loads the low word of an argument: both architectures are little-endian. */
#define LOAD_ARG(n) LOAD(args[n])
/* If one of the bits is set: `then`, else the call is allowed. Changes the loaded word. */
#define IF_BITS(bits, then)                                                                        \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), RETURN(then), RETURN(SECCOMP_RET_ALLOW)

#endif

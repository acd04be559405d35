// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/syscall_filter.h"
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <asm/termbits.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <asm/ioctls.h>
#include <sys/syscall.h>
#include "common/util.h"
#include "privilege/filter_code.h"

#define DENY	  (SECCOMP_RET_ERRNO | ENOSYS)
#define DENY_FILE (SECCOMP_RET_ERRNO | EACCES)

static const uint16_t allowed[] = {
	/* for open descriptors */
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_pread64,
	SYS_pwrite64,
	SYS_preadv,
	SYS_pwritev,
	SYS_lseek,
	SYS_close,
	SYS_close_range,
	SYS_dup,
	SYS_dup3,
	SYS_fcntl,
	SYS_ftruncate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fallocate,
	SYS_fstat,
	SYS_fstatfs,
	SYS_fadvise64,
	SYS_sendfile,
	SYS_ppoll,
	SYS_sendmsg,
	SYS_recvmsg,
	/* read facts about files */
	SYS_newfstatat,
	SYS_statx,
	SYS_faccessat,
	SYS_faccessat2,
	SYS_readlinkat,
	SYS_getdents64,
	SYS_getcwd,
	SYS_statfs,
	/* memory */
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_msync,
	SYS_memfd_create,
	SYS_mincore,
	SYS_membarrier,
	/* threads */
	SYS_futex,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_rseq,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_sched_getparam,
	SYS_sched_getscheduler,
	SYS_getpriority,
	SYS_getcpu,
	SYS_exit,
	SYS_exit_group,
	SYS_restart_syscall,
	SYS_set_tid_address,
	SYS_wait4,
	SYS_waitid,
	/* signals */
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigpending,
	SYS_rt_sigtimedwait,
	SYS_sigaltstack,
	/* ask who and when */
	SYS_getpid,
	SYS_getppid,
	SYS_gettid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getgroups,
	SYS_capget,
	SYS_uname,
	SYS_sysinfo,
	SYS_getrusage,
	SYS_times,
	SYS_getrlimit,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_getrandom,
#ifdef SYS_open
	SYS_poll,
	SYS_select,
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_time,
	SYS_dup2,
	SYS_getdents,
	SYS_arch_prctl,
#endif
};

/* For FILTER_SERVER: calls that make, bind or connect no socket. */
static const uint16_t serving[] = {
	SYS_accept4,	SYS_recvfrom,	 SYS_sendto,	SYS_shutdown,	 SYS_setsockopt,
	SYS_getsockopt, SYS_getsockname, SYS_epoll_ctl, SYS_epoll_pwait,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
};

/* For FILTER_CLIENT: what libcurl and the C library's resolver also need. */
static const uint16_t calling[] = {
	SYS_socket,	 SYS_connect,	  SYS_bind,	  SYS_recvfrom,	  SYS_sendto,
	SYS_sendmmsg,	 SYS_shutdown,	  SYS_setsockopt, SYS_getsockopt, SYS_getsockname,
	SYS_getpeername, SYS_socketpair,  SYS_pipe2,	  SYS_eventfd2,	  SYS_epoll_create1,
	SYS_epoll_ctl,	 SYS_epoll_pwait,
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
};

static const struct sock_filter begin[] = {
	LOAD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
	RETURN(SECCOMP_RET_KILL_PROCESS),
	LOAD(nr),
};

/* For FILTER_SERVER, which reads data from clients. newfstatat() is the C library's fstat(). */
static const uint16_t refused[] = {
	SYS_openat, SYS_readlinkat, SYS_getdents64,
#ifdef SYS_open
	SYS_open,   SYS_readlink,   SYS_getdents,
#endif
};

static const struct sock_filter head[] = {
	UNLESS(SYS_openat, 4),
	LOAD_ARG(2),
	IF_BITS(WRITES, DENY_FILE),
#ifdef SYS_open
	UNLESS(SYS_open, 4),
	LOAD_ARG(1),
	IF_BITS(WRITES, DENY_FILE),
#endif
	/* Threads are made by clone. The flags of clone3 are not visible to a filter, and the C
	 * library works without it. */
	UNLESS(SYS_clone, 5),
	LOAD_ARG(0),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NEW_SPACES, 1, 0),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0),
	RETURN(DENY),
	RETURN(SECCOMP_RET_ALLOW),
	/* Limits may only be read. */
	UNLESS(SYS_prlimit64, 4),
	LOAD_ARG(2),
	IF_BITS(UINT32_MAX, DENY),
	/* A terminal may be asked for its size. It must get no input from us (TIOCSTI). */
	UNLESS(SYS_ioctl, 6),
	LOAD_ARG(1),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCGETS, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCGETS2, 2, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCGWINSZ, 1, 0),
	RETURN(SECCOMP_RET_ERRNO | ENOTTY),
	RETURN(SECCOMP_RET_ALLOW),
	/* Names of threads, and what sanitizers ask. Privileges can only be removed. */
	UNLESS(SYS_prctl, 1),
	RETURN(SECCOMP_RET_ALLOW),
};

/* From BPF_MAP_LOOKUP_ELEM to BPF_MAP_GET_NEXT_KEY. Nothing can be made, loaded or attached. */
static const struct sock_filter maps[] = {
	UNLESS(SYS_bpf, 5),
	LOAD_ARG(0),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, BPF_MAP_LOOKUP_ELEM, 0, 2),
	BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, BPF_MAP_GET_NEXT_KEY, 1, 0),
	RETURN(SECCOMP_RET_ALLOW),
	RETURN(DENY),
};

#define HEAD_CNT ARRAY_SIZE(head)
#define MAX_CNT                                                                                    \
	(ARRAY_SIZE(begin) + HEAD_CNT + ARRAY_SIZE(maps) + 5 +                                     \
	 2 * (ARRAY_SIZE(refused) + ARRAY_SIZE(allowed) + ARRAY_SIZE(serving) +                    \
	      ARRAY_SIZE(calling)) +                                                               \
	 1)

bool syscall_filter__is_there(void)
{
	/* Called without a filter, it fails with EFAULT if filters exist (seccomp(2)). */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) < 0 && errno == EFAULT;
}

static size_t answer(struct sock_filter *code, size_t cnt, const uint16_t *calls, size_t call_cnt,
		     uint32_t with)
{
	for (size_t i = 0; i < call_cnt; i++) {
		code[cnt++] = (struct sock_filter)UNLESS(calls[i], 1);
		code[cnt++] = (struct sock_filter)RETURN(with);
	}
	return cnt;
}

int syscall_filter__enter(enum filter_for use)
{
	/* Allows signals to itself, for abort(). */
	const struct sock_filter to_self[] = {
		UNLESS(SYS_tgkill, 4),	   LOAD_ARG(0),	 UNLESS(getpid(), 1),
		RETURN(SECCOMP_RET_ALLOW), RETURN(DENY),
	};
	struct sock_filter code[MAX_CNT];
	struct sock_fprog program = {.filter = code};
	size_t cnt = ARRAY_SIZE(begin);

	memcpy(code, begin, sizeof(begin));
	if (use == FILTER_SERVER)
		cnt = answer(code, cnt, refused, ARRAY_SIZE(refused), DENY_FILE);
	memcpy(code + cnt, head, sizeof(head));
	cnt += HEAD_CNT;
	memcpy(code + cnt, to_self, sizeof(to_self));
	cnt += ARRAY_SIZE(to_self);
	if (use == FILTER_MAPS) {
		memcpy(code + cnt, maps, sizeof(maps));
		cnt += ARRAY_SIZE(maps);
	}
	cnt = answer(code, cnt, allowed, ARRAY_SIZE(allowed), SECCOMP_RET_ALLOW);
	if (use == FILTER_SERVER)
		cnt = answer(code, cnt, serving, ARRAY_SIZE(serving), SECCOMP_RET_ALLOW);
	if (use == FILTER_CLIENT)
		cnt = answer(code, cnt, calling, ARRAY_SIZE(calling), SECCOMP_RET_ALLOW);
	code[cnt++] = (struct sock_filter)RETURN(DENY);
	program.len = (unsigned short)cnt;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) ? -errno : 0;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "privilege/session_filter.h"
#include <asm/termbits.h>
#include <asm/ioctls.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include "common/err.h"
#include "privilege/message_table.h"
#include "common/util.h"
#include "privilege/filter_code.h"

#define REFUSED	    (SECCOMP_RET_ERRNO | EPERM)
#define LACKING	    (SECCOMP_RET_ERRNO | ENOSYS)
#define ALLOWED	    SECCOMP_RET_ALLOW
#define PERF_IOCTLS 0x24u /* their type in bits 8 to 15: PERF_EVENT_IOC_ENABLE, ... */

/* Numbers that the build machine's headers may lack. From 424 on they are the same on all
 * architectures. */
enum later_call {
	CALL_open_tree = 428,
	CALL_move_mount = 429,
	CALL_fsopen = 430,
	CALL_fsconfig = 431,
	CALL_fsmount = 432,
	CALL_fspick = 433,
	CALL_pidfd_getfd = 438,
	CALL_mount_setattr = 442,
	CALL_quotactl_fd = 443,
	CALL_fchmodat2 = 452,
	CALL_lsm_set_self_attr = 460,
	CALL_setxattrat = 463,
	CALL_removexattrat = 466,
	CALL_open_tree_attr = 467,
	CALL_file_setattr = 469,
};

static const uint16_t refused[] = {
	/* change names of files */
	SYS_renameat,
#ifdef SYS_renameat2
	SYS_renameat2,
#endif
	SYS_linkat,
	SYS_symlinkat,
	SYS_unlinkat,
	SYS_mkdirat,
	SYS_mknodat,
#ifdef SYS_open
	SYS_creat,
	SYS_rename,
	SYS_link,
	SYS_symlink,
	SYS_unlink,
	SYS_mkdir,
	SYS_rmdir,
	SYS_mknod,
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
	SYS_utime,
	SYS_utimes,
	SYS_futimesat,
#endif
	/* file handles open files without a path; message queues are files */
	SYS_open_by_handle_at,
	SYS_mq_open,
	SYS_mq_unlink,
	/* its descriptors of others' files are open for writing */
	SYS_fanotify_init,
	SYS_fanotify_mark,
	/* change attributes of files */
	SYS_truncate,
	SYS_fchmod,
	SYS_fchmodat,
	CALL_fchmodat2,
	SYS_fchown,
	SYS_fchownat,
	SYS_utimensat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_fsetxattr,
	SYS_removexattr,
	SYS_lremovexattr,
	SYS_fremovexattr,
	CALL_setxattrat,
	CALL_removexattrat,
	CALL_file_setattr,
	SYS_quotactl,
	CALL_quotactl_fd,
	/* change file systems and namespaces */
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_swapon,
	SYS_swapoff,
	SYS_acct,
	CALL_open_tree,
	CALL_open_tree_attr,
	CALL_move_mount,
	CALL_fsopen,
	CALL_fsconfig,
	CALL_fsmount,
	CALL_fspick,
	CALL_mount_setattr,
	SYS_setns,
	SYS_unshare,
	/* run other programs, or let the kernel write for us */
	SYS_execve,
	SYS_execveat,
	SYS_connect,
	SYS_socket,
	SYS_bind,
	SYS_shmget,
	SYS_shmat,
	SYS_shmctl,
	SYS_semget,
	SYS_semop,
	SYS_semtimedop,
	SYS_semctl,
	SYS_msgget,
	SYS_msgsnd,
	SYS_msgrcv,
	SYS_msgctl,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
#ifdef SYS__sysctl
	SYS__sysctl,
#endif
	SYS_reboot,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_clock_adjtime,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	SYS_syslog,
	/* change the user; making the output changes all three ids at once */
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setfsuid,
	SYS_setfsgid,
	CALL_lsm_set_self_attr,
};

/* These could hide the calls above. */
static const uint16_t lacking[] = {
	437 /* openat2 */,	     435 /* clone3 */,
	425 /* io_uring_setup */,    426 /* io_uring_enter */,
	427 /* io_uring_register */,
};

/* Calls for loading our library into a process, and for freezing one. */
static const uint16_t of_tracing[] = {
	SYS_ptrace,
	SYS_process_vm_writev,
	CALL_pidfd_getfd,
};

/* Commands of bpf(2) that make, load and use our own objects. Others reach objects of other
 * processes by number or name, or attach to them. */
static const uint16_t bpf_commands[] = {
	BPF_MAP_CREATE,
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_FREEZE,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_PROG_LOAD,
	BPF_PROG_BIND_MAP,
	BPF_BTF_LOAD,
	BPF_OBJ_GET_INFO_BY_FD,
	/* types of kernel modules, which are only read */
	BPF_BTF_GET_NEXT_ID,
	BPF_BTF_GET_FD_BY_ID,
	BPF_RAW_TRACEPOINT_OPEN,
	BPF_LINK_CREATE,
	BPF_ITER_CREATE,
};

static const struct sock_filter head[] = {
	LOAD(arch),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
	RETURN(REFUSED),
	LOAD(nr),
#ifdef __x86_64__
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000 /* x32 */, 0, 1),
	RETURN(REFUSED),
#endif
	UNLESS(SYS_openat, 4),
	LOAD_ARG(2),
	IF_BITS(WRITES, REFUSED),
#ifdef SYS_open
	UNLESS(SYS_open, 4),
	LOAD_ARG(1),
	IF_BITS(WRITES, REFUSED),
#endif
	UNLESS(SYS_clone, 4),
	LOAD_ARG(0),
	IF_BITS(NEW_SPACES, REFUSED),
	/* A pair of sockets names no other socket. Any other socket can send anywhere. */
	UNLESS(SYS_socketpair, 4),
	LOAD_ARG(1),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 1),
	RETURN(ALLOWED),
	RETURN(REFUSED),
	/* Some ioctls change a file that is open for reading. Perf events and terminals need
	 * theirs. */
	UNLESS(SYS_ioctl, 10),
	LOAD_ARG(1),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCGETS, 6, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TCGETS2, 5, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCGWINSZ, 4, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCGPGRP, 3, 0),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, TIOCSPGRP, 2, 0),
	BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff00),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PERF_IOCTLS << 8, 0, 1),
	RETURN(ALLOWED),
	RETURN(SECCOMP_RET_ERRNO | ENOTTY),
};

#define MAX_CNT                                                                                    \
	(ARRAY_SIZE(head) + 3 + 2 * ARRAY_SIZE(bpf_commands) +                                     \
	 2 * (ARRAY_SIZE(refused) + ARRAY_SIZE(lacking) + ARRAY_SIZE(of_tracing)) + 1)

static size_t add(struct sock_filter *code, size_t cnt, const uint16_t *calls, size_t call_cnt,
		  uint32_t answer)
{
	for (size_t i = 0; i < call_cnt; i++) {
		code[cnt++] = (struct sock_filter)UNLESS(calls[i], 1);
		code[cnt++] = (struct sock_filter)RETURN(answer);
	}
	return cnt;
}

static size_t add_bpf(struct sock_filter *code, size_t cnt)
{
	code[cnt++] = (struct sock_filter)UNLESS(SYS_bpf, 2 * ARRAY_SIZE(bpf_commands) + 2);
	code[cnt++] = (struct sock_filter)LOAD_ARG(0);
	cnt = add(code, cnt, bpf_commands, ARRAY_SIZE(bpf_commands), ALLOWED);
	code[cnt++] = (struct sock_filter)RETURN(REFUSED);
	return cnt;
}

static enum { NONE, TRACING, STRICT } now;

int session_filter__enter(bool may_trace)
{
	const int wanted = may_trace ? TRACING : STRICT;
	struct sock_filter code[MAX_CNT];
	struct sock_fprog program = {.filter = code};
	size_t cnt = ARRAY_SIZE(head);
	long result;

	if ((int)now >= wanted)
		return 0;
	memcpy(code, head, sizeof(head));
	cnt = add_bpf(code, cnt);
	cnt = add(code, cnt, refused, ARRAY_SIZE(refused), REFUSED);
	cnt = add(code, cnt, lacking, ARRAY_SIZE(lacking), LACKING);
	if (!may_trace)
		cnt = add(code, cnt, of_tracing, ARRAY_SIZE(of_tracing), REFUSED);
	code[cnt++] = (struct sock_filter)RETURN(ALLOWED);
	program.len = (unsigned short)cnt;
	/* A positive result is a thread with another filter. */
	result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
	if (result)
		return result < 0 ? -errno : -EBUSY;
	now = wanted;
	return 0;
}

void session_filter__give_up_tracing(void)
{
	int err = now == TRACING ? session_filter__enter(false) : 0;

	if (err)
		log__warn(MESSAGE_PTRACE_RIGHT_KEPT, strerror(-err));
}

// SPDX-License-Identifier: BSD-2-Clause
#include "inject/seccomp.h"
#include <linux/audit.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "common/err.h"
#include "inject/message_table.h"
#include "common/util.h"
#include "inject/filter_reader.h"
#include "inject/inject.h"
#include "inject/remote.h"
#include "inject/tracee.h"

/* State of a classic BPF program (Documentation/networking/filter.rst). */
struct machine {
	uint32_t a, x, mem[BPF_MEMWORDS];
	const struct seccomp_data *call;
};

static bool load(struct machine *m, const struct sock_filter *i, uint32_t *reg)
{
	switch (BPF_MODE(i->code)) {
	case BPF_ABS:
		if (i->k % 4 || i->k > sizeof(*m->call) - 4)
			return false;
		memcpy(reg, (const char *)m->call + i->k, 4);
		return true;
	case BPF_IMM:
		*reg = i->k;
		return true;
	case BPF_LEN:
		*reg = sizeof(*m->call);
		return true;
	case BPF_MEM:
		if (i->k >= BPF_MEMWORDS)
			return false;
		*reg = m->mem[i->k];
		return true;
	default:
		return false;
	}
}

static bool compute(struct machine *m, const struct sock_filter *i)
{
	uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		m->a += v;
		return true;
	case BPF_SUB:
		m->a -= v;
		return true;
	case BPF_MUL:
		m->a *= v;
		return true;
	case BPF_OR:
		m->a |= v;
		return true;
	case BPF_AND:
		m->a &= v;
		return true;
	case BPF_XOR:
		m->a ^= v;
		return true;
	case BPF_LSH:
		m->a = v < 32 ? m->a << v : 0;
		return true;
	case BPF_RSH:
		m->a = v < 32 ? m->a >> v : 0;
		return true;
	case BPF_NEG:
		m->a = -m->a;
		return true;
	case BPF_DIV:
		if (!v)
			return false;
		m->a /= v;
		return true;
	default:
		return false;
	}
}

static bool jump_taken(const struct machine *m, const struct sock_filter *i)
{
	uint32_t v = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_OP(i->code)) {
	case BPF_JEQ:
		return m->a == v;
	case BPF_JGT:
		return m->a > v;
	case BPF_JGE:
		return m->a >= v;
	default:
		return m->a & v; /* BPF_JSET */
	}
}

static bool store(struct machine *m, const struct sock_filter *i)
{
	if (i->k >= BPF_MEMWORDS)
		return false;
	m->mem[i->k] = BPF_CLASS(i->code) == BPF_ST ? m->a : m->x;
	return true;
}

unsigned int seccomp__run(const struct sock_filter *insns, size_t cnt,
			  const struct seccomp_data *call)
{
	struct machine m = {.call = call};
	bool ok = true;

	/* Jumps only go forwards, so this loop ends. */
	for (size_t pc = 0; ok && pc < cnt; pc++) {
		const struct sock_filter *i = &insns[pc];

		switch (BPF_CLASS(i->code)) {
		case BPF_LD:
			ok = load(&m, i, &m.a);
			break;
		case BPF_LDX:
			ok = load(&m, i, &m.x);
			break;
		case BPF_ST:
		case BPF_STX:
			ok = store(&m, i);
			break;
		case BPF_ALU:
			ok = compute(&m, i);
			break;
		case BPF_JMP:
			if (BPF_OP(i->code) == BPF_JA)
				pc += i->k;
			else
				pc += jump_taken(&m, i) ? i->jt : i->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(i->code) == BPF_A ? m.a : i->k;
		case BPF_MISC:
			if (BPF_MISCOP(i->code) == BPF_TAX)
				m.x = m.a;
			else
				m.a = m.x;
			break;
		}
	}
	return SECCOMP_RET_KILL_PROCESS;
}

struct needed {
	const char *name;
	int nr;
	bool may_fail; /* the filter may return an errno, because the caller has a fallback */
	uint64_t args[6];
};

#define THREAD_FLAGS                                                                               \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SYSVSEM | CLONE_SIGHAND | CLONE_THREAD |        \
	 CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)
#define FILE_MAP (MAP_PRIVATE | MAP_DENYWRITE)

/* System calls of the remote code, pthread_create, dlopen and the end of a thread. */
static const struct needed needed[] = {
	{"mmap", SYS_mmap, false, {0, REMOTE_SIZE, PROT_READ | PROT_EXEC, FILE_MAP, 3}},
	{"mmap", SYS_mmap, false, {0, 4096, PROT_READ | PROT_WRITE, FILE_MAP | MAP_FIXED, 3}},
	{"mprotect", SYS_mprotect, false, {0, 4096, PROT_READ | PROT_WRITE}},
	{"mprotect", SYS_mprotect, false, {0, 4096, PROT_READ}},
	{"munmap", SYS_munmap, false, {0, REMOTE_SIZE}},
	{"madvise", SYS_madvise, true, {0, 4096, MADV_DONTNEED}},
	{"brk", SYS_brk, true, {0}},
	{"rt_sigprocmask", SYS_rt_sigprocmask, false, {0}},
	{"clone3", SYS_clone3, true, {0}},
	{"clone", SYS_clone, false, {THREAD_FLAGS}},
	{"set_robust_list", SYS_set_robust_list, true, {0}},
	{"rseq", SYS_rseq, true, {0}},
	{"gettid", SYS_gettid, true, {0}},
	{"nanosleep", SYS_nanosleep, false, {0}},
	{"clock_gettime", SYS_clock_gettime, false, {1}},
	{"futex", SYS_futex, false, {0, 128, 2}},
	{"openat", SYS_openat, false, {(uint64_t)-100}},
	{"read", SYS_read, false, {3}},
	{"pread64", SYS_pread64, false, {3}},
	{"newfstatat", SYS_newfstatat, false, {3, 0, 0, 0x1000}},
	{"fstat", SYS_fstat, true, {3}},
	{"close", SYS_close, false, {3}},
	{"exit", SYS_exit, false, {0}},
};
static const struct needed needed_memfd = {"memfd_create", SYS_memfd_create, false, {0, 3}};

/* The lowest of all answers counts, in the kernel's order (seccomp_run_filters). */
static uint32_t answer(const struct filters *f, int nr, const uint64_t args[6])
{
	struct seccomp_data call = {.nr = nr, .arch = AUDIT_ARCH_X86_64};
	uint32_t worst = SECCOMP_RET_ALLOW;

	memcpy(call.args, args, sizeof(call.args));
	for (size_t i = 0; i < f->cnt; i++) {
		uint32_t ret = seccomp__run(f->insns[i], f->lens[i], &call);

		if ((int32_t)(ret & SECCOMP_RET_ACTION_FULL) <
		    (int32_t)(worst & SECCOMP_RET_ACTION_FULL))
			worst = ret;
	}
	return worst;
}

static int check_call(pid_t pid, const struct filters *f, const struct needed *n)
{
	uint32_t action = answer(f, n->nr, n->args) & SECCOMP_RET_ACTION_FULL;

	if (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG ||
	    (action == SECCOMP_RET_ERRNO && n->may_fail))
		return 0;
	return err__set(-EACCES, MESSAGE_SECCOMP_FORBIDS_CALL, pid, n->name, n->nr);
}

static int seccomp_mode(pid_t tid)
{
	return proc__status(tid, "Seccomp");
}

bool seccomp__is_filtered(pid_t tid)
{
	return seccomp_mode(tid) != SECCOMP_MODE_DISABLED;
}

static int see_filters(void *most, pid_t tid)
{
	const int cnt = proc__status(tid, "Seccomp_filters");

	if (cnt > *(int *)most)
		*(int *)most = cnt;
	return 0;
}

int seccomp__filter_cnt(pid_t pid)
{
	int most = 0;

	proc__each_task(pid, see_filters, &most);
	return most;
}

static int check_filters(pid_t pid, const struct filters *f, const struct inject_request *request)
{
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(needed); i++)
		err = check_call(pid, f, &needed[i]);
	if (!err && request->image)
		err = check_call(pid, f, &needed_memfd);
	for (size_t i = 0; !err && i < request->syscall_cnt; i++) {
		struct needed n = {"what the library does", request->syscalls[i], true, {0}};

		err = check_call(pid, f, &n);
	}
	return err;
}

static struct seccomp_state state_of(pid_t tid)
{
	return (struct seccomp_state){seccomp_mode(tid), proc__status(tid, "Seccomp_filters")};
}

int seccomp__check(pid_t pid, pid_t tid, const struct inject_request *request,
		   struct seccomp_state *state, struct tracee *cost)
{
	struct filters f;
	int err;

	*state = state_of(tid);
	if (state->mode == SECCOMP_MODE_DISABLED)
		return 0;
	if (state->mode == SECCOMP_MODE_STRICT)
		return err__set(-EACCES, MESSAGE_SECCOMP_STRICT, pid);
	err = filter_reader__read(pid, tid, &f);
	cost->stops += f.stops;
	cost->stopped_ns += f.stopped_ns;
	if (!err)
		err = check_filters(pid, &f, request);
	filters__clear(&f);
	return err;
}

bool seccomp__is_still(pid_t tid, const struct seccomp_state *state)
{
	const struct seccomp_state now = state_of(tid);

	return now.mode == state->mode && now.filter_cnt == state->filter_cnt;
}

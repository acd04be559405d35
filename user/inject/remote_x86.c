// SPDX-License-Identifier: BSD-2-Clause
/*
 * Assembly instead of C: it must work at any address, without code that compilers and sanitizers
 * add to functions. It is copied from our read-only data.
 */
#include "inject/remote.h"
#include <assert.h>

#ifndef __x86_64__
#error "write remote_ARCH.c"
#endif

static_assert(offsetof(struct remote_data, munmap) == RD_MUNMAP, "layout");
static_assert(offsetof(struct remote_data, sigmask) == RD_SIGMASK, "layout");
static_assert(offsetof(struct remote_data, regs.rax) == RD_RAX, "layout");
static_assert(offsetof(struct remote_data, regs.rsp) == RD_RSP, "layout");
static_assert(offsetof(struct remote_data, regs.r15) == RD_R15, "layout");
static_assert(offsetof(struct remote_data, regs.rflags) == RD_RFLAGS, "layout");
static_assert(offsetof(struct remote_data, state) == RD_STATE, "layout");
static_assert(offsetof(struct remote_data, tid) == RD_TID, "layout");
static_assert(offsetof(struct remote_data, release) == RD_RELEASE, "layout");
static_assert(offsetof(struct remote_data, phase) == RD_PHASE, "layout");
static_assert(offsetof(struct remote_data, value) == RD_VALUE, "layout");
static_assert(offsetof(struct remote_data, mxcsr) == RD_MXCSR, "layout");
static_assert(offsetof(struct remote_data, path) == RD_PATH, "layout");
static_assert(offsetof(struct remote_data, arg) == RD_ARG, "layout");
static_assert(offsetof(struct remote_data, error) == RD_ERROR, "layout");
static_assert(offsetof(struct remote_data, now) == RD_NOW, "layout");
static_assert(sizeof(struct remote_stub_data) == 96, "layout");
static_assert(sizeof(struct remote_data) <= REMOTE_PAGE, "layout");

#define STR_(x) #x
#define STR(x)	STR_(x)
/* A field of the data page, relative to the code page before it. */
#define D(field) "proftrace_remote_main+" STR(REMOTE_PAGE) "+" STR(field) "(%rip)"
/* The same with the data page in %rbx. */
#define B(field) STR(field) "(%rbx)"

/* Rounds of `pause`, 10 to 140 cycles each: 10 to 100 ms. */
#define WAIT_ROUNDS "0x200000"

/* No instruction here changes the flags: `not`, `lea`, `loop` and `jrcxz` do not. mmap with
 * MAP_FIXED_NOREPLACE returns the given address (rdi), or fails. */
/* clang-format off */
__asm__(
	".pushsection .rodata\n"
	".balign 16\n"
	"proftrace_stub:\n"
	"	syscall\n" /* mmap(rdi, rsi, r-x, ...) */
	"	mov %rax, %r8\n"
	"	mov %rax, %rcx\n"
	"	not %rcx\n"
	"	lea 1(%rdi,%rcx), %rcx\n"
	"	jrcxz 1f\n"
	"	jmp 2f\n"
	"1:	lea " STR(REMOTE_PAGE) "(%rdi), %rdi\n"
	"	lea -" STR(REMOTE_PAGE) "(%rsi), %rsi\n"
	"	mov $3, %edx\n"
	"	mov $10, %eax\n"
	"	syscall\n" /* mprotect(rest, PROT_READ | PROT_WRITE) */
	"2:	mov $" WAIT_ROUNDS ", %ecx\n"
	"proftrace_stub_wait:\n"
	"	pause\n"
	"	loop proftrace_stub_wait\n"
	"proftrace_stub_wait_end:\n"
	"	mov $14, %eax\n"
	"	mov $2, %edi\n"
	"	lea proftrace_stub_data(%rip), %rsi\n"
	"	mov $0, %edx\n"
	"	mov $8, %r10d\n"
	"	syscall\n" /* rt_sigprocmask(SIG_SETMASK, &mask, NULL, 8) */
	"	mov proftrace_stub_data+8(%rip), %rax\n"
	"	mov proftrace_stub_data+16(%rip), %rcx\n"
	"	mov proftrace_stub_data+24(%rip), %rdx\n"
	"	mov proftrace_stub_data+32(%rip), %rsi\n"
	"	mov proftrace_stub_data+40(%rip), %rdi\n"
	"	mov proftrace_stub_data+48(%rip), %r8\n"
	"	mov proftrace_stub_data+56(%rip), %r9\n"
	"	mov proftrace_stub_data+64(%rip), %r10\n"
	"	mov proftrace_stub_data+72(%rip), %r11\n"
	"	jmp *proftrace_stub_data+80(%rip)\n"
	"proftrace_stub_unmap:\n"
	"	syscall\n"
	"	mov %rax, %r8\n"
	"	jmp 2b\n"
	".balign 8\n"
	"proftrace_stub_data:\n"
	"	.zero 96\n"
	"proftrace_stub_end:\n"
	".popsection\n");
/* clang-format on */

/* The tracee thread, on the region's stack. It makes a thread, waits to be put back, and otherwise
 * restores itself. The signal mask comes before the registers, because restoring it uses some. */
/* clang-format off */
__asm__(
	".pushsection .rodata\n"
	".balign 16\n"
	"proftrace_remote_main:\n"
	"	cld\n"
	"	lea " D(RD_PTHREAD_CREATE) ", %rbx\n"
	"	lea " STR(REMOTE_PAGE) "(%rbx), %rdi\n"
	"	mov $-1, %eax\n"
	"	mov $-1, %edx\n"
	"	xsave64 (%rdi)\n"
	"	fninit\n"
	"	ldmxcsr " B(RD_MXCSR) "\n"
	"	lea " B(RD_THREAD) ", %rdi\n"
	"	xor %esi, %esi\n"
	"	lea proftrace_remote_thread(%rip), %rdx\n"
	"	mov %rbx, %rcx\n"
	"	call *" B(RD_PTHREAD_CREATE) "\n"
	"	mov %eax, %eax\n"
	"	mov %rax, " B(RD_CREATE_RC) "\n"
	"	movq $" STR(REMOTE_CREATED) ", " B(RD_STATE) "\n"
	"	mov $" WAIT_ROUNDS ", %ecx\n"
	"proftrace_remote_wait:\n"
	"	pause\n"
	"	loop proftrace_remote_wait\n"
	"proftrace_remote_wait_end:\n"
	"	movq $" STR(REMOTE_SELF_RESTORED) ", " B(RD_STATE) "\n"
	"	lea " STR(REMOTE_PAGE) "(%rbx), %rdi\n"
	"	mov $-1, %eax\n"
	"	mov $-1, %edx\n"
	"	xrstor64 (%rdi)\n"
	"	mov $14, %eax\n"
	"	mov $2, %edi\n"
	"	lea " B(RD_SIGMASK) ", %rsi\n"
	"	xor %edx, %edx\n"
	"	mov $8, %r10d\n"
	"	syscall\n"
	"	pushq " B(RD_RFLAGS) "\n"
	"	popfq\n"
	"	mov " D(RD_RAX) ", %rax\n"
	"	mov " D(RD_RBX) ", %rbx\n"
	"	mov " D(RD_RCX) ", %rcx\n"
	"	mov " D(RD_RDX) ", %rdx\n"
	"	mov " D(RD_RSI) ", %rsi\n"
	"	mov " D(RD_RDI) ", %rdi\n"
	"	mov " D(RD_RBP) ", %rbp\n"
	"	mov " D(RD_R8) ", %r8\n"
	"	mov " D(RD_R9) ", %r9\n"
	"	mov " D(RD_R10) ", %r10\n"
	"	mov " D(RD_R11) ", %r11\n"
	"	mov " D(RD_R12) ", %r12\n"
	"	mov " D(RD_R13) ", %r13\n"
	"	mov " D(RD_R14) ", %r14\n"
	"	mov " D(RD_R15) ", %r15\n"
	"	mov " D(RD_RSP) ", %rsp\n"
	"	jmp *" D(RD_RIP) "\n"
	/* The new thread. It does nothing until `go`, because the tracee thread may still need this
	 * memory. Without `go` it ends and leaves the memory. */
	"proftrace_remote_thread:\n"
	"	push %rbx\n"
	"	push %rbp\n"
	"	push %r12\n"
	"	mov %rdi, %rbx\n"
	"	call *" B(RD_PTHREAD_SELF) "\n"
	"	mov %rax, %rdi\n"
	"	call *" B(RD_PTHREAD_DETACH) "\n"
	"	mov $186, %eax\n"
	"	syscall\n" /* gettid */
	"	mov %rax, " B(RD_TID) "\n"
	"	lea " B(RD_GO) ", %rdi\n"
	"	call proftrace_remote_await\n"
	"	jz .Lno_go\n"
	"	cmpq $0, " B(RD_FUNCTION) "\n"
	"	jne .Lcall\n"
	"	cmpb $0, " B(RD_NAME) "\n"
	"	je .Lopen\n"
	"	mov $319, %eax\n"
	"	lea " B(RD_NAME) ", %rdi\n"
	"	mov $3, %esi\n"
	"	syscall\n" /* memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING) */
	"	mov %rax, " B(RD_FD) "\n"
	"	movq $" STR(REMOTE_FD_READY) ", " B(RD_PHASE) "\n"
	"	test %rax, %rax\n"
	"	js .Lfinish\n"
	"	lea " B(RD_FILLED) ", %rdi\n"
	"	call proftrace_remote_await\n"
	"	jz .Lundo\n"
	".Lopen:\n"
	"	movq $" STR(REMOTE_OPENING) ", " B(RD_PHASE) "\n"
	"	mfence\n"
	"	cmpq $0, " B(RD_ABANDON) "\n"
	"	jne .Lundo\n"
	"	lea " B(RD_PATH) ", %rdi\n"
	"	mov " B(RD_MODE) ", %rsi\n"
	"	call *" B(RD_DLOPEN) "\n"
	"	mov %rax, " B(RD_HANDLE) "\n"
	"	test %rax, %rax\n"
	"	jz .Lfailed\n"
	"	mov %rax, %rdi\n"
	"	lea " B(RD_SYMBOL) ", %rsi\n"
	"	call *" B(RD_DLSYM) "\n"
	"	mov %rax, " B(RD_FUNCTION) "\n"
	"	test %rax, %rax\n"
	"	jz .Lfailed\n"
	"	call .Lclose_fd\n"
	".Lcall:\n"
	"	movq $" STR(REMOTE_CALLING) ", " B(RD_PHASE) "\n"
	"	mfence\n"
	"	cmpq $0, " B(RD_ABANDON) "\n"
	"	jne .Lundo\n"
	"	lea " B(RD_ARG) ", %rdi\n"
	"	call *" B(RD_FUNCTION) "\n"
	"	mov %rax, " B(RD_VALUE) "\n"
	"	movq $" STR(REMOTE_DONE) ", " B(RD_PHASE) "\n"
	"	jmp .Lfinish\n"
	".Lfailed:\n"
	"	cmpq $0, " B(RD_DLERROR) "\n"
	"	je 3f\n"
	"	call *" B(RD_DLERROR) "\n"
	"	test %rax, %rax\n"
	"	jz 3f\n"
	"	xor %ecx, %ecx\n"
	"1:	mov (%rax,%rcx), %dl\n"
	"	mov %dl, " STR(RD_ERROR) "(%rbx,%rcx)\n"
	"	test %dl, %dl\n"
	"	jz 3f\n"
	"	inc %ecx\n"
	"	cmp $255, %ecx\n"
	"	jb 1b\n"
	"3:	call .Lunload\n"
	"	movq $" STR(REMOTE_FAILED) ", " B(RD_PHASE) "\n"
	"	jmp .Lfinish\n"
	".Lundo:\n"
	"	call .Lunload\n"
	"	movq $" STR(REMOTE_UNDONE) ", " B(RD_PHASE) "\n"
	".Lfinish:\n"
	"	lea " B(RD_RELEASE) ", %rdi\n"
	"	call proftrace_remote_await\n"
	"	lea -" STR(REMOTE_PAGE) "(%rbx), %rdi\n"
	"	mov $" STR((REMOTE_SIZE)) ", %esi\n"
	"	mov " B(RD_MUNMAP) ", %rax\n"
	"	pop %r12\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	jmp *%rax\n" /* returns 0 to the thread library */
	".Lno_go:\n"
	"	xor %eax, %eax\n"
	"	pop %r12\n"
	"	pop %rbp\n"
	"	pop %rbx\n"
	"	ret\n"
	/* Undoes the rest: the handle, if there is one, and the memfd. */
	".Lunload:\n"
	"	mov " B(RD_HANDLE) ", %rdi\n"
	"	test %rdi, %rdi\n"
	"	jz .Lclose_fd\n"
	"	sub $8, %rsp\n"
	"	call *" B(RD_DLCLOSE) "\n"
	"	add $8, %rsp\n"
	".Lclose_fd:\n"
	"	mov " B(RD_FD) ", %rdi\n"
	"	test %rdi, %rdi\n"
	"	js 1f\n"
	"	mov $3, %eax\n"
	"	syscall\n"
	"	movq $-1, " B(RD_FD) "\n"
	"1:	ret\n"
	/* Sleeps until the word at rdi is set. Returns it (flags and rax); zero: time is up. */
	"proftrace_remote_await:\n"
	"	mov %rdi, %rbp\n"
	"	mov $228, %eax\n"
	"	mov $1, %edi\n"
	"	lea " B(RD_NOW) ", %rsi\n"
	"	syscall\n" /* clock_gettime: a time namespace may shift its CLOCK_MONOTONIC, so
			      it is not ours */
	"	mov " B(RD_NOW) ", %r12\n"
	"	add " B(RD_PATIENCE) ", %r12\n"
	"1:	mov (%rbp), %rax\n"
	"	test %rax, %rax\n"
	"	jnz 2f\n"
	"	mov $35, %eax\n"
	"	lea " B(RD_TICK) ", %rdi\n"
	"	xor %esi, %esi\n"
	"	syscall\n" /* nanosleep */
	"	mov $228, %eax\n"
	"	mov $1, %edi\n"
	"	lea " B(RD_NOW) ", %rsi\n"
	"	syscall\n" /* clock_gettime */
	"	mov " B(RD_NOW) ", %rax\n"
	"	cmp %r12, %rax\n"
	"	jl 1b\n"
	"	xor %eax, %eax\n"
	"2:	ret\n"
	"proftrace_remote_end:\n"
	".popsection\n");
/* clang-format on */

extern const uint8_t proftrace_stub[], proftrace_stub_wait[], proftrace_stub_wait_end[],
	proftrace_stub_unmap[], proftrace_stub_data[], proftrace_stub_end[];
extern const uint8_t proftrace_remote_main[], proftrace_remote_wait[], proftrace_remote_wait_end[],
	proftrace_remote_end[];

struct remote_code remote__stub(void)
{
	return (struct remote_code){
		.bytes = proftrace_stub,
		.size = (size_t)(proftrace_stub_end - proftrace_stub),
		.wait_begin = (size_t)(proftrace_stub_wait - proftrace_stub),
		.wait_end = (size_t)(proftrace_stub_wait_end - proftrace_stub),
		.unmap_off = (size_t)(proftrace_stub_unmap - proftrace_stub),
		.data_off = (size_t)(proftrace_stub_data - proftrace_stub),
	};
}

struct remote_code remote__main(void)
{
	return (struct remote_code){
		.bytes = proftrace_remote_main,
		.size = (size_t)(proftrace_remote_end - proftrace_remote_main),
		.wait_begin = (size_t)(proftrace_remote_wait - proftrace_remote_main),
		.wait_end = (size_t)(proftrace_remote_wait_end - proftrace_remote_main),
	};
}

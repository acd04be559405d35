/* SPDX-License-Identifier: BSD-2-Clause */
/* The code that runs in the target, and the memory that it shares with proftrace. */
#ifndef PROFTRACE_INJECT_REMOTE_H
#define PROFTRACE_INJECT_REMOTE_H

#include <stddef.h>
#include <stdint.h>

/* The region: code (r-x), data, the saved vector registers, the stack (rw-). */
#define REMOTE_PAGE	  4096
#define REMOTE_XSAVE_SIZE 16384
#define REMOTE_STACK_SIZE 65536
#define REMOTE_SIZE	  (2 * REMOTE_PAGE + REMOTE_XSAVE_SIZE + REMOTE_STACK_SIZE)

/* Offsets in struct remote_data, for the assembler. */
#define RD_PTHREAD_CREATE 0
#define RD_PTHREAD_SELF	  8
#define RD_PTHREAD_DETACH 16
#define RD_DLOPEN	  24
#define RD_DLSYM	  32
#define RD_DLCLOSE	  40
#define RD_DLERROR	  48
#define RD_MUNMAP	  56
#define RD_SIGMASK	  64
#define RD_RAX		  72
#define RD_RBX		  80
#define RD_RCX		  88
#define RD_RDX		  96
#define RD_RSI		  104
#define RD_RDI		  112
#define RD_RBP		  120
#define RD_RSP		  128
#define RD_R8		  136
#define RD_R9		  144
#define RD_R10		  152
#define RD_R11		  160
#define RD_R12		  168
#define RD_R13		  176
#define RD_R14		  184
#define RD_R15		  192
#define RD_RIP		  200
#define RD_RFLAGS	  208
#define RD_THREAD	  216
#define RD_CREATE_RC	  224
#define RD_STATE	  232
#define RD_TID		  240
#define RD_GO		  248
#define RD_FILLED	  256
#define RD_ABANDON	  264
#define RD_RELEASE	  272
#define RD_PHASE	  280
#define RD_FD		  288
#define RD_MODE		  296
#define RD_HANDLE	  304
#define RD_FUNCTION	  312
#define RD_VALUE	  320
#define RD_PATIENCE	  328
#define RD_TICK		  336
#define RD_MXCSR	  352
#define RD_PATH		  360
#define RD_NAME		  616
#define RD_SYMBOL	  872
#define RD_ARG		  1128
#define RD_ERROR	  2152
#define RD_NOW		  2408

/* state of the tracee thread */
#define REMOTE_CREATED	     1 /* pthread_create returned; the thread waits to be put back */
#define REMOTE_SELF_RESTORED 2 /* nobody put it back, so it restored itself */

/* phase of the new thread, which shares nothing else with the tracee */
#define REMOTE_FD_READY 1 /* the memfd exists, or fd is a negative errno */
#define REMOTE_OPENING	2
#define REMOTE_CALLING	3
#define REMOTE_DONE	4
#define REMOTE_FAILED	5 /* error has the loader's message */
#define REMOTE_UNDONE	6 /* abandoned before the call */

struct remote_regs {
	uint64_t rax, rbx, rcx, rdx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15, rip,
		rflags;
};

struct remote_data {
	uint64_t pthread_create, pthread_self, pthread_detach, dlopen, dlsym, dlclose, dlerror,
		munmap;
	uint64_t sigmask;
	struct remote_regs regs; /* registers of the tracee thread before */
	uint64_t thread, create_rc, state;
	uint64_t tid;			      /* of the new thread, in its pid namespace */
	uint64_t go, filled, abandon, release; /* proftrace writes these */
	uint64_t phase;
	int64_t fd;
	uint64_t mode, handle, function, value;
	uint64_t patience_s, tick[2]; /* how long the thread waits for us each time, and its naps
					 (timespec) */
	uint64_t mxcsr;
	char path[256], name[256], symbol[256], arg[1024], error[256];
	uint64_t now[2];
};

/* The first code, written where no thread runs. It maps the region. It has two entries and one
 * wait. Then it restores what it changed from the data after it. It uses no other memory and no
 * stack. */
struct remote_stub_data {
	uint64_t sigmask, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11, rip;
	uint64_t magic; /* the page's last word in every version: shows that a stub may be in use */
};
#define REMOTE_STUB_MAGIC 0x3142555453525450ull /* PTRSTUB1 */

struct remote_code {
	const uint8_t *bytes;
	size_t size;
	size_t wait_begin, wait_end; /* code in which we may take the thread over */
	size_t unmap_off, data_off;  /* the stub's second entry and its data */
};

struct remote_code remote__stub(void);
struct remote_code remote__main(void); /* for the first page of the region */

#endif

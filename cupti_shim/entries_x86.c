// SPDX-License-Identifier: BSD-2-Clause
/*
 * Entries to functions of unknown signature: they may have any arguments and results, and
 * exceptions may leave them. An entry passes all registers that may hold arguments. If the function
 * is to return to the entry, the entry copies the arguments on the stack, and lets exceptions pass.
 */
#include "cupti_shim/entries.h"
#include "cupti_shim/trampoline.h"

#define ENTRY_BYTES 16

#define TEXT_OF_(x) #x
#define TEXT_OF(x)  TEXT_OF_(x)

/* Above the frame of `common`, at rbp: number of the entry, return address, arguments on the stack.
 * Below it: saved registers, aligned to 16 bytes. */
#define KEPT_BYTES "240"
#define KEEP_VECTORS                                                                               \
	"movaps %xmm0, (%rsp)\n"                                                                   \
	"movaps %xmm1, 16(%rsp)\n"                                                                 \
	"movaps %xmm2, 32(%rsp)\n"                                                                 \
	"movaps %xmm3, 48(%rsp)\n"                                                                 \
	"movaps %xmm4, 64(%rsp)\n"                                                                 \
	"movaps %xmm5, 80(%rsp)\n"                                                                 \
	"movaps %xmm6, 96(%rsp)\n"                                                                 \
	"movaps %xmm7, 112(%rsp)\n"
#define KEEP_WORDS                                                                                 \
	"movq %rdi, 128(%rsp)\n"                                                                   \
	"movq %rsi, 136(%rsp)\n"                                                                   \
	"movq %rdx, 144(%rsp)\n"                                                                   \
	"movq %rcx, 152(%rsp)\n"                                                                   \
	"movq %r8, 160(%rsp)\n"                                                                    \
	"movq %r9, 168(%rsp)\n"                                                                    \
	"movq %rax, 176(%rsp)\n" /* number of vector registers, for functions with variable        \
				    arguments */                                                   \
	"movq %r10, 184(%rsp)\n" /* frames of nested functions, in some languages */               \
	"movq (%rbp), %r11\n"	 /* the caller's registers, to be read */                          \
	"movq %rbx, 192(%rsp)\n"                                                                   \
	"movq %r11, 200(%rsp)\n"                                                                   \
	"movq %r12, 208(%rsp)\n"                                                                   \
	"movq %r13, 216(%rsp)\n"                                                                   \
	"movq %r14, 224(%rsp)\n"                                                                   \
	"movq %r15, 232(%rsp)\n"
#define GIVE_BACK(from)                                                                            \
	"movaps (" from "), %xmm0\n"                                                               \
	"movaps 16(" from "), %xmm1\n"                                                             \
	"movaps 32(" from "), %xmm2\n"                                                             \
	"movaps 48(" from "), %xmm3\n"                                                             \
	"movaps 64(" from "), %xmm4\n"                                                             \
	"movaps 80(" from "), %xmm5\n"                                                             \
	"movaps 96(" from "), %xmm6\n"                                                             \
	"movaps 112(" from "), %xmm7\n"                                                            \
	"movq 128(" from "), %rdi\n"                                                               \
	"movq 136(" from "), %rsi\n"                                                               \
	"movq 144(" from "), %rdx\n"                                                               \
	"movq 152(" from "), %rcx\n"                                                               \
	"movq 160(" from "), %r8\n"                                                                \
	"movq 168(" from "), %r9\n"                                                                \
	"movq 176(" from "), %rax\n"                                                               \
	"movq 184(" from "), %r10\n"
#define LEAVE_FRAME                                                                                \
	"movq %rbp, %rsp\n"                                                                        \
	".cfi_def_cfa_register %rsp\n"                                                             \
	"popq %rbp\n"                                                                              \
	".cfi_adjust_cfa_offset -8\n"                                                              \
	".cfi_restore %rbp\n"                                                                      \
	"leaq 8(%rsp), %rsp\n"                                                                     \
	".cfi_adjust_cfa_offset -8\n"

__asm__(".pushsection .text\n"
	".balign 16\n"
	".type entries, @function\n"
	"entries:\n"
	".cfi_startproc\n"
	/* An entry pushes its number. The address shows an unwinder how far the entry has come. The
	 * frame is at rsp + 8, and 8 higher from the ninth byte of an entry on. */
	".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22\n"
	".set number, 0\n"
	".rept 2048\n"
	"endbr64\n"
	".byte 0x68\n" /* push, with the number in four bytes */
	".long number\n"
	"jmp common\n"
	".balign " TEXT_OF(
		ENTRY_BYTES) "\n"
			     ".set number, number + 1\n"
			     ".endr\n"
			     ".cfi_endproc\n"
			     ".size entries, . - entries\n"

			     ".type common, @function\n"
			     "common:\n"
			     ".cfi_startproc\n"
			     ".cfi_personality 0x1b, trampoline__on_unwind\n"
			     ".cfi_def_cfa_offset 16\n"
			     "pushq %rbp\n"
			     ".cfi_adjust_cfa_offset 8\n"
			     ".cfi_rel_offset %rbp, 0\n"
			     "movq %rsp, %rbp\n"
			     ".cfi_def_cfa_register %rbp\n"
			     "andq $-16, %rsp\n"
			     "subq $" KEPT_BYTES ", %rsp\n" KEEP_VECTORS KEEP_WORDS
			     "movl 8(%rbp), %edi\n"
			     "leaq 128(%rsp), %rsi\n"
			     "leaq 16(%rbp), %rdx\n"
			     "call trampoline__enter\n" /* rax: where to go; rdx: `through` */
			     "movq %rax, %r11\n"
			     "testq %rdx, %rdx\n"
			     "jnz 1f\n" GIVE_BACK(
				     "%rsp") ".cfi_remember_state\n" LEAVE_FRAME "jmp *%r11\n"
					     ".cfi_restore_state\n"

					     "1:\n"
					     "movq %rsp, %r10\n"
					     "andq $-2, %rdx\n" /* number of words, rounded up to
								   an even one */
					     "leaq 0(,%rdx,8), %rax\n"
					     "subq %rax, %rsp\n"
					     "2:\n"
					     "testq %rdx, %rdx\n"
					     "jz 3f\n"
					     "movq 16(%rbp,%rdx,8), %rax\n"
					     "movq %rax, -8(%rsp,%rdx,8)\n"
					     "decq %rdx\n"
					     "jmp 2b\n"
					     "3:\n" GIVE_BACK(
						     "%r10") "call *%r11\n"
							     "movq %rbp, %rcx\n" /* where it is
										    saved, and
										    there is room */
							     "andq $-16, %rcx\n"
							     "leaq -" KEPT_BYTES "(%rcx), %rsp\n"
							     "movaps %xmm0, (%rsp)\n"
							     "movaps %xmm1, 16(%rsp)\n"
							     "movq %rax, 32(%rsp)\n"
							     "movq %rdx, 40(%rsp)\n"
							     "movl 8(%rbp), %edi\n"
							     "leaq 16(%rbp), %rsi\n"
							     "call trampoline__leave\n"
							     "movaps (%rsp), %xmm0\n"
							     "movaps 16(%rsp), %xmm1\n"
							     "movq 32(%rsp), %rax\n"
							     "movq 40(%rsp), %rdx\n" LEAVE_FRAME
							     "ret\n"
							     ".cfi_endproc\n"
							     ".size common, . - common\n"
							     ".popsection\n");

extern const char entries[];
_Static_assert(SHIM_FUNCTIONS == 2048, "as many entries");

void *entries__at(uint32_t function)
{
	return (void *)(uintptr_t)(entries + (size_t)function * ENTRY_BYTES);
}

uint32_t entries__index(const void *entry)
{
	const uintptr_t offset = (uintptr_t)entry - (uintptr_t)entries;

	return offset < (uintptr_t)SHIM_FUNCTIONS * ENTRY_BYTES ? (uint32_t)(offset / ENTRY_BYTES)
								: SHIM_FUNCTIONS;
}

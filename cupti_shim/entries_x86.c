// SPDX-License-Identifier: BSD-2-Clause
/*
 * Ways into functions of which nothing is known but where they begin: arguments in registers of any
 * kind and on the stack, results of any kind, exceptions that leave them. Each is entered with all
 * that it was called with, and returns to its caller.
 */
#include "cupti_shim/shim.h"

#define ENTRY_BYTES 16

/* An entry pushes its number; what unwinds a stack learns from the address how far it has come. */
__asm__(".pushsection .text\n"
	".balign 16\n"
	".type entries, @function\n"
	"entries:\n"
	".cfi_startproc\n"
	/* rsp + 8, and 8 more from the ninth byte of an entry on */
	".cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x39, 0x2a, 0x33, 0x24, 0x22\n"
	".set number, 0\n"
	".rept 2048\n"
	"endbr64\n"
	".byte 0x68\n" /* push, with the number in four bytes */
	".long number\n"
	"jmp common\n"
	".balign 16\n"
	".set number, number + 1\n"
	".endr\n"
	".cfi_endproc\n"
	".size entries, . - entries\n"

	".type common, @function\n"
	"common:\n"
	".cfi_startproc\n"
	".cfi_def_cfa_offset 16\n"
	"pushq %rbp\n"
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rbp, 0\n"
	"movq %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"andq $-16, %rsp\n"
	"subq $192, %rsp\n"
	"movaps %xmm0, (%rsp)\n"
	"movaps %xmm1, 16(%rsp)\n"
	"movaps %xmm2, 32(%rsp)\n"
	"movaps %xmm3, 48(%rsp)\n"
	"movaps %xmm4, 64(%rsp)\n"
	"movaps %xmm5, 80(%rsp)\n"
	"movaps %xmm6, 96(%rsp)\n"
	"movaps %xmm7, 112(%rsp)\n"
	"movq %rdi, 128(%rsp)\n"
	"movq %rsi, 136(%rsp)\n"
	"movq %rdx, 144(%rsp)\n"
	"movq %rcx, 152(%rsp)\n"
	"movq %r8, 160(%rsp)\n"
	"movq %r9, 168(%rsp)\n"
	"movq %rax, 176(%rsp)\n" /* how many vectors, of functions that take any arguments */
	"movq %r10, 184(%rsp)\n" /* nested functions' frames, in some languages */
	"movl 8(%rbp), %edi\n"
	"leaq 16(%rbp), %rdx\n" /* the stack pointer at the entry */
	"call functions__enter\n"
	"movq %rax, %r11\n"
	"movaps (%rsp), %xmm0\n"
	"movaps 16(%rsp), %xmm1\n"
	"movaps 32(%rsp), %xmm2\n"
	"movaps 48(%rsp), %xmm3\n"
	"movaps 64(%rsp), %xmm4\n"
	"movaps 80(%rsp), %xmm5\n"
	"movaps 96(%rsp), %xmm6\n"
	"movaps 112(%rsp), %xmm7\n"
	"movq 128(%rsp), %rdi\n"
	"movq 136(%rsp), %rsi\n"
	"movq 144(%rsp), %rdx\n"
	"movq 152(%rsp), %rcx\n"
	"movq 160(%rsp), %r8\n"
	"movq 168(%rsp), %r9\n"
	"movq 176(%rsp), %rax\n"
	"movq 184(%rsp), %r10\n"
	"movq %rbp, %rsp\n"
	".cfi_def_cfa_register %rsp\n"
	"popq %rbp\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_restore %rbp\n"
	"leaq 8(%rsp), %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	"jmp *%r11\n"
	".cfi_endproc\n"
	".size common, . - common\n"
	".popsection\n");

extern const char entries[];
_Static_assert(SHIM_FUNCTIONS == 2048, "as many entries");

void *entries__at(uint32_t index)
{
	return (void *)(uintptr_t)(entries + (size_t)index * ENTRY_BYTES);
}

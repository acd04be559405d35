// SPDX-License-Identifier: BSD-2-Clause
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include "attach/site.h"
#include "common/util.h"
#include "target/elf_file.h"

#define NOTSUPP 524 /* ENOTSUPP, the kernel's own */

/* Encodings, the kernel's treatment of each, and our class. */
static const struct encoding {
	const char *what;
	uint8_t bytes[15];
	uint8_t len;
	enum site_class class;
	int kernel_errno; /* -1: we refuse it ourselves, the kernel may accept it */
} encodings[] = {
	{"push rbp", {0x55}, 1, SITE_EMULATED, 0},
	{"push r15", {0x41, 0x57}, 2, SITE_EMULATED, 0},
	{"push rax, needless rex.w", {0x48, 0x50}, 2, SITE_STEPPED, 0},
	{"nop", {0x90}, 1, SITE_EMULATED, 0},
	{"nop5", {0x0f, 0x1f, 0x44, 0x00, 0x00}, 5, SITE_EMULATED, 0},
	{"nopw cs:", {0x66, 0x2e, 0x0f, 0x1f, 0x84}, 10, SITE_REFUSED, NOTSUPP},
	{"xchg r8, rax", {0x49, 0x90}, 2, SITE_REFUSED, -1},
	{"jmp rel8", {0xeb, 0x02}, 2, SITE_EMULATED, 0},
	{"jmp rel32", {0xe9, 0x02}, 5, SITE_EMULATED, 0},
	{"call rel32", {0xe8, 0x02}, 5, SITE_EMULATED, 0},
	{"call rel16", {0x66, 0xe8, 0x02}, 6, SITE_REFUSED, NOTSUPP},
	{"je rel8", {0x74, 0x02}, 2, SITE_EMULATED, 0},
	{"je rel32", {0x0f, 0x84, 0x02}, 6, SITE_EMULATED, 0},
	{"notrack jmp *rax", {0x3e, 0xff, 0xe0}, 3, SITE_REFUSED, NOTSUPP},
	{"jmp *rax", {0xff, 0xe0}, 2, SITE_STEPPED, 0},
	{"endbr64", {0xf3, 0x0f, 0x1e, 0xfa}, 4, SITE_STEPPED, 0},
	{"sub rsp, 8", {0x48, 0x83, 0xec, 0x08}, 4, SITE_STEPPED, 0},
	{"mov rbp, rsp", {0x48, 0x89, 0xe5}, 3, SITE_STEPPED, 0},
	{"lea rax, [rip]", {0x48, 0x8d, 0x05}, 7, SITE_STEPPED, 0},
	{"cmpb $0, (rdi)", {0x80, 0x3f, 0x00}, 3, SITE_STEPPED, 0},
	{"ret", {0xc3}, 1, SITE_STEPPED, 0},
	{"mov rax, fs:0", {0x64, 0x48, 0x8b, 0x04, 0x25}, 9, SITE_STEPPED, 0},
	{"lock inc [rax]", {0xf0, 0xff, 0x00}, 3, SITE_REFUSED, NOTSUPP},
	{"mov ss, eax", {0x8e, 0xd0}, 2, SITE_REFUSED, NOTSUPP},
	{"int3", {0xcc}, 1, SITE_REFUSED, NOTSUPP},
	{"hlt", {0xf4}, 1, SITE_REFUSED, NOTSUPP},
	{"in al, dx", {0xec}, 1, SITE_REFUSED, NOTSUPP},
	{"movups xmm0, [rax]", {0x0f, 0x10, 0x00}, 3, SITE_STEPPED, 0},
	{"pshufb mm0, [rax]", {0x0f, 0x38, 0x00, 0x00}, 4, SITE_STEPPED, 0},
	{"vpxor xmm", {0xc5, 0xf9, 0xef, 0xc0}, 4, SITE_REFUSED, NOTSUPP},
	{"vzeroupper", {0xc5, 0xf8, 0x77}, 3, SITE_REFUSED, -1},
	{"vmovups ymm", {0xc5, 0xfc, 0x10, 0x00}, 4, SITE_REFUSED, -1},
	{"vmovups zmm", {0x62, 0xf1, 0x7c, 0x48, 0x28, 0x05}, 10, SITE_REFUSED, -1},
};

Test(site, classifies_and_measures_instructions)
{
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		const struct encoding *e = &encodings[i];
		size_t len;

		cr_expect_eq(site__classify(e->bytes, sizeof(e->bytes), &len), e->class, "%s is %s",
			     e->what,
			     site_class__name(site__classify(e->bytes, sizeof(e->bytes), &len)));
		cr_expect_eq(len, e->len, "%s: %zu bytes", e->what, len);
		cr_expect_eq(site__insn_len(e->bytes, sizeof(e->bytes)), e->len, "%s", e->what);
	}
}

static int uprobe_errno(uint32_t type, const char *path, uint64_t offset)
{
	struct perf_event_attr attr = {.type = type, .size = sizeof(attr)};
	auto_close int fd = -1;

	attr.config1 = (uint64_t)(uintptr_t)path;
	attr.config2 = offset;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? errno : 0;
}

/* The running kernel must treat a probe on these bytes as each class says. */
Test(site, agrees_with_the_kernel, .timeout = 60)
{
	enum { SLOT = 64 };
	auto_close int fd = memfd_create("sites", MFD_CLOEXEC);
	auto_free char *type = file__read("/sys/bus/event_source/devices/uprobe/type", NULL);
	uint8_t code[SLOT * ARRAY_SIZE(encodings)];
	volatile uint8_t *mapped;
	char path[64];

	if (geteuid() != 0 || !type)
		cr_skip_test("uprobes need root");
	memset(code, 0x90, sizeof(code));
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++)
		memcpy(code + i * SLOT, encodings[i].bytes, sizeof(encodings[i].bytes));
	cr_assert_eq(write(fd, code, sizeof(code)), sizeof(code));
	mapped = mmap(NULL, sizeof(code), PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	cr_assert_neq(mapped, MAP_FAILED);
	cr_assert_eq(mapped[0], 0x55);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t i = 0; i < ARRAY_SIZE(encodings); i++) {
		if (encodings[i].kernel_errno >= 0)
			cr_expect_eq(uprobe_errno((uint32_t)atoi(type), path, i * SLOT),
				     encodings[i].kernel_errno, "%s", encodings[i].what);
	}
}

static int slide(const uint8_t *code, size_t len, unsigned int keep, int *shift)
{
	*shift = -1;
	return site__slide(code, len, keep, shift);
}

Test(site, slides_to_an_emulated_instruction)
{
	static const uint8_t endbr_push[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3};
	static const uint8_t sub_call[] = {0x48, 0x83, 0xec, 0x18, 0xe8, 0, 0, 0, 0, 0xc3};
	static const uint8_t push_mov[] = {0x55, 0x48, 0x89, 0xe5, 0xc3};
	static const uint8_t vex_push[] = {0xc5, 0xf9, 0xef, 0xc0, 0x55, 0xc3};
	int shift;

	cr_expect_eq(slide(endbr_push, sizeof(endbr_push), SITE_RDI, &shift), 4);
	cr_expect_eq(shift, 0);
	cr_expect_eq(slide(sub_call, sizeof(sub_call), SITE_RDI, &shift), 4);
	cr_expect_eq(shift, 0x18);
	cr_expect_eq(slide(sub_call, sizeof(sub_call), SITE_RSP, &shift), 0);
	cr_expect_eq(shift, 0);
	cr_expect_eq(slide(push_mov, sizeof(push_mov), SITE_RDI, &shift), 0);
	cr_expect_eq(slide(vex_push, sizeof(vex_push), SITE_RDI, &shift), 4);
}

Test(site, finds_the_check_of_the_stack_that_each_return_passes)
{
	/* xor rax, fs:0x28; jne; add rsp, 0x18; ret; call */
	static const uint8_t checked[] = {0x64, 0x48, 0x33, 0x04, 0x25, 0x28, 0, 0, 0, 0x75, 0x05,
					  0x48, 0x83, 0xc4, 0x18, 0xc3, 0xe8, 0, 0, 0, 0};
	/* the same, and a return without such a check */
	static const uint8_t unchecked[] = {0x64, 0x48, 0x33, 0x04, 0x25, 0x28, 0,
					    0,	  0,	0x75, 0x01, 0xc3, 0xc3};
	/* a comparison with another value */
	static const uint8_t other[] = {0x64, 0x48, 0x33, 0x04, 0x25, 0x30,
					0,    0,    0,	  0x75, 0x01, 0xc3};
	uint32_t at[2];

	cr_expect_eq(site__stack_checks(checked, sizeof(checked), at, ARRAY_SIZE(at)), 1);
	cr_expect_eq(at[0], 9);
	cr_expect_eq(site__stack_checks(checked, sizeof(checked), at, 0), 0);
	cr_expect_eq(site__stack_checks(unchecked, sizeof(unchecked), at, ARRAY_SIZE(at)), 0);
	cr_expect_eq(site__stack_checks(other, sizeof(other), at, ARRAY_SIZE(at)), 0);
}

Test(site, keeps_a_result_where_a_call_comes_back)
{
	/* mov rbx, rax; call; mov eax, 0; call */
	static const uint8_t saves[] = {0x48, 0x89, 0xc3, 0xe8, 0, 0, 0, 0};
	static const uint8_t drops[] = {0xb8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0};
	int shift;

	cr_expect_eq(slide(saves, sizeof(saves), SITE_RSP | SITE_RAX, &shift), 3);
	cr_expect_eq(slide(drops, sizeof(drops), SITE_RSP | SITE_RAX, &shift), 0);
}

Test(site, stops_where_arguments_or_the_line_end)
{
	/* mov rdi, rax; push */
	static const uint8_t clobbers[] = {0x48, 0x89, 0xc7, 0x55, 0xc3};
	/* mov al, 1; L: mov edx, 2; push; jmp L */
	static const uint8_t loop[] = {0xb0, 0x01, 0xba, 2, 0, 0, 0, 0x55, 0xeb, 0xf8};
	/* xor eax, eax; ret; push */
	static const uint8_t ends[] = {0x31, 0xc0, 0xc3, 0x55};
	/* vpxor; ret */
	static const uint8_t hopeless[] = {0xc5, 0xf9, 0xef, 0xc0, 0xf4};
	/* and rsp, -32; push: the frame's size is lost */
	static const uint8_t aligns[] = {0x48, 0x83, 0xe4, 0xe0, 0x55, 0xc3};
	/* mul rsi writes rdx though it is not named */
	static const uint8_t hidden[] = {0x48, 0xf7, 0xe6, 0x55, 0xc3};
	int shift;

	cr_expect_eq(slide(clobbers, sizeof(clobbers), SITE_RDI, &shift), 0);
	cr_expect_eq(slide(clobbers, sizeof(clobbers), SITE_RSI, &shift), 3);
	cr_expect_eq(slide(loop, sizeof(loop), 0, &shift), 0);
	cr_expect_eq(slide(ends, sizeof(ends), 0, &shift), 0);
	cr_expect_eq(slide(hopeless, sizeof(hopeless), 0, &shift), -ENOTSUP);
	cr_expect_eq(slide(aligns, sizeof(aligns), 0, &shift), 0);
	cr_expect_eq(slide(hidden, sizeof(hidden), SITE_RDX, &shift), 0);
	cr_expect_eq(slide(hidden, sizeof(hidden), SITE_RDI, &shift), 3);
	cr_expect_eq(slide(ends, 0, 0, &shift), -ENOTSUP);
	cr_expect_eq(slide((const uint8_t[]){0x0f}, 1, 0, &shift), -ENOTSUP);
}

/* ---- PyTorch's own functions: TORCH_LIB names the directory with libtorch_cpu.so ---- */

static struct elf_file *open_torch(const char *name)
{
	const char *dir = getenv("TORCH_LIB");
	struct elf_file *f = NULL;
	char path[4096];

	if (!dir || !*dir)
		cr_skip_test("TORCH_LIB is not set");
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	cr_assert_eq(elf_file__open(path, &f), 0, "%s", path);
	return f;
}

struct dispatch_count {
	struct elf_file *f;
	int functions, emulated;
};

static int count_dispatch(const struct elf_symbol *s, void *ctx)
{
	struct dispatch_count *c = ctx;
	const uint8_t *code;
	size_t len, insn_len;

	if (!s->is_function || strncmp(s->name, "_ZN2at4_ops", 11) != 0 ||
	    !strstr(s->name, "4callE") || strstr(s->name, ".cold"))
		return 0;
	code = elf_file__bytes(c->f, s->vaddr, &len);
	cr_assert_not_null(code);
	c->functions++;
	c->emulated += site__classify(code, len, &insn_len) == SITE_EMULATED;
	return 0;
}

Test(site, finds_each_torch_dispatch_entry_emulated)
{
	struct dispatch_count c = {.f = open_torch("libtorch_cpu.so")};

	cr_assert_eq(elf_file__for_each_symbol(c.f, count_dispatch, &c), 0);
	cr_expect_gt(c.functions, 2500);
	cr_expect_eq(c.emulated, c.functions);
	elf_file__close(c.f);
}

struct prefix_search {
	const char *prefix;
	struct elf_symbol found;
};

static int match_prefix(const struct elf_symbol *s, void *ctx)
{
	struct prefix_search *search = ctx;

	if (!s->is_function || strncmp(s->name, search->prefix, strlen(search->prefix)) != 0 ||
	    strstr(s->name, ".cold"))
		return 0;
	search->found = *s;
	return 1;
}

static int slide_symbol(struct elf_file *f, const char *prefix, unsigned int keep)
{
	struct prefix_search search = {.prefix = prefix};
	const uint8_t *code;
	size_t len;
	int shift;

	cr_assert_eq(elf_file__for_each_symbol(f, match_prefix, &search), 1, "%s", prefix);
	code = elf_file__bytes(f, search.found.vaddr, &len);
	cr_assert_not_null(code);
	return site__slide(code, search.found.size < len ? search.found.size : len, keep, &shift);
}

Test(site, slides_torch_functions_as_measured)
{
	struct elf_file *cpu = open_torch("libtorch_cpu.so"), *c10 = open_torch("libc10.so");
	unsigned int args = SITE_RSI | SITE_RDX | SITE_RCX | SITE_R8;

	/* Its one argument is read as rdi = record at the jump: the mov there sets it up. */
	cr_expect_eq(
		slide_symbol(cpu, "_ZN5torch8autograd8profilerL24record_function_exit_newE", 0), 7);
	cr_expect_eq(slide_symbol(cpu, "_ZN2at14RecordFunction3endEv", SITE_RDI), 4);
	cr_expect_eq(slide_symbol(c10, "_ZN3c1027reportMemoryUsageToProfilerE", args | SITE_RDI),
		     7);
	elf_file__close(cpu);
	elf_file__close(c10);
}

Test(site, sees_where_a_forwarder_goes)
{
	/* push rbp; mov rbp, rsp; pop rbp; jmp +0x100: nvcc's __cudaLaunchKernel */
	const uint8_t forwards[] = {0x55, 0x48, 0x89, 0xe5, 0x5d, 0xe9, 0x00, 0x01, 0, 0};
	/* push rbp; jmp: not on the stack that it came with */
	const uint8_t pushed[] = {0x55, 0xe9, 0x00, 0x01, 0, 0};
	/* xor edx, edx; jmp: with another argument */
	const uint8_t changed[] = {0x31, 0xd2, 0xe9, 0x00, 0x01, 0, 0};
	/* call; jmp */
	const uint8_t calls[] = {0xe8, 0, 0, 0, 0, 0xe9, 0x00, 0x01, 0, 0};

	cr_assert_eq(site__jumps_to(forwards, sizeof(forwards)), 10 + 0x100);
	cr_assert_eq(site__jumps_to(pushed, sizeof(pushed)), 0);
	cr_assert_eq(site__jumps_to(changed, sizeof(changed)), 0);
	cr_assert_eq(site__jumps_to(calls, sizeof(calls)), 0);
	cr_assert_eq(site__jumps_to(forwards, 3), 0);
}

Test(site, a_prologue_that_aligns_the_stack)
{
	/* lea r10, [rsp+8]; and rsp, -32; push [r10-8]; push rbp; ret */
	uint8_t code[] = {0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4,
			  0xe0, 0x41, 0xff, 0x72, 0xf8, 0x55, 0xc3};

	cr_expect_eq(site__aligned_push(code, sizeof(code)), 13);
	cr_expect_eq(site__aligned_push(code, 13), 0);
	code[13] = 0x53;
	cr_expect_eq(site__aligned_push(code, sizeof(code)), 0);
}

Test(site, a_prologue_with_instructions_of_the_body_in_between)
{
	/* lea r10, [rsp+8]; and rsp, -32; mov r8d, 5; push [r10-8]; push rbp; ret */
	uint8_t code[] = {0x4c, 0x8d, 0x54, 0x24, 0x08, 0x48, 0x83, 0xe4, 0xe0, 0x41, 0xb8,
			  0x05, 0,    0,    0,	  0x41, 0xff, 0x72, 0xf8, 0x55, 0xc3};

	cr_expect_eq(site__aligned_push(code, sizeof(code)), 19);
	code[10] = 0xba; /* mov r10d, 5 */
	cr_expect_eq(site__aligned_push(code, sizeof(code)), 0);
	memcpy(code + 9, (uint8_t[]){0x0f, 0x84, 0x00, 0, 0, 0}, 6); /* je */
	cr_expect_eq(site__aligned_push(code, sizeof(code)), 0);
	memcpy(code + 9, (uint8_t[]){0x48, 0x83, 0xec, 0x08, 0x90, 0x90}, 6); /* sub rsp, 8 */
	cr_expect_eq(site__aligned_push(code, sizeof(code)), 0);
}

/* call [rax+0x28]; test al, al; jne L; ret; L: mov rsi, [rbx]; mov rdi, r13; call 0x100 */
static const uint8_t keeps[] = {0xff, 0x50, 0x28, 0x84, 0xc0, 0x75, 0x01, 0xc3, 0x48, 0x8b,
				0x33, 0x4c, 0x89, 0xef, 0xe8, 0xed, 0,	  0,	0};

static int kept(size_t at, uint8_t byte, size_t from)
{
	uint8_t code[sizeof(keeps)];

	memcpy(code, keeps, sizeof(code));
	code[at] = byte;
	return site__kept_argument(code, sizeof(code), from, 0x100);
}

Test(site, what_a_caller_holds_over_a_call)
{
	cr_expect_eq(kept(0, 0xff, 3), 3);
	cr_expect_eq(kept(8, 0x49, 3), -ENOENT);  /* mov rsi, [r11]: not given back */
	cr_expect_eq(kept(10, 0x36, 3), -ENOENT); /* mov rsi, [rsi] */
	cr_expect_eq(kept(15, 0xec, 3), -ENOENT); /* calls another function */
	cr_expect_eq(kept(13, 0xee, 3), -ENOENT); /* mov rsi, r13 comes after it */
	cr_expect_eq(kept(4, 0xc3, 3), 3);	  /* test bl, al: reads it */
	cr_expect_eq(kept(3, 0x88, 3), 3);	  /* mov al, al */
	cr_expect_eq(kept(6, 0x00, 3), -ENOENT);  /* both ways return */
	cr_expect_eq(kept(0, 0xff, sizeof(keeps)), -ENOENT);
}

/* mov bl, al; mov rsi, [rbx]; call */
Test(site, what_a_caller_changes_it_does_not_hold)
{
	static const uint8_t code[] = {0x88, 0xc3, 0x48, 0x8b, 0x33, 0xe8, 0xf6, 0, 0, 0};

	cr_expect_eq(site__kept_argument(code, sizeof(code), 0, 0x100), -ENOENT);
	cr_expect_eq(site__kept_argument(code, sizeof(code), 2, 0x100), 3);
}

/* push rbp; call; test eax, eax; je L; call; L: pop rbp; ret */
Test(site, where_each_return_passes)
{
	static const uint8_t code[] = {0x55, 0xe8, 1, 0, 1, 0, 0x85, 0xc0, 0x74,
				       0x05, 0xe8, 1, 0, 1, 0, 0x5d, 0xc3};

	cr_expect_eq(site__pass(code, sizeof(code), NULL, 2), 8);
}

/* push rbp; L: call; test eax, eax; jne L; pop rbp; ret */
Test(site, a_loop_is_passed_more_than_once)
{
	static const uint8_t code[] = {0x55, 0xe8, 1, 0, 1, 0, 0x85, 0xc0, 0x75, 0xf7, 0x5d, 0xc3};

	cr_expect_eq(site__pass(code, sizeof(code), NULL, 2), -ENOENT);
}

/* push rbp; call; test eax, eax; je L; pop rbp; ret; L: pop rbp; ret */
Test(site, two_returns_behind_one_branch)
{
	static const uint8_t code[] = {0x55, 0xe8, 1,	 0,    1,    0,	   0x85,
				       0xc0, 0x74, 0x02, 0x5d, 0xc3, 0x5d, 0xc3};

	cr_expect_eq(site__pass(code, sizeof(code), NULL, 2), 8);
}

/* push rbp; test edi, edi; je L; call; call; call; L: pop rbp; ret: the work comes behind it */
Test(site, not_before_the_work)
{
	static const uint8_t code[] = {0x55, 0x85, 0xff, 0x74, 0x0f, 0xe8, 1, 0, 1, 0,	  0xe8,
				       1,    0,	   1,	 0,    0xe8, 1,	   0, 1, 0, 0x5d, 0xc3};

	cr_expect_eq(site__pass(code, sizeof(code), NULL, 2), -ENOENT);
}

/* push rbp; call; test eax, eax; jne COLD; L: call; pop rbp; ret; COLD: call; jmp L, or jmp RET */
Test(site, a_cold_part_comes_back)
{
	static const uint8_t code[] = {0x55, 0xe8, 1, 0,    1, 0, 0x85, 0xc0, 0x0f, 0x85, 0xf2,
				       0,    0,	   0, 0xe8, 1, 0, 1,	0,    0x5d, 0xc3};
	uint8_t cold[] = {0xe8, 1, 0, 1, 0, 0xe9, 0x04, 0xff, 0xff, 0xff};
	const struct site_cold part = {cold, sizeof(cold), 256};
	int64_t outside[2];

	cr_expect_eq(site__jumps_outside(code, sizeof(code), outside, 2), 1);
	cr_expect_eq(outside[0], 256);
	cr_expect_eq(site__pass(code, sizeof(code), &part, 2), 14);
	/* Unknown, that branch is an exit: the last that all pass is the branch itself. */
	cr_expect_eq(site__pass(code, sizeof(code), NULL, 2), 8);
	cold[6] = 0x09; /* after the call */
	cr_expect_eq(site__pass(code, sizeof(code), &part, 2), 8);
}

/* push rbp; call; test eax, eax; je L; L: pop rbp; ret; HANDLER: call; jmp to the pop */
Test(site, an_exception_is_caught_and_the_function_returns)
{
	static const uint8_t code[] = {0x55, 0xe8, 1,	 0, 1, 0, 0x85, 0xc0, 0x74, 0,
				       0x5d, 0xc3, 0xe8, 1, 0, 1, 0,	0xeb, 0xf7};

	cr_expect_eq(site__pass(code, sizeof(code), NULL, 2), -ENOENT);
	cr_expect_eq(site__pass(code, 12, NULL, 2), 8);
}

static double thread_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* call; 8000 times je to the next one; ret: every way passes each of them */
Test(site, the_longest_function_takes_no_more_than_its_share)
{
	static uint8_t code[5 + 2 * 8000 + 1] = {0xe8, 0, 1, 1, 0};
	const double begin = thread_ms();

	for (size_t at = 5; at < sizeof(code) - 1; at += 2)
		code[at] = 0x74;
	code[sizeof(code) - 1] = 0xc3;
	cr_expect_eq(site__pass(code, sizeof(code), NULL, 1), sizeof(code) - 3);
	cr_expect_lt(thread_ms() - begin, 100);
}

/* jmp *table(, rdi, 8) */
Test(site, a_table_of_jumps_is_not_understood)
{
	static const uint8_t code[] = {0x55, 0xff, 0x24, 0xfd, 0, 0, 1, 0, 0x5d, 0xc3};

	cr_expect_eq(site__pass(code, sizeof(code), NULL, 2), -EINVAL);
}

// SPDX-License-Identifier: BSD-2-Clause
/* at::sequence_number::peek() as compilers write it, and similar functions. */
#include "attach/thread_local.h"
#include <criterion/criterion.h>
#include <errno.h>

Test(thread_local, local_dynamic_model_of_the_wheel)
{
	const uint8_t code[] = {
		0x48, 0x83, 0xec, 0x08,			  /* sub $8,%rsp */
		0x48, 0x8d, 0x3d, 0x1d, 0x45, 0x56, 0x13, /* lea 0x1356451d(%rip),%rdi */
		0xe8, 0xf0, 0xcc, 0x68, 0xff,		  /* call __tls_get_addr@plt */
		0x48, 0x8b, 0x80, 0xd0, 0x01, 0x00, 0x00, /* mov 0x1d0(%rax),%rax */
		0x48, 0x83, 0xc4, 0x08, 0xc3,
	};
	struct thread_local_use use;

	cr_assert_eq(thread_local__use(code, sizeof(code), &use), 0);
	cr_assert_eq(use.index, 11 + 0x1356451d);
	cr_assert_eq(use.shift, 0x1d0);
}

Test(thread_local, general_dynamic_model)
{
	const uint8_t code[] = {
		0x55,						/* push %rbp */
		0x66, 0x48, 0x8d, 0x3d, 0xf0, 0xff, 0xff, 0xff, /* data16 lea -16(%rip),%rdi */
		0x66, 0x66, 0x48, 0xe8, 0x00, 0x00, 0x00, 0x00, /* data16 rex.W call */
		0x48, 0x8b, 0x00, 0x5d, 0xc3,			/* mov (%rax),%rax */
	};
	struct thread_local_use use;

	cr_assert_eq(thread_local__use(code, sizeof(code), &use), 0);
	cr_assert_eq(use.index, 9 - 16);
	cr_assert_eq(use.shift, 0);
}

Test(thread_local, none)
{
	/* There is another call first. Its result is not a variable's address. */
	const uint8_t calls[] = {
		0x48, 0x83, 0xec, 0x08, 0xe8, 0x00, 0x00, 0x00, 0x00, /* call */
		0x48, 0x8d, 0x3d, 0x00, 0x00, 0x00, 0x00,	      /* lea 0(%rip),%rdi */
		0xe8, 0x00, 0x00, 0x00, 0x00, 0x48, 0x8b, 0x00, 0xc3,
	};
	/* Returns the variable's address instead of its value. */
	const uint8_t address[] = {
		0x48, 0x83, 0xec, 0x08, 0x48, 0x8d, 0x3d, 0x00, 0x00, 0x00, 0x00,
		0xe8, 0x00, 0x00, 0x00, 0x00, 0x48, 0x83, 0xc4, 0x08, 0xc3,
	};
	struct thread_local_use use;

	cr_assert_eq(thread_local__use(calls, sizeof(calls), &use), -ENOENT);
	cr_assert_eq(thread_local__use(address, sizeof(address), &use), -ENOENT);
	for (size_t len = 0; len < sizeof(address); len++)
		cr_assert_eq(thread_local__use(address, len, &use), -ENOENT);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Finds the addresses of functions in a process's data. The process is this one, because the finder
 * only looks. */
#include "device/pointers.h"
#include "common/util.h"
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int one(void)
{
	return 1;
}

static int two(void)
{
	return 2;
}

static int three(void)
{
	return 3;
}

typedef int (*function)(void);

static function table[] = {one, two, one};
static function const fixed[] = {two}; /* read-only once the program is loaded */
struct definition {
	const char *name;
	function function;
	uint64_t flags;
	const char *text;
};
static struct {
	struct definition *begin, *end, *reserved;
} vector;

static struct target *target;
static struct shim_pointer *found;
static size_t found_cnt;

static void look(const struct shim_function *functions, size_t cnt)
{
	const struct target_lib *exe = NULL;

	cr_assert_eq(target__open(getpid(), &target), 0);
	for (size_t i = 0; i < target->lib_cnt; i++)
		if (!strcmp(target->libs[i].path, target->exe))
			exe = &target->libs[i];
	cr_assert_not_null(exe);
	cr_assert_eq(pointers__find(target, &exe, 1, functions, cnt, &found, &found_cnt), 0);
}

static void end(void)
{
	free(found);
	found = NULL;
	free(vector.begin);
	memset(&vector, 0, sizeof(vector));
	target__close(target);
}

TestSuite(pointers, .fini = end);

static const struct shim_pointer *at(const void *place)
{
	for (size_t i = 0; i < found_cnt; i++)
		if (found[i].at == (uint64_t)(uintptr_t)place)
			return &found[i];
	return NULL;
}

static struct shim_function function_at(function f)
{
	return (struct shim_function){.address = (uint64_t)(uintptr_t)f,
				      .kind = SHIM_FUNCTION_CALL};
}

Test(pointers, in_data_and_in_what_is_read_only)
{
	const struct shim_function functions[] = {function_at(two), function_at(one)};

	look(functions, ARRAY_SIZE(functions));
	cr_assert_eq(at(&table[0])->function, 1);
	cr_assert_eq(at(&table[1])->function, 0);
	cr_assert_eq(at(&table[2])->function, 1);
	cr_assert(!at(&table[0])->read_only);
	cr_assert_eq(at(&fixed[0])->function, 0);
	cr_assert(at(&fixed[0])->read_only);
	for (size_t i = 1; i < found_cnt; i++)
		cr_assert(found[i - 1].at < found[i].at);
}

Test(pointers, in_a_vector)
{
	const struct shim_function functions[] = {function_at(three)};

	vector.begin = calloc(64, sizeof(*vector.begin));
	vector.end = vector.begin + 3;
	vector.reserved = vector.begin + 64;
	vector.begin[0] = (struct definition){.name = "one", .function = one};
	vector.begin[1].function = vector.begin[4].function = three;
	look(functions, ARRAY_SIZE(functions));
	cr_assert_not_null(at(&vector.begin[1].function));
	cr_assert(!at(&vector.begin[1].function)->read_only);
	cr_assert_null(at(&vector.begin[4].function), "behind its end");
}

Test(pointers, in_a_vector_of_something_else)
{
	const struct shim_function functions[] = {function_at(three)};

	vector.begin = calloc(64, sizeof(*vector.begin));
	vector.end = vector.begin + 3;
	vector.reserved = vector.begin + 64;
	vector.begin[1].function = three;
	look(functions, ARRAY_SIZE(functions));
	cr_assert_null(at(&vector.begin[1].function));
}

Test(pointers, what_only_looks_like_a_vector)
{
	const struct shim_function functions[] = {function_at(three)};

	vector.begin = (struct definition *)0x1000;
	vector.end = vector.begin + 8;
	vector.reserved = vector.end;
	look(functions, ARRAY_SIZE(functions));
	vector.begin = NULL;
	cr_assert_null(at((void *)0x1000));
}

Test(pointers, of_no_function)
{
	look(NULL, 0);
	cr_assert_eq(found_cnt, 0);
}

// SPDX-License-Identifier: BSD-2-Clause
/* Names of objects, read out of this process. */
#include "capture/decode/object_names.h"
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

/* A std::string of GCC's old layout: a pointer behind its length. */
struct cow {
	uint64_t len, capacity, count;
	char text[32];
};

static struct cow cow_of(const char *text)
{
	struct cow c = {.len = strlen(text)};

	strcpy(c.text, text);
	return c;
}

static const char *text_of(struct object_names *n, const char *const *string)
{
	return object_names__text(n, getpid(), (uint64_t)(uintptr_t)string, PT_NAME_COW);
}

static const char *full_of_text(struct object_names *n, const char *const *string, const char *text,
				bool *known)
{
	return object_names__full(n, getpid(), (uint64_t)(uintptr_t)string, text, known);
}

static const char *full_of(struct object_names *n, const char *const *string, bool *known)
{
	return full_of_text(n, string, "MatMul", known);
}

static void note(struct object_names *n, const char *const *string, const char *full)
{
	cr_assert_eq(object_names__note_full(n, getpid(), (uint64_t)(uintptr_t)string,
					     full ? full : "", full ? strlen(full) : 0,
					     (uint64_t)(uintptr_t)full),
		     0);
}

/* Objects are looked at again after a tenth of a second. */
static void wait_a_while(void)
{
	usleep(120000);
}

Test(capture_object_names, an_object_of_another_name_in_the_same_place)
{
	struct cow first = cow_of("MatMul"), second = cow_of("Add"), garbage = cow_of("\x01\x02");
	const char *object = first.text;
	struct object_names *n = object_names__new();

	cr_assert_str_eq(text_of(n, &object), "MatMul");
	object = second.text;
	cr_expect_str_eq(text_of(n, &object), "MatMul");
	wait_a_while();
	cr_expect_str_eq(text_of(n, &object), "Add");
	/* What is no name, or cannot be read, comes of an object that is gone. */
	object = garbage.text;
	wait_a_while();
	cr_expect_str_eq(text_of(n, &object), "Add");
	object = NULL;
	wait_a_while();
	cr_expect_str_eq(text_of(n, &object), "Add");
	object_names__free(n);
}

Test(capture_object_names, a_full_name_lasts_as_long_as_its_text)
{
	struct cow name = cow_of("MatMul");
	const char *object = name.text, *other = name.text;
	char full[] = "Default/MatMul-op0";
	struct object_names *n = object_names__new();
	bool known;

	/* Where none is told of any, none is missing. */
	cr_expect_null(full_of(n, &object, &known));
	cr_expect(known);
	note(n, &object, full);
	cr_assert_str_eq(text_of(n, &object), "MatMul");
	cr_assert_str_eq(full_of(n, &object, &known), full);
	cr_expect(known);
	/* Told that there is none, once and for all but for a name that comes later. */
	cr_expect_null(full_of(n, &other, &known));
	cr_expect_not(known);
	note(n, &other, NULL);
	cr_expect_null(full_of(n, &other, &known));
	cr_expect(known);
	note(n, &object, NULL);
	cr_expect_not_null(full_of(n, &object, &known));

	memcpy(full, "Another", strlen("Another"));
	wait_a_while();
	text_of(n, &object);
	cr_expect_null(full_of(n, &object, &known));
	cr_expect_not(known);
	object_names__free(n);
}

Test(capture_object_names, an_object_of_another_text_is_not_called_so)
{
	struct object_names *n = object_names__new();
	char full[] = "Default/MatMul-op0";
	const char *object = NULL;
	bool known;

	note(n, &object, full);
	cr_assert_str_eq(full_of(n, &object, &known), full);
	cr_expect_null(full_of_text(n, &object, "Add", &known));
	cr_expect_not(known);
	cr_expect_null(full_of(n, &object, &known));
	object_names__free(n);
}

Test(capture_object_names, without_asking_for_texts_full_names_are_looked_at)
{
	struct object_names *n = object_names__new();
	char full[] = "Default/MatMul-op0";
	const char *object = NULL;
	bool known;

	note(n, &object, full);
	memcpy(full, "Another", strlen("Another"));
	object_names__look(n, getpid(), (uint64_t)(uintptr_t)&object);
	cr_expect_null(full_of(n, &object, &known));
	cr_expect_not(known);
	object_names__free(n);
}

/* As of a program without graphs. */
Test(capture_object_names, where_none_has_a_full_name_none_is_missing)
{
	struct object_names *n = object_names__new();
	const char *object = NULL, *other = NULL;
	bool known;

	note(n, &object, NULL);
	cr_expect_null(full_of(n, &other, &known));
	cr_expect(known);
	object_names__free(n);
}

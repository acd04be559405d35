// SPDX-License-Identifier: BSD-2-Clause
#include "common/message.h"
#include "common/err.h"
#include "common/message_table.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "common/util.h"

static __attribute__((format(printf, 1, 2))) json_t *arguments(const char *fmt, ...)
{
	va_list args;
	json_t *array;

	va_start(args, fmt);
	array = message__arguments(fmt, args);
	va_end(args);
	return array;
}

static void expect_json(json_t *got, const char *wanted)
{
	auto_free char *text = got ? json_dumps(got, JSON_COMPACT) : NULL;

	cr_expect_str_eq(text ? text : "none", wanted);
	json_decref(got);
}

TestSuite(message);

Test(message, numbers_are_numbers)
{
	expect_json(arguments("%d of %u", -3, 7u), "[-3,7]");
	expect_json(arguments("%ld %lu", -5000000000l, 5000000000ul), "[-5000000000,5000000000]");
	expect_json(arguments("%lld %llu", INT64_MIN + 0ll, 1ull << 40),
		    "[-9223372036854775808,1099511627776]");
	expect_json(arguments("%zu %zd", sizeof(int), (ssize_t)-1), "[4,-1]");
	expect_json(arguments("%.1f ms, %g", 0.5, 2.25), "[0.5,2.25]");
	expect_json(arguments("%.0f", (double)NAN), "[null]");
}

Test(message, arguments_of_other_types_do_not_move)
{
	expect_json(arguments("%s %d %.1f %s %llu %c", "a", 1, 2.5, "b", 3ull, 'c'),
		    "[\"a\",1,2.5,\"b\",3,\"c\"]");
}

Test(message, strings_end_at_their_precision)
{
	expect_json(arguments("%.*s=%s", 3, "stepping", "x"), "[\"ste\",\"x\"]");
	expect_json(arguments("%.2s", "stepping"), "[\"st\"]");
	expect_json(arguments("%.*s", -1, "whole"), "[\"whole\"]");
}

Test(message, a_percent_sign_is_no_argument)
{
	expect_json(arguments("%d %% of %s", 5, "%d"), "[5,\"%d\"]");
	expect_json(arguments("nothing"), "[]");
}

Test(message, bytes_that_are_no_text_are_escaped)
{
	expect_json(arguments("%s", "a\xff\"\x1b"), "[\"a\\\\xff\\\"\\u001B\"]");
}

Test(message, its_key_is_known_until_it_is_taken)
{
	cr_expect_eq(err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, "file"), -ENOMEM);
	cr_expect_str_eq(err__key(), MESSAGE_KEY(MESSAGE_OUT_OF_MEMORY_FOR));
	cr_expect_str_eq(err__take(-ENOMEM), "file: out of memory");
	cr_expect_null(err__key());
	cr_expect_str_eq(err__take(-ENOENT), "No such file or directory");
}

Test(message, a_text_that_is_passed_on_keeps_its_key)
{
	char text[64];

	err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, "file");
	snprintf(text, sizeof(text), "%s", err__take(-ENOMEM));
	cr_expect_eq(err__set_again(-EIO, text), -EIO);
	cr_expect_str_eq(err__key(), MESSAGE_KEY(MESSAGE_OUT_OF_MEMORY_FOR));
	cr_expect_str_eq(err__take(-EIO), "file: out of memory");
	err__set_again(-EIO, "from elsewhere");
	cr_expect_str_eq(err__key(), MESSAGE_KEY(MESSAGE_PASSED_ON));
	cr_expect_str_eq(err__take(-EIO), "from elsewhere");
}

static void *set_in_thread(void *to)
{
	err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, "thread");
	err__give(to);
	return err__key() ? to : NULL;
}

Test(message, goes_from_one_thread_to_another)
{
	struct err_message m;
	pthread_t thread;
	void *rest;

	cr_assert_eq(pthread_create(&thread, NULL, set_in_thread, &m), 0);
	pthread_join(thread, &rest);
	cr_expect_null(rest);
	cr_expect_null(err__key());
	err__receive(&m);
	cr_expect_null(m.key);
	cr_expect_str_eq(err__key(), MESSAGE_KEY(MESSAGE_OUT_OF_MEMORY_FOR));
	cr_expect_str_eq(err__take(0), "thread: out of memory");
}

/* ---- lines on stderr ---- */

static FILE *errors;
static char *lines;
static size_t lines_len;

static void begin_lines(void)
{
	errors = stderr;
	stderr = open_memstream(&lines, &lines_len); /* a variable of glibc's */
	cr_assert(stderr != NULL);
}

static void expect_lines(const char *wanted)
{
	fclose(stderr);
	stderr = errors;
	cr_expect_str_eq(lines, wanted);
	free(lines);
}

Test(message, lines_of_text)
{
	begin_lines();
	log__warn(MESSAGE_OUT_OF_MEMORY_FOR, "file\n");
	log__info(MESSAGE_OUT_OF_MEMORY);
	log__debug("%d", 1);
	log__set_process(42, 3);
	err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	log__error(-ENOMEM);
	log__set_process(42, -1);
	log__error(-ENOENT);
	expect_lines("proftrace: warning: file?: out of memory\n"
		     "proftrace: out of memory\n"
		     "proftrace: rank 3 (42): out of memory\n"
		     "proftrace: 42: No such file or directory\n");
}

Test(message, lines_of_json)
{
	begin_lines();
	log__set_json(true);
	log_level = 2;
	log__warn(MESSAGE_PROCESS_TEXT_CUT_OFF, 42, "environ\x1b", 64u);
	log__info(MESSAGE_OUT_OF_MEMORY);
	log__debug("%s is %d", "x", 1);
	log__set_process(42, 3);
	log__error(-ENOENT);
	expect_lines(
		"{\"level\": \"warning\", \"key\": \"common.process-text-cut-off\", "
		"\"arguments\": [42, \"environ\\u001B\", 64], \"text\": \"process 42: its "
		"environ\\u001B is longer than 64 KiB; only its begin is read\"}\n"
		"{\"level\": \"info\", \"key\": \"common.out-of-memory\", \"arguments\": [], "
		"\"text\": \"out of memory\"}\n"
		"{\"level\": \"debug\", \"key\": null, \"arguments\": [\"x\", 1], "
		"\"text\": \"x is 1\"}\n"
		"{\"level\": \"error\", \"process\": 42, \"rank\": 3, "
		"\"key\": \"common.system-error\", \"arguments\": [\"No such file or directory\"], "
		"\"text\": \"No such file or directory\"}\n");
}

Test(message, lines_of_json_name_causes)
{
	char why[64];

	begin_lines();
	log__set_json(true);
	err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY);
	err__set(-EIO, MESSAGE_OUT_OF_MEMORY_FOR, err__take(-ENOMEM));
	snprintf(why, sizeof(why), "%s", err__take(-EIO));
	log__warn(MESSAGE_PASSED_ON, why);
	log__warn(MESSAGE_PASSED_ON, "another text");
	expect_lines("{\"level\": \"warning\", \"key\": \"common.passed-on\", "
		     "\"arguments\": [\"out of memory: out of memory\"], "
		     "\"causes\": [{\"key\": \"common.out-of-memory-for\", "
		     "\"arguments\": [\"out of memory\"], "
		     "\"causes\": [{\"key\": \"common.out-of-memory\", \"arguments\": []}]}], "
		     "\"text\": \"out of memory: out of memory\"}\n"
		     "{\"level\": \"warning\", \"key\": \"common.passed-on\", "
		     "\"arguments\": [\"another text\"], \"text\": \"another text\"}\n");
}

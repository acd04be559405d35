// SPDX-License-Identifier: BSD-2-Clause
/* Parses a stranger's JSON while memory runs out. */
#include <criterion/criterion.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "common/json_memory.h"
#include "common/util.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#define TEXT_LEN (1u << 20)

static int parse(const char *text, size_t len)
{
	json_t *json;
	int err = json_memory__parse(text, len, &json);

	if (!err && !json_is_object(json))
		err = -EINVAL;
	json_decref(json);
	return err;
}

/* One string, {"xxxx...": 0}, or many values. */
static char *make(bool is_string)
{
	char *text = malloc(TEXT_LEN);

	cr_assert(text != NULL);
	memset(text, 'x', TEXT_LEN);
	if (is_string) {
		memcpy(text, "{\"", 2);
		memcpy(text + TEXT_LEN - 4, "\":0}", 4);
		return text;
	}
	memcpy(text, "{\"a\":[", 6);
	for (size_t i = 6; i + 2 < TEXT_LEN; i += 2)
		memcpy(text + i, "0,", 2);
	memcpy(text + TEXT_LEN - 4, "0 ]}", 4);
	return text;
}

/* Runs with each limit from nothing to enough. Each run must end correctly. */
static int with_less_and_less(const char *text)
{
	bool lacked = false, fitted = false;

	for (size_t spare = 64u << 20; spare > 4096; spare = spare * 2 / 3) {
		auto_free char *statm = file__read("/proc/self/statm", NULL);
		size_t pages = 0;

		if (!statm || sscanf(statm, "%*u %*u %*u %*u %*u %zu", &pages) != 1)
			return 1;
		pid_t pid = fork();

		if (!pid) {
			const size_t bytes = pages * 4096 + spare;
			const struct rlimit limit = {bytes, bytes};
			int err;

			malloc_trim(0);
			setrlimit(RLIMIT_DATA, &limit);
			err = parse(text, TEXT_LEN);
			_exit(err == -ENOMEM ? 2 : err ? 1 : 0);
		}
		int status;

		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) == 1)
			return 1;
		lacked |= WEXITSTATUS(status) == 2;
		fitted |= !WEXITSTATUS(status);
	}
	return lacked && fitted ? 0 : 1;
}

Test(json_memory, what_does_not_fit_is_told_wherever_memory_ends)
{
	if (SANITIZED)
		cr_skip_test("the sanitizer ends who lacks memory");
	for (int is_string = 0; is_string < 2; is_string++) {
		auto_free char *text = make(is_string);

		cr_expect_eq(with_less_and_less(text), 0, "%d", is_string);
	}
}

Test(json_memory, what_is_no_json_is_told)
{
	cr_expect_eq(parse("{\"a\": ", 6), -EBADMSG);
	cr_expect_eq(parse("", 0), -EBADMSG);
	cr_expect_eq(parse("[0]", 3), -EINVAL);
	cr_expect_eq(parse("{}", 2), 0);
}

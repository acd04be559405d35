// SPDX-License-Identifier: BSD-2-Clause
/* Functions that the user names: which ones a pattern matches, and where a function ends. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include "err_key.h"
#include "capture/message_table.h"
#include "attach/site.h"
#include "capture/user_probes/functions.h"
#include "common/err.h"

static const char symbol[] = "_ZNK6server5Layer5checkERKNS_7RequestE";
static const char readable[] = "server::Layer::check(server::Request const&) const";

Test(user_functions, a_glob_matches_each_form_of_a_name)
{
	cr_expect(function__matches(symbol, symbol, readable));
	cr_expect(function__matches("_ZNK6server*", symbol, readable));
	cr_expect(function__matches(readable, symbol, readable));
	cr_expect(function__matches("server::Layer::check", symbol, readable));
	cr_expect(function__matches("server::*", symbol, readable));
	cr_expect(function__matches("*::check", symbol, readable));
	cr_expect_not(function__matches("server::Layer::chec", symbol, readable));
	cr_expect_not(function__matches("Layer::check", symbol, readable));
	cr_expect(function__matches("f::operator()", "_ZN1fclEi", "f::operator()(int)"));
	cr_expect(function__matches("malloc", "malloc", "malloc"));
	cr_expect_not(function__matches("", "malloc", "malloc"));
}

Test(user_functions, functions_of_templates_match_without_what_they_return)
{
	static const char parse[] = "int server::Model::parse<int>(int)";
	static const char pair[] = "std::pair<int, char> (anonymous namespace)::f<A, B<C> >(C&&)";

	cr_expect(function__matches("server::Model::*", "_Z", parse));
	cr_expect(function__matches("server::Model::parse<int>", "_Z", parse));
	cr_expect(function__matches("int server::*", "_Z", parse));
	cr_expect_not(function__matches("Model::parse*", "_Z", parse));
	cr_expect(function__matches("(anonymous namespace)::f<A, B<C> >", "_Z", pair));
	cr_expect_not(function__matches("C> >", "_Z", pair));
	cr_expect_not(function__matches("std::*", "_Z", pair), "what it returns is no name");
	cr_expect_not(function__matches("server::*", "_Z", "server::T other::f<int>(int)"));
	cr_expect(function__matches("server::T other::*", "_Z", "server::T other::f<int>(int)"));
	cr_expect(function__matches("other::f<int>(int)", "_Z", "server::T other::f<int>(int)"));
	cr_expect_not(function__matches("bool<int>", "_Z", "A::operator bool<int>()"));
	cr_expect_not(function__matches("other*", "_Z", "A::operator>(A const&) const"));
}

static void expect_split(const char *spec, const char *lib, const char *glob)
{
	char got[64];
	const char *rest;

	cr_assert_eq(function_spec__split("--op", spec, got, sizeof(got), &rest), 0, "%s", spec);
	cr_expect_str_eq(got, lib);
	cr_expect_str_eq(rest, glob);
}

Test(user_functions, library_and_glob)
{
	const char *const wrong[] = {"main", "Server::handle", ":main", "exe:", ""};
	char got[64];
	const char *rest;

	expect_split("exe:main", "exe", "main");
	expect_split("libserver.so:Server::handle*", "libserver.so", "Server::handle*");
	expect_split("exe:operator\"\"_ms", "exe", "operator\"\"_ms");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect_eq(function_spec__split("--op", wrong[i], got, sizeof(got), &rest),
			     -EINVAL, "%s", wrong[i]);
		EXPECT_ERR(MESSAGE_FUNCTION_OPTION_INVALID);
	}
}

Test(user_functions, a_function_ends_where_it_returns_or_jumps_away)
{
	static const uint8_t code[] = {
		0x85, 0xff,		      /* test %edi,%edi */
		0x74, 0x03,		      /* je inside */
		0x31, 0xc0,		      /* xor %eax,%eax */
		0xc3,			      /* ret */
		0xeb, 0x02,		      /* jmp inside */
		0xf3, 0xc3,		      /* rep ret */
		0xe9, 0x00, 0x01, 0x00, 0x00, /* jmp away */
	};
	struct site_exit exits[4];

	cr_assert_eq(site__exits(code, sizeof(code), exits, 4), 3);
	cr_expect(exits[0].off == 6 && !exits[0].is_jump);
	cr_expect(exits[1].off == 9 && !exits[1].is_jump);
	cr_expect(exits[2].off == 11 && exits[2].is_jump && exits[2].target == 16 + 0x100);
	cr_expect_eq(site__exits(code, sizeof(code), exits, 2), -E2BIG);
	cr_expect_eq(site__exits(code, sizeof(code) - 1, exits, 4), -EINVAL);
}

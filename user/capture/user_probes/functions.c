// SPDX-License-Identifier: BSD-2-Clause
#include "capture/user_probes/functions.h"
#include "common/counted.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/suggest.h"
#include "common/util.h"
#include "device/kernels/demangle.h"
#include <fnmatch.h>
#include <string.h>

#define SHOWN_MAX 6 /* names that a message lists */
#define STRIPPED  8 /* a library with fewer functions is stripped: these are only its exports */

struct search {
	const char *option, *spec, *lib_pattern, *glob;
	struct target *t;
	const struct target_lib *lib;
	struct elf_file *elf;
	struct functions *out;
	size_t first, matched, limit; /* index of the library's first function */
	size_t function_cnt;	      /* functions looked at */
	char part[64];		      /* the longest word of the glob */
	char *holding[SHOWN_MAX];     /* functions whose names contain `part` */
	size_t holding_cnt;
	struct suggestion near;
	char nearest[1024];
};

/* ---- names ---- */

static const char *basename_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Removes the parameters and what follows them, as in "Server::handle(Request const&) const". Keeps
 * the brackets of "operator()". */
static void without_parameters(const char *readable, char *out, size_t size)
{
	size_t end = strlen(readable);
	int depth = 0;

	snprintf(out, size, "%s", readable);
	while (end && readable[end - 1] != ')')
		end--;
	for (size_t i = end; i-- > 0;) {
		depth += (readable[i] == ')') - (readable[i] == '(');
		if (depth)
			continue;
		if (i && i < size)
			out[i] = '\0';
		return;
	}
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	return len >= strlen(end) && !memcmp(text + len - strlen(end), end, strlen(end));
}

/* Names of templates begin with the return type: "int server::parse<int>". The name "A::operator
 * bool" has no return type. */
static const char *without_return_type(const char *bare)
{
	size_t len = strlen(bare);
	int depth = 0;

	if (!ends_with(bare, len, ">") || ends_with(bare, len, "operator>"))
		return bare;
	for (size_t i = len; i-- > 0;) {
		depth += (bare[i] == '>' || bare[i] == ')') - (bare[i] == '<' || bare[i] == '(');
		if (bare[i] == ' ' && !depth && !ends_with(bare, i, "operator"))
			return bare + i + 1;
	}
	return bare;
}

/* Is there a space outside of brackets? True for "int server::*", false for "(anonymous
 * namespace)::*". */
static bool has_space(const char *glob)
{
	int depth = 0;

	for (; *glob; glob++) {
		depth += (*glob == '<' || *glob == '(') - (*glob == '>' || *glob == ')');
		if (*glob == ' ' && !depth)
			return true;
	}
	return false;
}

bool function__matches(const char *glob, const char *symbol, const char *readable)
{
	char bare[1024];
	size_t return_len;

	without_parameters(readable, bare, sizeof(bare));
	return_len = (size_t)(without_return_type(bare) - bare);
	if (!fnmatch(glob, symbol, 0) || !fnmatch(glob, bare + return_len, 0) ||
	    !fnmatch(glob, readable + return_len, 0))
		return true;
	/* "server::*" must not match functions that return a type of server. */
	return return_len && has_space(glob) &&
	       (!fnmatch(glob, bare, 0) || !fnmatch(glob, readable, 0));
}

/* The first single colon: "::" does not count. */
static const char *single_colon(const char *spec)
{
	for (const char *p = strchr(spec, ':'); p; p = strchr(p, ':')) {
		if (p[1] != ':')
			return p;
		p += 2;
	}
	return NULL;
}

int function_spec__split(const char *option, const char *spec, char *lib, size_t size,
			 const char **glob)
{
	const char *colon = single_colon(spec);

	if (!colon || colon == spec || !colon[1] || (size_t)(colon - spec) >= size)
		return err__set(-EINVAL, MESSAGE_FUNCTION_OPTION_INVALID, option, spec, option,
				option);
	snprintf(lib, size, "%.*s", (int)(colon - spec), spec);
	*glob = colon + 1;
	return 0;
}

/* ---- similar names, for the message ---- */

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

static void longest_word(const char *glob, char *out, size_t size)
{
	size_t best = 0;

	*out = '\0';
	for (const char *p = glob; *p;) {
		size_t len = 0;

		while (is_word(p[len]))
			len++;
		if (len > best) {
			best = len;
			snprintf(out, size, "%.*s", (int)len, p);
		}
		p += len ? len : 1;
	}
}

static void note_near(struct search *s, const char *readable)
{
	const char *before = s->near.best;
	char bare[1024];

	if (s->holding_cnt < SHOWN_MAX && s->part[0] && strcasestr(readable, s->part)) {
		s->holding[s->holding_cnt] = strdup(readable);
		s->holding_cnt += s->holding[s->holding_cnt] != NULL;
	}
	without_parameters(readable, bare, sizeof(bare));
	suggest__offer(&s->near, without_return_type(bare));
	if (s->near.best == before)
		return;
	snprintf(s->nearest, sizeof(s->nearest), "%s", without_return_type(bare));
	s->near.best = s->nearest;
}

static int nothing_matches(const struct search *s)
{
	char names[1024] = "";

	for (size_t i = 0, at = 0; i < s->holding_cnt && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				       s->holding[i]);
	if (s->near.best)
		return err__set(-ENOENT, MESSAGE_FUNCTION_NOT_FOUND_SUGGESTED, s->option, s->spec,
				s->near.best);
	if (names[0])
		return err__set(-ENOENT, MESSAGE_FUNCTION_NOT_FOUND_LISTED, s->option, s->spec,
				names);
	if (s->function_cnt < STRIPPED)
		return err__set(-ENOENT, MESSAGE_FUNCTION_LIBRARY_STRIPPED, s->option, s->spec,
				s->lib_pattern,
				s->function_cnt
					? counted(s->function_cnt, "function", "functions").s
					: "no functions");
	return err__set(-ENOENT, MESSAGE_FUNCTION_NOT_FOUND, s->option, s->spec, s->function_cnt);
}

static int too_many(const struct search *s)
{
	char names[1024] = "";

	for (size_t i = 0, at = 0; i < SHOWN_MAX && i < s->out->cnt && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				       s->out->items[i].name);
	return err__set(-E2BIG, MESSAGE_FUNCTIONS_TOO_MANY, s->option, s->spec, s->matched,
			s->limit, names);
}

/* ---- search ---- */

static bool has_address(const struct search *s, uint64_t vaddr)
{
	for (size_t i = s->first; i < s->out->cnt; i++)
		if (s->out->items[i].vaddr == vaddr)
			return true;
	return false;
}

static int take(struct search *s, const struct elf_symbol *symbol, const char *readable)
{
	struct function f = {.lib = s->lib, .vaddr = symbol->vaddr, .size = symbol->size};
	const char *clone;
	int err;

	if (has_address(s, f.vaddr) || elf_file__offset(s->elf, f.vaddr, &f.offset))
		return 0;
	s->matched++;
	if (s->out->cnt >= s->limit)
		return 0;
	f.symbol = strdup(symbol->name);
	/* drop " [clone .isra.0]", which the compiler added */
	clone = strstr(readable, " [clone ");
	f.name = clone ? strndup(readable, (size_t)(clone - readable)) : strdup(readable);
	err = f.symbol && f.name ? ARRAY_PUSH(s->out->items, s->out->cnt, s->out->cap, f) : -ENOMEM;
	if (err) {
		free(f.symbol);
		free(f.name);
	}
	return err;
}

static int visit(const struct elf_symbol *symbol, void *ctx)
{
	auto_free char *readable = NULL;
	struct search *s = ctx;

	/* a part that the compiler split off is no function */
	if (!symbol->is_function || strstr(symbol->name, ".cold"))
		return 0;
	readable = kernel_name__readable(symbol->name);
	if (!readable)
		return -ENOMEM;
	s->function_cnt++;
	if (function__matches(s->glob, symbol->name, readable))
		return take(s, symbol, readable);
	if (!s->out->cnt)
		note_near(s, readable);
	return 0;
}

static bool lib_matches(const struct search *s, const char *path)
{
	const char *name = basename_of(path);
	char versions[512];

	if (!strcmp(s->lib_pattern, "exe"))
		return s->t->exe && !strcmp(s->t->exe, path);
	snprintf(versions, sizeof(versions), "%s.*", s->lib_pattern);
	return !fnmatch(s->lib_pattern, name, 0) || !fnmatch(versions, name, 0);
}

static int no_library(const struct search *s)
{
	struct suggestion near = {.word = s->lib_pattern, .len = strlen(s->lib_pattern)};
	char names[512] = "";
	size_t at = 0;

	if (s->t->is_32bit)
		return err__set(-ENOTSUP, MESSAGE_FUNCTION_OF_32_BIT_PROCESS, s->option, s->spec,
				s->t->pid);
	if (s->t->copied_text && lib_matches(s, s->t->copied_text))
		return err__set(-ENOTSUP, MESSAGE_FUNCTION_CODE_ANONYMOUS, s->option, s->spec,
				s->t->pid, s->t->copied_text);
	for (size_t i = 0; i < s->t->lib_cnt; i++)
		suggest__offer(&near, basename_of(s->t->libs[i].path));
	if (near.best)
		return err__set(-ENOENT, MESSAGE_FUNCTION_LIBRARY_MISSING_SUGGESTED, s->option,
				s->spec, s->t->pid, s->lib_pattern, near.best);
	for (size_t i = 0; i < s->t->lib_cnt && i < SHOWN_MAX && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				       basename_of(s->t->libs[i].path));
	if (s->t->lib_cnt > SHOWN_MAX)
		return err__set(-ENOENT, MESSAGE_FUNCTION_LIBRARY_MISSING_AMONG_MANY, s->option,
				s->spec, s->t->pid, s->lib_pattern, names);
	return err__set(-ENOENT, MESSAGE_FUNCTION_LIBRARY_MISSING, s->option, s->spec, s->t->pid,
			s->lib_pattern, names);
}

static int search_lib(struct search *s, const struct target_lib *lib)
{
	s->lib = lib;
	s->first = s->out->cnt;
	s->elf = target__elf(s->t, lib);
	return s->elf ? elf_file__for_each_symbol(s->elf, visit, s) : -EIO;
}

static int search_all(struct search *s)
{
	size_t libs = 0;
	int err = 0;

	for (size_t i = 0; i < s->t->lib_cnt && !err; i++) {
		if (!lib_matches(s, s->t->libs[i].path))
			continue;
		libs++;
		err = search_lib(s, &s->t->libs[i]);
	}
	if (err)
		return err;
	if (!libs)
		return no_library(s);
	if (!s->matched)
		return nothing_matches(s);
	return s->matched > s->limit ? too_many(s) : 0;
}

int functions__find(struct target *t, const char *option, const char *spec, size_t limit,
		    struct functions *out)
{
	const char *glob = "";
	char lib[256];
	struct search s = {.option = option,
			   .spec = spec,
			   .lib_pattern = lib,
			   .t = t,
			   .out = out,
			   .limit = limit};
	int err = function_spec__split(option, spec, lib, sizeof(lib), &glob);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	longest_word(glob, s.part, sizeof(s.part));
	s.glob = glob;
	s.near = (struct suggestion){.word = glob, .len = strlen(glob)};
	err = search_all(&s);
	for (size_t i = 0; i < s.holding_cnt; i++)
		free(s.holding[i]);
	if (err)
		functions__free(out);
	return err;
}

void functions__free(struct functions *f)
{
	for (size_t i = 0; i < f->cnt; i++) {
		free(f->items[i].symbol);
		free(f->items[i].name);
	}
	free(f->items);
	memset(f, 0, sizeof(*f));
}

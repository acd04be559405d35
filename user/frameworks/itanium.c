// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "common/util.h"
#include "frameworks/itanium.h"

enum { MAX_TEXT = 4096, MAX_SUBS = 128, MAX_DEPTH = 48 };

/* The text only grows at its end, so a substitution is a piece of the text so far. */
struct parser {
	const char *p;
	bool skip_only; /* writes no text; substitutions may refer to text before p */
	int depth;
	size_t len, sub_cnt;
	struct {
		size_t off, len;
	} subs[MAX_SUBS];
	char text[MAX_TEXT];
};

static bool parse_type(struct parser *s);

static bool emit(struct parser *s, const char *text, size_t len)
{
	if (s->skip_only)
		return true;
	if (len > MAX_TEXT - 1 - s->len)
		return false;
	memmove(s->text + s->len, text, len);
	s->len += len;
	return true;
}

static bool emit_str(struct parser *s, const char *text)
{
	return emit(s, text, strlen(text));
}

/* Makes the text since `start` available to later substitutions. */
static bool add_sub(struct parser *s, size_t start)
{
	if (s->skip_only)
		return true;
	if (s->sub_cnt == MAX_SUBS)
		return false;
	s->subs[s->sub_cnt].off = start;
	s->subs[s->sub_cnt++].len = s->len - start;
	return true;
}

/* <seq-id> _ : base 36, empty is 0, "0" is 1. */
static bool parse_seq_id(struct parser *s, size_t *id)
{
	size_t value = 0;

	*id = 0;
	for (; *s->p != '_'; s->p++) {
		if (!isdigit((unsigned char)*s->p) && !isupper((unsigned char)*s->p))
			return false;
		value = value * 36 +
			(size_t)(isdigit((unsigned char)*s->p) ? *s->p - '0' : *s->p - 'A' + 10);
		*id = value + 1;
		if (value > MAX_SUBS)
			return false;
	}
	s->p++;
	return true;
}

static const char *std_abbreviation(char c)
{
	switch (c) {
	case 'a':
		return "std::allocator";
	case 'b':
		return "std::basic_string";
	case 's':
		return "std::string";
	case 'i':
		return "std::istream";
	case 'o':
		return "std::ostream";
	case 'd':
		return "std::iostream";
	default:
		return NULL;
	}
}

/* "S_", "S1_" or "Sa", but not "St", which is a namespace. */
static bool parse_substitution(struct parser *s)
{
	const char *abbreviation = std_abbreviation(s->p[1]);
	size_t id;

	if (abbreviation) {
		s->p += 2;
		return emit_str(s, abbreviation);
	}
	s->p++;
	if (!parse_seq_id(s, &id))
		return false;
	if (s->skip_only)
		return true;
	return id < s->sub_cnt && emit(s, s->text + s->subs[id].off, s->subs[id].len);
}

static bool parse_source_name(struct parser *s)
{
	static const char anonymous[] = "_GLOBAL__N_";
	size_t n = 0;
	const char *name;

	while (isdigit((unsigned char)*s->p) && n < MAX_TEXT)
		n = n * 10 + (size_t)(*s->p++ - '0');
	name = s->p;
	if (!n || strnlen(name, n) < n)
		return false;
	s->p += n;
	if (n >= sizeof(anonymous) - 1 && !memcmp(name, anonymous, sizeof(anonymous) - 1))
		return emit_str(s, "(anonymous namespace)");
	return emit(s, name, n);
}

static const struct {
	char letter;
	const char *name, *literal_suffix; /* literal_suffix NULL: literals are written
					      "(type)value" */
} builtins[] = {
	{'v', "void", NULL},
	{'b', "bool", NULL},
	{'c', "char", NULL},
	{'a', "signed char", NULL},
	{'h', "unsigned char", NULL},
	{'s', "short", NULL},
	{'t', "unsigned short", NULL},
	{'i', "int", ""},
	{'j', "unsigned int", "u"},
	{'l', "long", "l"},
	{'m', "unsigned long", "ul"},
	{'x', "long long", "ll"},
	{'y', "unsigned long long", "ull"},
	{'f', "float", NULL},
	{'d', "double", NULL},
	{'e', "long double", NULL},
	{'n', "__int128", NULL},
	{'w', "wchar_t", NULL},
	{'o', "unsigned __int128", NULL},
	{'z', "...", NULL},
};

static int builtin_index(char c)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (builtins[i].letter == c)
			return (int)i;
	return -1;
}

/* L <type> <value> E */
static bool parse_literal(struct parser *s)
{
	int builtin = builtin_index(*++s->p);
	const char *suffix = builtin >= 0 ? builtins[builtin].literal_suffix : NULL;
	size_t n;

	if (*s->p == 'b' && (s->p[1] == '0' || s->p[1] == '1') && s->p[2] == 'E') {
		s->p += 3;
		return emit_str(s, s->p[-2] == '1' ? "true" : "false");
	}
	if (suffix)
		s->p++;
	else if (!emit_str(s, "(") || !parse_type(s) || !emit_str(s, ")"))
		return false;
	if (*s->p == 'n') {
		s->p++;
		if (!emit_str(s, "-"))
			return false;
	}
	n = strspn(s->p, "0123456789");
	if (!n || s->p[n] != 'E' || !emit(s, s->p, n))
		return false;
	s->p += n + 1;
	return emit_str(s, suffix ? suffix : "");
}

/* The arguments of a template or a pack, up to the 'E' and with it. */
static bool parse_template_list(struct parser *s, bool *first)
{
	while (*s->p != 'E') {
		if (*s->p == 'J') {
			s->p++;
			if (!parse_template_list(s, first))
				return false;
			continue;
		}
		if (!*first && !emit_str(s, ", "))
			return false;
		*first = false;
		if (*s->p == 'L' ? !parse_literal(s) : !parse_type(s))
			return false;
	}
	s->p++;
	return true;
}

static bool parse_template_args(struct parser *s)
{
	bool first = true;

	s->p++;
	if (!emit_str(s, "<") || !parse_template_list(s, &first))
		return false;
	if (s->len && s->text[s->len - 1] == '>' && !emit_str(s, " "))
		return false;
	return emit_str(s, ">");
}

/* N <prefix>+ E. Later substitutions can refer to each prefix but the whole name, which the caller
 * adds. */
static bool parse_nested_name(struct parser *s)
{
	size_t start = s->len;
	bool first = true, is_new;

	for (s->p++; *s->p != 'E'; first = false) {
		is_new = *s->p != 'S';
		if (*s->p == 'I') {
			if (first || !parse_template_args(s))
				return false;
		} else if (*s->p == 'S' && s->p[1] == 't') {
			s->p += 2;
			if (!emit_str(s, "std"))
				return false;
		} else if (*s->p == 'S') {
			if (!parse_substitution(s))
				return false;
		} else {
			if (!first && !emit_str(s, "::"))
				return false;
			if (!parse_source_name(s))
				return false;
		}
		if (is_new && *s->p != 'E' && !add_sub(s, start))
			return false;
	}
	s->p++;
	return !first;
}

/* [St] <source-name> [<template-args>] */
static bool parse_plain_name(struct parser *s)
{
	size_t start = s->len;

	if (*s->p == 'S') {
		s->p += 2;
		if (!emit_str(s, "std::"))
			return false;
	}
	if (!parse_source_name(s))
		return false;
	return *s->p != 'I' || (add_sub(s, start) && parse_template_args(s));
}

/* Pointers, references and qualifiers, which C++ writes after the type. */
static bool parse_modified(struct parser *s, size_t start)
{
	bool is_const = false, is_volatile = false;
	const char *mark = *s->p == 'P' ? "*" : *s->p == 'R' ? "&" : "&&";

	if (!strchr("rVK", *s->p)) {
		s->p++;
		return parse_type(s) && emit_str(s, mark) && add_sub(s, start);
	}
	for (; *s->p && strchr("rVK", *s->p); s->p++) {
		is_const |= *s->p == 'K';
		is_volatile |= *s->p == 'V';
	}
	if (!parse_type(s) || (is_volatile && !emit_str(s, " volatile")) ||
	    (is_const && !emit_str(s, " const")))
		return false;
	return add_sub(s, start);
}

static bool parse_type_at(struct parser *s)
{
	size_t start = s->len;
	int builtin = builtin_index(*s->p);

	if (!*s->p)
		return false;
	if (builtin >= 0) {
		s->p++;
		return emit_str(s, builtins[builtin].name);
	}
	if (strchr("rVKPRO", *s->p))
		return parse_modified(s, start);
	if (*s->p == 'D' && s->p[1] == 'n') {
		s->p += 2;
		return emit_str(s, "decltype(nullptr)");
	}
	if (*s->p == 'N')
		return parse_nested_name(s) && add_sub(s, start);
	if (isdigit((unsigned char)*s->p) || (*s->p == 'S' && s->p[1] == 't'))
		return parse_plain_name(s) && add_sub(s, start);
	if (*s->p != 'S' || !parse_substitution(s))
		return false;
	return *s->p != 'I' || (parse_template_args(s) && add_sub(s, start));
}

static bool parse_type(struct parser *s)
{
	bool ok = ++s->depth <= MAX_DEPTH && parse_type_at(s);

	s->depth--;
	return ok;
}

char *itanium__demangle_type(const char *mangled)
{
	auto_free struct parser *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct parser, subs));
	s->p = mangled;
	if (!parse_type(s) || *s->p)
		return NULL;
	return strndup(s->text, s->len);
}

const char *itanium__skip_type(const char *p)
{
	struct parser s;

	memset(&s, 0, offsetof(struct parser, subs));
	s.p = p;
	s.skip_only = true;
	return parse_type(&s) ? s.p : NULL;
}

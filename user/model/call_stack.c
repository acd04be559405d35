// SPDX-License-Identifier: BSD-2-Clause
#include "model/call_stack.h"
#include <ctype.h>
#include <string.h>
#include "common/util.h"

#define DIRS_MAX 8 /* directories of programs; a job has one */

struct call_stacks {
	const struct recording *r;
	char *dirs[DIRS_MAX]; /* each ends with a slash */
	size_t dir_cnt;
};

/* ---- spans ---- */

static enum span_category category(const struct recording *r, const struct span *s)
{
	const struct name *n = s->ev.name ? recording__name(r, s->ev.name) : NULL;

	return n ? n->category : CAT_NONE;
}

/* Inner spans were called from the same line. */
static bool gives_stack(const struct span *s)
{
	return s->kind == KIND_OPERATOR || s->kind == KIND_OPERATOR_INNER ||
	       s->kind == KIND_PYTHON_OP || s->kind == KIND_RUNTIME || s->kind == KIND_SCRIPT ||
	       s->kind == KIND_COMMUNICATION || s->kind == KIND_OTHER;
}

uint32_t span__stack(const struct recording *r, const struct span *s)
{
	if (s->launch)
		s = s->launch;
	if (s->ev.stack)
		return s->ev.stack;
	for (; s && gives_stack(s); s = s->parent) {
		if (category(r, s) == CAT_BACKWARD_NODE && s->ev.id != EVENT_NO_ID)
			return 0;
		if (s->ev.stack)
			return s->ev.stack;
	}
	return 0;
}

static bool is_range(const struct recording *r, const struct event *e)
{
	const struct name *n = e->name ? recording__name(r, e->name) : NULL;

	switch (n ? n->category : CAT_NONE) {
	case CAT_OPERATOR:
	case CAT_OPTIMIZER_OP:
	case CAT_PYTHON_OP:
	case CAT_FUNCTION:
	case CAT_SCRIPT:
	case CAT_REGION:
	case CAT_EVALUATION:
		return false;
	default:
		return true;
	}
}

size_t event__frames(const struct recording *r, const struct event *e, uint32_t base,
		     uint32_t frames[CALL_STACK_MAX])
{
	const struct code_frame *f = recording__frame(r, e->stack);
	size_t cnt = 0;

	if (!f || is_range(r, e))
		return 0;
	for (; f && f->id != base && cnt < CALL_STACK_MAX; f = recording__frame(r, f->parent))
		frames[cnt++] = f->id;
	for (size_t i = 0; i < cnt / 2; i++) {
		const uint32_t outer = frames[cnt - 1 - i];

		frames[cnt - 1 - i] = frames[i];
		frames[i] = outer;
	}
	return cnt;
}

/* ---- paths ---- */

static bool is_file(const char *path)
{
	return path[0] == '/';
}

/* Behind the last directory of installed packages, or of the standard library; NULL: in neither. */
static const char *in_library(const char *path)
{
	static const char *const packages[] = {"/site-packages/", "/dist-packages/"};
	const char *found = NULL, *at;

	for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
		for (at = path; (at = strstr(at, packages[i]));) {
			at += strlen(packages[i]);
			found = at > found ? at : found;
		}
	if (found)
		return found;
	for (at = path; (at = strstr(at, "/lib/python3."));) {
		at += strlen("/lib/python3.");
		while (isdigit((unsigned char)*at))
			at++;
		if (*at == '/')
			return at + 1;
	}
	return NULL;
}

const char *call_stacks__path(const struct call_stacks *c, const char *path)
{
	const char *rest = in_library(path);

	for (size_t i = 0; c && !rest && i < c->dir_cnt; i++)
		if (!strncmp(path, c->dirs[i], strlen(c->dirs[i])))
			rest = path + strlen(c->dirs[i]);
	return rest && *rest ? rest : path;
}

static int add_dir(struct call_stacks *c, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0;

	if (!len || c->dir_cnt == DIRS_MAX || in_library(path))
		return 0;
	for (size_t i = 0; i < c->dir_cnt; i++)
		if (strlen(c->dirs[i]) == len && !strncmp(c->dirs[i], path, len))
			return 0;
	c->dirs[c->dir_cnt] = strndup(path, len);
	return c->dirs[c->dir_cnt++] ? 0 : -ENOMEM;
}

/* Python finds imports next to a program's own file. A stack's outermost frame runs that file, or
 * the interpreter's code that runs it as a module. */
static bool is_outermost(const struct call_stacks *c, const struct code_frame *f)
{
	const struct code_frame *outer = recording__frame(c->r, f->parent);
	const struct code *code = outer ? recording__code(c->r, outer->code) : NULL;

	return !f->parent || (code && !strncmp(code->file, "<frozen", strlen("<frozen")));
}

static int find_dirs(struct call_stacks *c)
{
	int err = 0;

	for (uint32_t id = 1; id <= recording__frame_cnt(c->r) && !err; id++) {
		const struct code_frame *f = recording__frame(c->r, id);
		const struct code *code = f ? recording__code(c->r, f->code) : NULL;

		if (code && is_file(code->file) && !strcmp(code->function, "<module>") &&
		    is_outermost(c, f))
			err = add_dir(c, code->file);
	}
	return err;
}

int call_stacks__open(const struct recording *r, struct call_stacks **out)
{
	struct call_stacks *c;

	*out = NULL;
	if (!recording__frame_cnt(r))
		return 0;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->r = r;
	if (find_dirs(c)) {
		call_stacks__free(c);
		return -ENOMEM;
	}
	*out = c;
	return 0;
}

void call_stacks__free(struct call_stacks *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->dir_cnt; i++)
		free(c->dirs[i]);
	free(c);
}

/* ---- text ---- */

static void put_frame(const struct call_stacks *c, const struct code_frame *f, FILE *out)
{
	const struct code *code = recording__code(c->r, f->code);
	const char *dot = code ? strrchr(code->function, '.') : NULL;

	if (!f->code)
		fputs("(outer frames not read)", out);
	else if (!code || !*code->file)
		fputs("(function not read)", out);
	else
		/* only the last part of the name, because the profiler has no classes */
		fprintf(out, "%s(%u): %s", call_stacks__path(c, code->file), f->line,
			dot && dot[1] ? dot + 1 : code->function);
}

char *call_stacks__text(const struct call_stacks *c, uint32_t stack, unsigned int depth,
			const char *sep, bool sep_behind_last)
{
	const struct code_frame *f = c ? recording__frame(c->r, stack) : NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (unsigned int n = 0; f && (!depth || n < depth); n++) {
		if (n && !sep_behind_last)
			fputs(sep, out);
		put_frame(c, f, out);
		if (sep_behind_last)
			fputs(sep, out);
		f = recording__frame(c->r, f->parent);
	}
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

int call_stacks__frame(const struct call_stacks *c, uint32_t frame, char **text)
{
	*text = call_stacks__text(c, frame, 1, "", false);
	return *text ? 0 : -ENOMEM;
}

bool call_stacks__place(const struct call_stacks *c, uint32_t stack, char *out, size_t size)
{
	const struct code_frame *innermost = NULL;
	const struct code *code;

	for (const struct code_frame *f = c ? recording__frame(c->r, stack) : NULL; f;
	     f = recording__frame(c->r, f->parent)) {
		code = recording__code(c->r, f->code);
		if (!code || !*code->file)
			continue;
		if (!innermost)
			innermost = f;
		if (is_file(code->file) && !in_library(code->file)) {
			innermost = f;
			break;
		}
	}
	if (!innermost)
		return false;
	code = recording__code(c->r, innermost->code);
	snprintf(out, size, "%s:%u", call_stacks__path(c, code->file), innermost->line);
	return true;
}

// SPDX-License-Identifier: BSD-2-Clause
#include "capture/user_probes/user_usdt.h"
#include "common/counted.h"
#include "common/err.h"
#include "capture/message_table.h"
#include "common/util.h"
#include "target/usdt.h"
#include <fnmatch.h>
#include <string.h>

#define PROVIDER      "proftrace"
#define SEEN_MAX      8 /* names that a message lists */
#define PAGE	      4096
#define LITERALS_MOST (16 << 20) /* bytes */

/* Position of each argument in the probe's list, from 1 on; 0: the probe lacks it. */
struct own_probe {
	const char *name, *program;
	enum probe_group group;
	uint8_t key, text, domain, value, scope;
	uint8_t op; /* operation of a mark */
	uint32_t class;
};

/* The probes of include/proftrace.h. */
static const struct own_probe own_probes[] = {
	{"range_begin", "range_start", GROUP_STEP, .key = 1, .text = 2, .domain = 3},
	{"frame_begin", "range_start", GROUP_STEP, .key = 1, .text = 2, .domain = 3,
	 .class = PT_CLASS_ITERATION},
	{"range_end", "range_stop", GROUP_STEP, .key = 1},
	{"counter", "mark", GROUP_OPERATOR, .text = 1, .domain = 2, .value = 3, .op = PT_MARK_SET},
	{"mark", "mark", GROUP_OPERATOR, .text = 1, .domain = 2, .scope = 3, .op = PT_MARK_INSTANT},
};

/* All places of a probe with the same name and arguments share a row. */
struct shared_row {
	char *key; /* provider:name args */
	uint32_t row;
};

struct scan {
	const struct capture_opts *opts;
	struct probe_plan *plan;
	const struct target_lib *lib;
	struct elf_file *elf;
	struct shared_row *rows;
	size_t row_cnt, row_cap;
	size_t own_cnt;
	bool *matched;	      /* by option */
	char *seen[SEEN_MAX]; /* other probes seen, for the message */
	size_t seen_cnt;
	size_t guarded;
};

/* ---- rows ---- */

static int add(struct scan *s, const struct usdt_probe *u, struct planned_probe *probe)
{
	struct shared_row *known = NULL, added = {0};
	int err;

	if (asprintf(&added.key, "%s:%s %s", u->provider, u->name, u->args) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < s->row_cnt && !known; i++)
		if (!strcmp(s->rows[i].key, added.key))
			known = &s->rows[i];
	probe->lib = s->lib;
	probe->symbol = u->name;
	probe->vaddr = u->vaddr;
	probe->row = known ? known->row : 0;
	err = elf_file__offset(s->elf, u->vaddr, &probe->offset)
		      ? probe_plan__missing(s->plan, "%s: its probe %s:%s lies outside the code",
					    s->lib->path, u->provider, u->name)
		      : probe_plan__add(s->plan, probe);
	added.row = s->plan->row_cnt;
	if (!err && !known)
		err = ARRAY_PUSH(s->rows, s->row_cnt, s->row_cap, added);
	else
		free(added.key);
	return err;
}

/* ---- include/proftrace.h ---- */

/* Finds an argument's register slot, stored plus 1. Returns false if the argument is not in a
 * register as expected. */
static bool place(const struct usdt_probe *u, uint8_t argument, uint8_t *slot)
{
	uint8_t reg;

	*slot = 0;
	if (!argument)
		return true;
	if (!usdt__register(u->args, argument - 1u, &reg))
		return false;
	*slot = reg + 1;
	return true;
}

static bool configure(const struct own_probe *own, const struct usdt_probe *u,
		      struct pt_probe_cfg *cfg)
{
	uint8_t key, text, domain;

	if (!place(u, own->key, &key) || !place(u, own->text, &text) ||
	    !place(u, own->domain, &domain) || !place(u, own->value, &cfg->mark.value) ||
	    !place(u, own->scope, &cfg->mark.scope))
		return false;
	cfg->key_reg = key ? key - 1 : 0;
	cfg->name_reg = text ? text - 1 : 0;
	cfg->domain = domain;
	cfg->name_source = text ? PT_NAME_CSTR : PT_NAME_STATIC;
	cfg->code = own->class;
	cfg->mark.op = own->op;
	return true;
}

/* Returns 1 if it is a probe of proftrace.h and was planned. */
static int add_own(struct scan *s, const struct usdt_probe *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_probes); i++) {
		const struct own_probe *own = &own_probes[i];
		struct planned_probe probe = {.group = own->group,
					      .program = own->program,
					      .category = CAT_USER,
					      .chosen = true};
		int err;

		if (strcmp(u->name, own->name) != 0)
			continue;
		if (!configure(own, u, &probe.cfg))
			return probe_plan__missing(
				s->plan,
				"%s: probe %s:%s has arguments (%s) that are not "
				"where this version of proftrace.h puts them",
				s->lib->path, u->provider, u->name, u->args);
		s->own_cnt++;
		err = add(s, u, &probe);
		return err ? err : 1;
	}
	return 0;
}

/* Names are literals. A program that only marks may never have read them, and BPF programs cannot
 * read pages that are not in memory. Reading one byte of each page brings the literals into
 * memory. */
static void bring_literals(const struct scan *s, struct target *t)
{
	const struct elf_section text = elf_file__whole_section(s->elf, ".rodata");
	uint8_t byte;

	for (size_t at = 0; text.bytes && at < text.len && at < LITERALS_MOST; at += PAGE)
		if (target__read(t, s->lib->base + text.vaddr + at, &byte, 1))
			err__take(-EFAULT);
}

/* ---- --usdt ---- */

static void note_seen(struct scan *s, const char *name)
{
	for (size_t i = 0; i < s->seen_cnt; i++)
		if (!strcmp(s->seen[i], name))
			return;
	if (s->seen_cnt < SEEN_MAX && (s->seen[s->seen_cnt] = strdup(name)))
		s->seen_cnt++;
}

/* Plans the probe if --usdt names it. Probes of proftrace.h are planned already. */
static int add_chosen(struct scan *s, const struct usdt_probe *u, bool is_own)
{
	struct planned_probe probe = {
		.group = GROUP_OPERATOR, .program = "mark", .category = CAT_USER, .chosen = true};
	bool wanted = false;
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", u->provider, u->name);
	for (size_t i = 0; i < s->opts->usdt.cnt; i++) {
		bool matches = !fnmatch(s->opts->usdt.items[i], name, 0);

		s->matched[i] |= matches;
		wanted |= matches;
	}
	note_seen(s, name);
	if (!wanted || is_own)
		return 0;
	s->guarded += u->semaphore != 0;
	probe.name = name;
	return add(s, u, &probe);
}

static int nothing_matches(const struct scan *s, const char *option)
{
	char names[1024] = "";

	for (size_t i = 0, at = 0; i < s->seen_cnt && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
				       s->seen[i]);
	if (!s->seen_cnt)
		return err__set(-ENOENT, MESSAGE_USDT_PROBES_MISSING, option);
	if (s->seen_cnt == SEEN_MAX)
		return err__set(-ENOENT, MESSAGE_USDT_PROBE_NOT_FOUND_AMONG_MANY, option, names);
	return err__set(-ENOENT, MESSAGE_USDT_PROBE_NOT_FOUND, option, names);
}

/* ---- the scan ---- */

static int visit(const struct usdt_probe *u, void *ctx)
{
	struct scan *s = ctx;
	int own = strcmp(u->provider, PROVIDER) ? 0 : add_own(s, u);

	if (own < 0)
		return own;
	return s->opts->usdt.cnt ? add_chosen(s, u, own) : 0;
}

static int scan_all(struct scan *s, struct target *t)
{
	int err = 0;

	for (size_t i = 0; i < t->lib_cnt && !err; i++) {
		const size_t own_before = s->own_cnt;

		s->lib = &t->libs[i];
		s->elf = target__elf(t, s->lib);
		if (s->elf)
			err = usdt__each_of(s->elf, visit, s);
		else
			err__take(-EIO); /* a warning has named unreadable files */
		if (s->own_cnt > own_before)
			bring_literals(s, t);
	}
	for (size_t i = 0; i < s->opts->usdt.cnt && !err; i++)
		if (!s->matched[i])
			err = nothing_matches(s, s->opts->usdt.items[i]);
	return err;
}

int user_usdt__plan(const struct capture_opts *opts, struct target *t, struct probe_plan *plan)
{
	struct scan s = {.opts = opts, .plan = plan};
	int err;

	s.matched = calloc(opts->usdt.cnt + 1, sizeof(*s.matched));
	if (!s.matched)
		return -ENOMEM;
	err = scan_all(&s, t);
	if (!err && s.own_cnt)
		log__info(MESSAGE_USDT_OWN_PROBES_FOUND, counted(s.own_cnt, "probe", "probes").s);
	if (!err && s.guarded)
		log__warn(MESSAGE_USDT_SEMAPHORES_NOT_SET, s.guarded);
	for (size_t i = 0; i < s.row_cnt; i++)
		free(s.rows[i].key);
	for (size_t i = 0; i < s.seen_cnt; i++)
		free(s.seen[i]);
	free(s.rows);
	free(s.matched);
	return err;
}

bool user_usdt__has_iterations(const struct probe_plan *plan)
{
	for (size_t i = 0; i < plan->cnt; i++)
		if (!strcmp(plan->probes[i].program, "range_start") &&
		    plan->probes[i].cfg.code == PT_CLASS_ITERATION)
			return true;
	return false;
}

static int is_own(const struct usdt_probe *u, void *ctx)
{
	return !strcmp(u->provider, PROVIDER);
}

bool user_usdt__has_own(struct target *t)
{
	for (size_t i = 0; i < t->lib_cnt; i++) {
		struct elf_file *elf = t->exe && !strcmp(t->libs[i].path, t->exe)
					       ? target__elf(t, &t->libs[i])
					       : NULL;

		if (elf && usdt__each_of(elf, is_own, NULL))
			return true;
	}
	return false;
}

static int count_own(const struct usdt_probe *u, void *ctx)
{
	size_t *cnt = ctx;

	*cnt += is_own(u, NULL);
	return 0;
}

size_t user_usdt__own_cnt(struct target *t)
{
	size_t cnt = 0;

	for (size_t i = 0; i < t->lib_cnt; i++) {
		struct elf_file *elf = target__elf(t, &t->libs[i]);

		if (elf)
			usdt__each_of(elf, count_own, &cnt);
	}
	return cnt;
}

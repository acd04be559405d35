// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/framework.h"
#include "common/err.h"
#include "frameworks/message_table.h"
#include "common/util.h"
#include <stdarg.h>
#include <string.h>

static void lib_free(struct target_lib *lib)
{
	free(lib->path);
	free(lib->host_path);
	free(lib);
}

/* The plan's own copy of a library. NULL: out of memory. */
static const struct target_lib *own_lib(struct probe_plan *p, const struct target_lib *lib)
{
	struct target_lib *own;

	for (size_t i = p->lib_cnt; i-- > 0;)
		if (!strcmp(p->libs[i]->host_path, lib->host_path))
			return p->libs[i];
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	*own = *lib;
	own->path = strdup(lib->path);
	own->host_path = strdup(lib->host_path);
	if (own->path && own->host_path && !ARRAY_PUSH(p->libs, p->lib_cnt, p->lib_cap, own))
		return own;
	lib_free(own);
	return NULL;
}

int probe_plan__add(struct probe_plan *p, const struct planned_probe *probe)
{
	const uint32_t max_rows = p->row_max ? p->row_max : PT_MAX_PROBES;
	struct planned_probe *added;
	int err = ARRAY_PUSH(p->probes, p->cnt, p->cap, *probe);

	if (err)
		return err;
	added = &p->probes[p->cnt - 1];
	if (!added->row) {
		/* One row is for spare_row (span_cost.c), besides row 0. */
		if (p->row_cnt + 2 >= max_rows) {
			p->cnt--;
			return err__set(-ENOSPC, MESSAGE_PLAN_TOO_LARGE, max_rows - 2);
		}
		added->row = ++p->row_cnt;
	}
	if (probe->group > GROUP_PHASE && probe->group != GROUP_WATCH)
		added->cfg.place |= PT_MAY_MISS_END;
	added->lib = own_lib(p, probe->lib);
	added->pointers_lib = probe->pointers_lib ? own_lib(p, probe->pointers_lib) : NULL;
	added->symbol = strdup(probe->symbol);
	added->name = probe->name ? strdup(probe->name) : NULL;
	added->schema = probe->schema ? strdup(probe->schema) : NULL;
	if (!added->lib || (probe->pointers_lib && !added->pointers_lib) || !added->symbol ||
	    (probe->name && !added->name) || (probe->schema && !added->schema))
		return -ENOMEM;
	return 0;
}

int probe_plan__alias(struct probe_plan *p, const struct target_lib *lib, uint64_t vaddr,
		      const char *name)
{
	struct pointer_hook_alias alias = {own_lib(p, lib), vaddr, strdup(name)};
	int err = alias.lib && alias.name
			  ? ARRAY_PUSH(p->aliases, p->alias_cnt, p->alias_cap, alias)
			  : -ENOMEM;

	if (err)
		free(alias.name);
	return err;
}

void probe_plan__forget_pointers(struct probe_plan *p)
{
	for (size_t i = 0; i < p->cnt; i++)
		p->probes[i].pointer_hook = POINTER_HOOK_NOT;
}

bool probe_plan__has_group(const struct probe_plan *p, enum probe_group group)
{
	for (size_t i = 0; i < p->cnt; i++)
		if (p->probes[i].group == group)
			return true;
	return false;
}

enum site_class planned_probe__site(struct target *t, const struct planned_probe *probe)
{
	struct elf_file *elf = target__elf(t, probe->lib);
	size_t len = 0, insn_len;
	const uint8_t *code = elf ? elf_file__bytes(elf, probe->vaddr, &len) : NULL;

	return code ? site__classify(code, len, &insn_len) : SITE_UNKNOWN;
}

const char *planned_probe__why_stepped(const struct planned_probe *probe)
{
	if (probe->program && strstr(probe->program, "_leave"))
		return "on its returns: they pass no instruction that the kernel emulates";
	if (probe->program && strstr(probe->program, "_return_site"))
		return "behind a call of it: no instruction there is emulated";
	return "at its entry: none before its first call or branch is emulated";
}

int planned_probe__slide(struct elf_file *elf, size_t size, unsigned int keep,
			 struct planned_probe *probe)
{
	size_t len;
	const uint8_t *code = elf_file__bytes(elf, probe->vaddr, &len);
	int shift = 0;
	int off = code ? site__slide(code, size && size < len ? size : len, keep, &shift) : 0;

	if (off < 0)
		return off;
	probe->vaddr += (uint64_t)off;
	probe->offset += (uint64_t)off;
	probe->cfg.rsp_shift = (uint16_t)shift;
	return 0;
}

int probe_plan__missing(struct probe_plan *p, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	return ARRAY_PUSH(p->missing, p->missing_cnt, p->missing_cap, text);
}

void probe_plan__free(struct probe_plan *p)
{
	for (size_t i = 0; i < p->cnt; i++) {
		free((char *)p->probes[i].symbol);
		free((char *)p->probes[i].name);
		free((char *)p->probes[i].schema);
	}
	for (size_t i = 0; i < p->lib_cnt; i++)
		lib_free(p->libs[i]);
	for (size_t i = 0; i < p->missing_cnt; i++)
		free(p->missing[i]);
	for (size_t i = 0; i < p->alias_cnt; i++)
		free(p->aliases[i].name);
	free(p->aliases);
	allowed_returns__free(&p->returns);
	free(p->libs);
	free(p->probes);
	free(p->missing);
	memset(p, 0, sizeof(*p));
}

// SPDX-License-Identifier: BSD-2-Clause
/* The libraries of a process, by name or address, and their ELF files. */
#include <fnmatch.h>
#include <string.h>
#include "common/err.h"
#include "common/message_table.h"
#include "target/message_table.h"
#include "common/util.h"
#include "target/target_priv.h"

const struct target_lib *target__find_lib(const struct target *t, const char *pattern)
{
	for (size_t i = 0; i < t->lib_cnt; i++) {
		const char *slash = strrchr(t->libs[i].path, '/');

		if (fnmatch(pattern, slash ? slash + 1 : t->libs[i].path, 0) == 0)
			return &t->libs[i];
	}
	return NULL;
}

/* NULL if its owner truncated the file since: nothing in it can be trusted. */
static struct elf_file *whole(const struct target_lib *lib, struct elf_file *file)
{
	if (!elf_file__is_torn(file))
		return file;
	err__set(-ESTALE, MESSAGE_ELF_CUT_OFF, lib->path);
	return NULL;
}

struct elf_file *target__elf(struct target *t, const struct target_lib *lib)
{
	struct target_priv *priv = (struct target_priv *)t;
	struct kept_elf kept;

	for (size_t i = 0; i < priv->elf_cnt; i++) {
		if (strcmp(priv->elfs[i].host_path, lib->host_path) == 0)
			return whole(lib, priv->elfs[i].file);
	}
	if (elf_file__open(lib->host_path, &kept.file) < 0)
		return NULL;
	kept.host_path = strdup(lib->host_path);
	if (!kept.host_path || ARRAY_PUSH(priv->elfs, priv->elf_cnt, priv->elf_cap, kept)) {
		free(kept.host_path);
		elf_file__close(kept.file);
		err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, lib->path);
		return NULL;
	}
	return kept.file;
}

void target__drop_elfs(struct target *t)
{
	struct target_priv *priv = (struct target_priv *)t;

	for (size_t i = 0; i < priv->elf_cnt; i++)
		elf_file__drop(priv->elfs[i].file);
}

const struct target_lib *target__lib_at(struct target *t, uint64_t address, uint64_t *vaddr)
{
	const struct target_lib *lib = NULL;
	struct elf_file *elf;
	uint64_t offset;

	for (size_t i = 0; i < t->lib_cnt; i++) {
		const struct target_lib *other = &t->libs[i];

		if (other->base <= address && (!lib || other->base > lib->base))
			lib = other;
	}
	elf = lib ? target__elf(t, lib) : NULL;
	*vaddr = lib ? address - lib->base : 0;
	return elf && !elf_file__offset(elf, *vaddr, &offset) ? lib : NULL;
}

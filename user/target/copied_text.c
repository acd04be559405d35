// SPDX-License-Identifier: BSD-2-Clause
#include "target/copied_text.h"
#include <string.h>
#include "common/util.h"

static void begin_lib(struct copied_text *c, const struct mapping *m)
{
	elf_file__close(c->elf);
	c->elf = NULL;
	c->is_opened = c->is_counted = false;
	c->lib = *m;
}

/* Other code often follows a library in memory, such as that of compilers at run time. So the
 * library's own segments decide. */
static int is_code_of_lib(struct copied_text *c, const struct target *t, uint64_t address,
			  bool *is_code)
{
	auto_free char *path = NULL;
	bool deleted = false;

	*is_code = false;
	if (!c->is_opened) {
		path = mapping__host_path(t, &c->lib, c->lib.path, &deleted);
		if (!path)
			return -ENOMEM;
		c->is_opened = true;
		if (elf_file__open(path, &c->elf))
			c->elf = NULL;
	}
	*is_code = c->elf && elf_file__is_code(c->elf, c->lib.start, c->lib.offset, address);
	return 0;
}

static bool is_special(const char *path)
{
	return path[0] == '[' && strncmp(path, "[anon", 5) != 0; /* [vdso], [vsyscall] */
}

int copied_text__see(struct copied_text *c, const struct target *t, const struct mapping *m)
{
	bool is_same = c->lib.path && !strcmp(c->lib.path, m->path), is_code = false;
	int err = 0;

	if (m->executable && c->lib.path && !is_same && !is_special(m->path))
		err = is_code_of_lib(c, t, m->start, &is_code);
	if (!err && is_code && !c->is_counted) {
		c->is_counted = true;
		if (!c->cnt++)
			c->path = strdup(c->lib.path);
		err = c->path ? 0 : -ENOMEM;
	}
	if (!is_code && !is_same && m->path[0] == '/')
		begin_lib(c, m);
	return err;
}

void copied_text__close(struct copied_text *c)
{
	elf_file__close(c->elf);
	c->elf = NULL;
}

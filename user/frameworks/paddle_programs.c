// SPDX-License-Identifier: BSD-2-Clause
#include "frameworks/paddle_programs.h"
#include "common/util.h"
#include <string.h>

#define NAME_OF "Instruction4NameB5cxx11Ev"

/* The code of `const std::string &CLASS::Name() const` shows the name's offset: lea offset(%rdi),
 * %rax; ret */
static int64_t name_offset(const uint8_t *code, size_t len)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x87};
	int32_t offset;

	if (!code || len < sizeof(lea) + sizeof(offset) + 1 ||
	    memcmp(code, lea, sizeof(lea)) != 0 || code[sizeof(lea) + sizeof(offset)] != 0xc3)
		return -1;
	memcpy(&offset, code + sizeof(lea), sizeof(offset));
	return offset;
}

/* The `Name()` of each class that has its own, sorted by address. */
struct name_functions {
	struct table_scan *scan;
	unsigned int lib;
	struct {
		uint64_t address, offset;
	} of[PT_MAX_CLASSES];
	size_t cnt;
};

static int add_name_function(const struct elf_symbol *symbol, void *ctx)
{
	struct name_functions *f = ctx;
	const char *end = strstr(symbol->name, NAME_OF);
	const uint8_t *code;
	int64_t offset;
	size_t len;

	if (!end || end[strlen(NAME_OF)] || f->cnt == ARRAY_SIZE(f->of))
		return 0;
	code = elf_file__bytes(f->scan->elfs[f->lib], symbol->vaddr, &len);
	offset = name_offset(code, len);
	if (offset < 0)
		return 0;
	f->of[f->cnt].address = f->scan->libs[f->lib]->base + symbol->vaddr;
	f->of[f->cnt++].offset = (uint64_t)offset;
	return 0;
}

#define VTABLE_OF     "_ZTVN6paddle9framework"
#define INSTRUCTION   "InstructionE"
#define VTABLE_HEAD   2 /* offset-to-top and type_info; the virtual functions follow */
#define VTABLE_LENGTH 64

/* A class may inherit the function. */
static int add_class(const struct elf_symbol *symbol, void *ctx)
{
	const struct name_functions *f = ctx;
	struct pt_class_name *names = f->scan->plan->layout.class_names;
	const uint64_t at = f->scan->libs[f->lib]->base + symbol->vaddr;
	const size_t len = symbol->name_len, tail = strlen(INSTRUCTION);
	uint64_t slots[VTABLE_LENGTH];
	size_t cnt = 0, slot_cnt = symbol->size / sizeof(slots[0]);

	if (len < tail || strcmp(symbol->name + len - tail, INSTRUCTION) != 0 ||
	    slot_cnt > VTABLE_LENGTH ||
	    target__read(f->scan->t, at, slots, slot_cnt * sizeof(slots[0])))
		return 0;
	while (cnt < PT_MAX_CLASSES && names[cnt].vtable)
		cnt++;
	for (size_t i = VTABLE_HEAD; i < slot_cnt && cnt < PT_MAX_CLASSES; i++)
		for (size_t j = 0; j < f->cnt; j++)
			if (slots[i] == f->of[j].address)
				names[cnt] = (struct pt_class_name){
					at + VTABLE_HEAD * sizeof(slots[0]), f->of[j].offset};
	return 0;
}

static int find_class_names(struct table_scan *s, unsigned int lib)
{
	struct name_functions f = {.scan = s, .lib = lib};
	int err = elf_file__for_each_prefixed(s->elfs[lib], "_ZNK6paddle9framework",
					      add_name_function, &f);

	return err || !f.cnt ? err
			     : elf_file__for_each_prefixed(s->elfs[lib], VTABLE_OF, add_class, &f);
}

/* The code of `bool Instruction::OpBaseValid() const` shows the offset of an instruction's
 * operator: cmpq $0, offset(%rdi). */
static int64_t operator_offset(struct table_scan *s, unsigned int lib)
{
	static const uint8_t cmp[] = {0x48, 0x83, 0xbf};
	struct elf_symbol symbol;
	const uint8_t *code;
	int32_t offset;
	size_t len;

	if (elf_file__symbol(s->elfs[lib], "_ZNK6paddle9framework11Instruction11OpBaseValidEv",
			     &symbol))
		return -1;
	code = elf_file__bytes(s->elfs[lib], symbol.vaddr, &len);
	if (!code || len < sizeof(cmp) + sizeof(offset) + 1 ||
	    memcmp(code, cmp, sizeof(cmp)) != 0 || code[sizeof(cmp) + sizeof(offset)])
		return -1;
	memcpy(&offset, code + sizeof(cmp), sizeof(offset));
	return offset;
}

/* Without the offset no name can be read. A call without a name makes no span. */
static int find_old_names(struct table_scan *s, unsigned int lib)
{
	int64_t offset = operator_offset(s, lib);

	for (size_t i = 0; i < s->plan->cnt; i++) {
		struct planned_probe *probe = &s->plan->probes[i];

		if (strcmp(probe->symbol, PADDLE_OLD_INSTRUCTION) != 0)
			continue;
		if (offset < 0 || offset > UINT16_MAX)
			return probe_plan__missing(s->plan,
						   "libpaddle.so: cannot read where instructions "
						   "have their names; not shown: operators of "
						   "programs that run without PIR");
		probe->cfg.name_path[0] = (uint16_t)offset;
	}
	return 0;
}

int paddle_programs__plan(struct table_scan *s, unsigned int lib)
{
	int err = find_old_names(s, lib);

	return err ? err : find_class_names(s, lib);
}

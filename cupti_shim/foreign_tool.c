// SPDX-License-Identifier: BSD-2-Clause
/*
 * A foreign tool that begins to use CUPTI. CUPTI has one subscriber, one clock and one owner of its
 * buffers. A tool that it refuses may do without CUPTI for the life of the process, as
 * torch.profiler before PyTorch 2.15 does. Nobody can set a clock while activities are recorded. So
 * while we record, we intercept a tool's first CUPTI call, stop recording, and let the call
 * proceed. For this we replace words in the libraries' global offset tables. Their code is
 * unchanged.
 */
#include "cupti_shim/segments.h"
#include "cupti_shim/shim.h"
#include "cupti_shim/old_glibc.h"
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS 12 /* pointers to these functions in the libraries that call them */

/* No function has more arguments. */
typedef int (*begin_function)(void *, void *, void *, void *);

static const char *const beginnings[] = {
	"cuptiSubscribe",
	"cuptiSubscribe_v2",
	"cuptiActivityRegisterTimestampCallback",
	"cuptiActivityRegisterCallbacks",
};

/* A slot belongs to one word for the life of the process, because a thread may follow the word at
 * any time. */
static struct slot {
	begin_function *at; /* NULL: the slot was never used */
	begin_function original;
	bool is_set;
	bool read_only; /* except while it is written */
} slots[SLOTS];
static void (*make_way)(void);

static int begin(size_t slot, void *a, void *b, void *c, void *d)
{
	make_way();
	return __atomic_load_n(&slots[slot].original, __ATOMIC_ACQUIRE)(a, b, c, d);
}

#define WAY(n)                                                                                     \
	static int way_##n(void *a, void *b, void *c, void *d)                                     \
	{                                                                                          \
		return begin(n, a, b, c, d);                                                       \
	}
WAY(0)
WAY(1)
WAY(2)
WAY(3)
WAY(4)
WAY(5)
WAY(6)
WAY(7)
WAY(8)
WAY(9)
WAY(10)
WAY(11)

static const begin_function ways[SLOTS] = {way_0, way_1, way_2, way_3, way_4,  way_5,
					   way_6, way_7, way_8, way_9, way_10, way_11};

/* ---- one word ---- */

static void replace(const struct slot *s, begin_function from, begin_function to)
{
	const uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)s->at & ~(bytes - 1));

	if (s->read_only && mprotect(page, bytes, PROT_READ | PROT_WRITE))
		return;
	__atomic_compare_exchange_n(s->at, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	if (s->read_only)
		mprotect(page, bytes, PROT_READ);
}

static void watch(uintptr_t at, bool read_only)
{
	begin_function *const word = (begin_function *)at, found;
	size_t i = 0;

	while (i < SLOTS && slots[i].at && slots[i].at != word)
		i++;
	if (i == SLOTS)
		return;
	slots[i].at = word;
	slots[i].read_only = read_only;
	slots[i].is_set = true;
	/* Before the function's first call, this is the loader's resolver. If the word was not
	 * restored last time, it still leads here. */
	found = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	if (found != ways[i])
		__atomic_store_n(&slots[i].original, found, __ATOMIC_RELEASE);
	replace(&slots[i], slots[i].original, ways[i]);
}

/* ---- the words of a library ---- */

struct object {
	const struct dl_phdr_info *info;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * calls;
	size_t names_bytes, call_cnt;
};

/* The address in the object; NULL: it is not inside. */
static const void *within(const struct dl_phdr_info *info, uintptr_t address, size_t bytes)
{
	return segments__hold(info, PT_LOAD, address, bytes) ? (const void *)address : NULL;
}

/* For an object that the loader has relocated. In others, addresses are those of the file. */
static bool read_object(const struct dl_phdr_info *info, struct object *o)
{
	uintptr_t symbols = 0, names = 0, calls = 0;
	const ElfW(Dyn) *d = NULL;
	size_t calls_bytes = 0;

	*o = (struct object){.info = info};
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = within(info, (uintptr_t)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				   info->dlpi_phdr[i].p_memsz);
	for (; d && d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_SYMTAB)
			symbols = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRTAB)
			names = d->d_un.d_ptr;
		else if (d->d_tag == DT_STRSZ)
			o->names_bytes = d->d_un.d_val;
		else if (d->d_tag == DT_JMPREL)
			calls = d->d_un.d_ptr;
		else if (d->d_tag == DT_PLTRELSZ)
			calls_bytes = d->d_un.d_val;
	}
	o->symbols = within(info, symbols, sizeof(*o->symbols));
	o->names = within(info, names, o->names_bytes);
	o->calls = within(info, calls, calls_bytes);
	o->call_cnt = calls_bytes / sizeof(*o->calls);
	return o->symbols && o->names && o->calls;
}

static bool is_beginning(const struct object *o, const ElfW(Rela) * call)
{
	const ElfW(Sym) *symbol = &o->symbols[ELF64_R_SYM(call->r_info)];
	const char *name;

	if (ELF64_R_TYPE(call->r_info) != R_X86_64_JUMP_SLOT ||
	    !within(o->info, (uintptr_t)symbol, sizeof(*symbol)) ||
	    symbol->st_name >= o->names_bytes)
		return false;
	name = o->names + symbol->st_name;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (!strcmp(name, beginnings[i]))
			return true;
	return false;
}

static int watch_object(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	struct object o;

	(void)bytes, (void)ctx;
	if (within(info, (uintptr_t)watch_object, 1) || !read_object(info, &o))
		return 0;
	for (size_t i = 0; i < o.call_cnt; i++) {
		const uintptr_t at = (uintptr_t)(info->dlpi_addr + o.calls[i].r_offset);

		if (is_beginning(&o, &o.calls[i]) && within(info, at, sizeof(void *)))
			watch(at, segments__hold(info, PT_GNU_RELRO, at, 1));
	}
	return 0;
}

/* ---- all of them ---- */

void foreign_tool__watch(void (*before)(void))
{
	make_way = before;
	dl_iterate_phdr(watch_object, NULL);
}

void foreign_tool__unwatch(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		if (slots[i].is_set)
			replace(&slots[i], ways[i], slots[i].original);
		slots[i].is_set = false;
	}
}

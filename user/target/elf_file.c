// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses the file in a private mapping. libelf converts each symbol by a function call. For half a
 * million symbols that costs more than the rest of an attach. Formats: System V gABI, chapters 4
 * and 5. Every offset and count is checked against the file's size before use.
 */
#include "target/elf_file.h"
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "common/err.h"
#include "common/message_table.h"
#include "target/message_table.h"
#include "common/mapped.h"
#include "common/regular_file.h"
#include "common/util.h"
#include "target/symbol_ranges.h"

/* Maps a name's hash to symbol index + 1. The first of equal names counts. */
struct name_index {
	uint32_t *slots; /* symbol index + 1, 0: free */
	uint32_t *hashes;
	size_t mask;
};

struct symbol_table {
	const Elf64_Sym *syms;
	size_t cnt;
	char *strings; /* NUL-terminated at strings_len - 1 */
	size_t strings_len;
	struct name_index index;
	unsigned int searched; /* number of searches without the index */
};

enum { TABLE_DYNSYM, TABLE_SYMTAB, TABLE_CNT };

struct elf_file {
	struct mapped *map;
	uint8_t *data;
	size_t size;
	/* Copies, because checked offsets must not change afterwards. */
	Elf64_Phdr *phdrs;
	size_t phdr_cnt;
	Elf64_Shdr *shdrs;
	size_t shdr_cnt;
	const char *section_names;
	size_t section_names_len;
	struct symbol_table tables[TABLE_CNT];
	struct symbol_range *ranges; /* by vaddr, built on first use */
	size_t range_cnt;
	bool ranges_built;
	char build_id[129];
};

/* Bytes of a name; a longer name is cut. */
#define NAME_LEN_MAX 32768
/* Longest run of slots that is searched. Only a crafted file has longer ones. */
#define MAX_PROBE_LEN 4096
/* Names that are searched one by one before an index is made. For half a million symbols the index
 * costs as much as about twenty searches. */
#define MAX_SEARCHES  8
#define FETCHED_AHEAD 16 /* names to prefetch */

static bool in_file(const struct elf_file *f, uint64_t offset, uint64_t len)
{
	return offset <= f->size && len <= f->size - offset;
}

static void *copy_of(const struct elf_file *f, uint64_t offset, size_t size)
{
	void *copy = calloc(1, size ? size : 1);

	return copy ? memcpy(copy, f->data + offset, size) : NULL;
}

/* Copies the table of segments or sections. *cnt stays 0 if it lies outside of the file. */
static int copy_table(const struct elf_file *f, uint64_t offset, size_t size, size_t cnt,
		      void **table, size_t *table_cnt)
{
	if (!cnt || offset % 8 || !in_file(f, offset, (uint64_t)cnt * size))
		return 0;
	*table = copy_of(f, offset, cnt * size);
	*table_cnt = *table ? cnt : 0;
	return *table ? 0 : -ENOMEM;
}

static int parse_tables(struct elf_file *f, const Elf64_Ehdr *eh)
{
	int err = 0;

	if (eh->e_phentsize == sizeof(Elf64_Phdr))
		err = copy_table(f, eh->e_phoff, sizeof(Elf64_Phdr), eh->e_phnum,
				 (void **)&f->phdrs, &f->phdr_cnt);
	if (!err && eh->e_shentsize == sizeof(Elf64_Shdr))
		err = copy_table(f, eh->e_shoff, sizeof(Elf64_Shdr), eh->e_shnum,
				 (void **)&f->shdrs, &f->shdr_cnt);
	return err;
}

static int parse_header(struct elf_file *f, const char *path)
{
	Elf64_Ehdr copy = {0};
	const Elf64_Ehdr *eh = &copy;

	memcpy(&copy, f->data, f->size < sizeof(copy) ? f->size : sizeof(copy));
	if (f->size < EI_NIDENT || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0)
		return err__set(-ENOEXEC, MESSAGE_ELF_INVALID, path);
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    f->size < sizeof(*eh) || eh->e_machine != EM_X86_64)
		return err__set(-EPROTONOSUPPORT, MESSAGE_ELF_OF_OTHER_MACHINE, path);
	if (parse_tables(f, eh))
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, path);
	if (eh->e_shstrndx < f->shdr_cnt) {
		const Elf64_Shdr *names = &f->shdrs[eh->e_shstrndx];

		if (names->sh_type == SHT_STRTAB && in_file(f, names->sh_offset, names->sh_size)) {
			f->section_names = (const char *)f->data + names->sh_offset;
			f->section_names_len = names->sh_size;
		}
	}
	return 0;
}

static void parse_symbols(struct elf_file *f, uint32_t type, struct symbol_table *t)
{
	for (size_t i = 0; i < f->shdr_cnt; i++) {
		const Elf64_Shdr *sh = &f->shdrs[i], *str;
		const char *last_nul;

		if (sh->sh_type != type || sh->sh_entsize != sizeof(Elf64_Sym) ||
		    sh->sh_offset % 8 || !in_file(f, sh->sh_offset, sh->sh_size) ||
		    sh->sh_link >= f->shdr_cnt)
			continue;
		str = &f->shdrs[sh->sh_link];
		if (str->sh_type != SHT_STRTAB || !str->sh_size ||
		    !in_file(f, str->sh_offset, str->sh_size))
			continue;
		t->strings = (char *)f->data + str->sh_offset;
		last_nul = memrchr(t->strings, '\0', str->sh_size);
		if (!last_nul)
			continue;
		t->strings_len = (size_t)(last_nul - t->strings) + 1;
		t->syms = (const Elf64_Sym *)(f->data + sh->sh_offset);
		t->cnt = sh->sh_size / sizeof(Elf64_Sym);
		if (t->cnt > UINT32_MAX - 1)
			t->cnt = UINT32_MAX - 1;
		return;
	}
}

static void hex(const uint8_t *bytes, size_t len, char *out, size_t out_size)
{
	static const char digits[] = "0123456789abcdef";

	if (len > (out_size - 1) / 2)
		len = (out_size - 1) / 2;
	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * len] = '\0';
}

/* Looks for NT_GNU_BUILD_ID in one PT_NOTE segment. */
static bool parse_notes(struct elf_file *f, const Elf64_Phdr *ph)
{
	const uint8_t *p = f->data + ph->p_offset;
	size_t left = ph->p_filesz;

	while (left >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr note = *(const Elf64_Nhdr *)p; /* a copy, because its owner may
								   change the file */
		uint64_t name_bytes = ((uint64_t)note.n_namesz + 3) & ~3ull;
		uint64_t desc_len = ((uint64_t)note.n_descsz + 3) & ~3ull;
		uint64_t len = sizeof(note) + name_bytes + desc_len;

		if (len > left)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(p + sizeof(note), "GNU", 4) == 0) {
			hex(p + sizeof(note) + name_bytes, note.n_descsz, f->build_id,
			    sizeof(f->build_id));
			return true;
		}
		p += len;
		left -= len;
	}
	return false;
}

static void parse_build_id(struct elf_file *f)
{
	for (size_t i = 0; i < f->phdr_cnt; i++) {
		const Elf64_Phdr *ph = &f->phdrs[i];

		if (ph->p_type == PT_NOTE && ph->p_offset % 4 == 0 &&
		    in_file(f, ph->p_offset, ph->p_filesz) && parse_notes(f, ph))
			return;
	}
}

int elf_file__open(const char *path, struct elf_file **out)
{
	auto_close int fd = regular_file__open(path);
	struct elf_file *f;
	struct stat st;
	int err;

	err = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
	if (err && err != -EINVAL)
		return err__set(err, MESSAGE_ELF_NOT_OPENED, path, strerror(-err));
	if (err || st.st_size < EI_NIDENT)
		return err__set(-ENOEXEC, MESSAGE_ELF_INVALID, path);
	f = calloc(1, sizeof(*f));
	if (!f)
		return err__set(-ENOMEM, MESSAGE_OUT_OF_MEMORY_FOR, path);
	f->size = (size_t)st.st_size;
	/* The mapping is writable: symbol versions ("@@VER") are cut off in our copy. */
	err = mapped__open(fd, f->size, &f->map);
	if (err) {
		free(f);
		return err__set(err, MESSAGE_ELF_NOT_MAPPED, path, strerror(-err));
	}
	f->data = mapped__data(f->map);
	err = parse_header(f, path);
	if (err) {
		elf_file__close(f);
		return err;
	}
	parse_symbols(f, SHT_DYNSYM, &f->tables[TABLE_DYNSYM]);
	parse_symbols(f, SHT_SYMTAB, &f->tables[TABLE_SYMTAB]);
	parse_build_id(f);
	if (elf_file__is_torn(f)) {
		elf_file__close(f);
		return err__set(-ESTALE, MESSAGE_ELF_CUT_OFF, path);
	}
	*out = f;
	return 0;
}

bool elf_file__is_torn(const struct elf_file *f)
{
	return mapped__is_torn(f->map);
}

static void free_ranges(struct elf_file *f)
{
	free(f->ranges);
	f->ranges = NULL;
	f->range_cnt = 0;
	f->ranges_built = false;
}

static void free_indexes(struct elf_file *f)
{
	for (int i = 0; i < TABLE_CNT; i++) {
		struct name_index *ix = &f->tables[i].index;

		free(ix->slots);
		free(ix->hashes);
		memset(ix, 0, sizeof(*ix));
	}
	free_ranges(f);
}

void elf_file__drop(struct elf_file *f)
{
	free_indexes(f);
	mapped__drop(f->map);
}

void elf_file__close(struct elf_file *f)
{
	if (!f)
		return;
	free_indexes(f);
	free(f->phdrs);
	free(f->shdrs);
	mapped__close(f->map);
	free(f);
}

/* The name of a defined function or object; otherwise NULL. */
static char *symbol_name(const struct symbol_table *t, const Elf64_Sym *sym)
{
	unsigned int type = ELF64_ST_TYPE(sym->st_info);

	if (type != STT_FUNC && type != STT_OBJECT && type != STT_GNU_IFUNC)
		return NULL;
	if (sym->st_shndx == SHN_UNDEF || sym->st_name == 0 || sym->st_name >= t->strings_len)
		return NULL;
	return t->strings + sym->st_name;
}

/* Length up to the NUL or the version. */
static size_t name_len(const char *name)
{
	const size_t len = strnlen(name, NAME_LEN_MAX);
	const char *version = memchr(name, '@', len);

	return version ? (size_t)(version - name) : len;
}

/* Cuts the name in our copy. Many symbols may share the end of a long name. */
static void fill_symbol(struct elf_symbol *out, char *name, const Elf64_Sym *sym)
{
	const size_t len = name[0] == '@' ? strnlen(name, NAME_LEN_MAX) : name_len(name);

	if (name[len])
		name[len] = '\0';
	out->name = name;
	out->name_len = len;
	out->vaddr = sym->st_value;
	out->size = sym->st_size;
	out->is_function = ELF64_ST_TYPE(sym->st_info) != STT_OBJECT;
}

/* Multiplies and folds 8 bytes at a time. */
static uint32_t hash_name(const char *name)
{
	size_t len = name_len(name);
	uint64_t h = len * 0x9e3779b97f4a7c15ull;

	for (; len >= 8; len -= 8, name += 8) {
		uint64_t word;

		memcpy(&word, name, 8);
		h = (h ^ word) * 0xff51afd7ed558ccdull;
		h ^= h >> 32;
	}
	for (; len; len--, name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3ull;
	return (uint32_t)(h ^ (h >> 29));
}

/* len: length of b up to the NUL or the version. */
static bool is_name(const char *a, const char *b, size_t len)
{
	return strncmp(a, b, len) == 0 && (a[len] == '\0' || a[len] == '@' || len == NAME_LEN_MAX);
}

/* The slot with the name, or the free slot where it belongs. SIZE_MAX if neither is near. */
static size_t index_slot(const struct symbol_table *t, const char *name, uint32_t hash)
{
	const struct name_index *ix = &t->index;
	size_t slot = hash & ix->mask, len = name_len(name);

	for (size_t i = 0; i < MAX_PROBE_LEN; i++, slot = (slot + 1) & ix->mask) {
		uint32_t idx = ix->slots[slot];

		if (!idx)
			return slot;
		if (ix->hashes[slot] == hash &&
		    is_name(t->strings + t->syms[idx - 1].st_name, name, len))
			return slot;
	}
	return SIZE_MAX;
}

/* Names are not in the symbols' order, so most accesses are cache misses. */
static void fetch_ahead(const struct symbol_table *t, size_t i)
{
	if (i + FETCHED_AHEAD < t->cnt)
		__builtin_prefetch(t->strings + t->syms[i + FETCHED_AHEAD].st_name);
}

static int build_name_index(struct symbol_table *t)
{
	struct name_index *ix = &t->index;
	size_t cap = 64;

	if (ix->slots || !t->cnt)
		return 0;
	while (cap < t->cnt * 2)
		cap *= 2;
	ix->slots = calloc(cap, sizeof(*ix->slots));
	ix->hashes = malloc(cap * sizeof(*ix->hashes));
	if (!ix->slots || !ix->hashes) {
		free(ix->slots);
		free(ix->hashes);
		memset(ix, 0, sizeof(*ix));
		return -ENOMEM;
	}
	ix->mask = cap - 1;
	for (size_t i = 0; i < t->cnt; i++) {
		const char *name = symbol_name(t, &t->syms[i]);
		uint32_t hash;
		size_t slot;

		fetch_ahead(t, i);
		if (!name)
			continue;
		hash = hash_name(name);
		slot = index_slot(t, name, hash);
		if (slot != SIZE_MAX && !ix->slots[slot]) {
			ix->slots[slot] = (uint32_t)i + 1;
			ix->hashes[slot] = hash;
		}
	}
	return 0;
}

static const Elf64_Sym *find_by_name(const struct symbol_table *t, const char *name)
{
	size_t slot;

	if (!t->index.slots)
		return NULL;
	slot = index_slot(t, name, hash_name(name));
	if (slot == SIZE_MAX || !t->index.slots[slot])
		return NULL;
	return &t->syms[t->index.slots[slot] - 1];
}

/* Only global names can also be in .dynsym. That table has all versions of a name, or none. */
static bool is_repeated(const struct elf_file *f, const Elf64_Sym *sym, const char *name)
{
	unsigned int visibility = ELF64_ST_VISIBILITY(sym->st_other);

	if (ELF64_ST_BIND(sym->st_info) == STB_LOCAL || visibility == STV_HIDDEN ||
	    visibility == STV_INTERNAL)
		return false;
	return find_by_name(&f->tables[TABLE_DYNSYM], name) != NULL;
}

int elf_file__for_each_wanted(struct elf_file *f,
			      bool (*wanted)(const char *name, size_t max, void *ctx),
			      int (*cb)(const struct elf_symbol *s, void *ctx), void *ctx)
{
	int err = f->tables[TABLE_SYMTAB].cnt ? build_name_index(&f->tables[TABLE_DYNSYM]) : 0;

	for (int i = 0; i < TABLE_CNT && !err; i++) {
		const struct symbol_table *t = &f->tables[i];

		for (size_t j = 0; j < t->cnt && !err; j++) {
			char *name = symbol_name(t, &t->syms[j]);
			struct elf_symbol s;

			fetch_ahead(t, j);
			if (!name ||
			    !wanted(name, (size_t)(t->strings + t->strings_len - name), ctx) ||
			    (i == TABLE_SYMTAB && is_repeated(f, &t->syms[j], name)))
				continue;
			fill_symbol(&s, name, &t->syms[j]);
			err = cb(&s, ctx);
		}
	}
	return err;
}

struct prefixed {
	const char *prefix;
	size_t len;
	int (*cb)(const struct elf_symbol *s, void *ctx);
	void *ctx;
};

static bool is_prefixed(const char *name, size_t max, void *ctx)
{
	const struct prefixed *p = ctx;

	return !strncmp(name, p->prefix, p->len);
}

static int give_prefixed(const struct elf_symbol *s, void *ctx)
{
	const struct prefixed *p = ctx;

	return p->cb(s, p->ctx);
}

int elf_file__for_each_prefixed(struct elf_file *f, const char *prefix,
				int (*cb)(const struct elf_symbol *s, void *ctx), void *ctx)
{
	struct prefixed p = {prefix, strlen(prefix), cb, ctx};

	return elf_file__for_each_wanted(f, is_prefixed, give_prefixed, &p);
}

int elf_file__for_each_symbol(struct elf_file *f, int (*cb)(const struct elf_symbol *s, void *ctx),
			      void *ctx)
{
	return elf_file__for_each_prefixed(f, "", cb, ctx);
}

static const Elf64_Sym *search_name(const struct symbol_table *t, const char *name)
{
	const size_t len = name_len(name);

	for (size_t i = 0; i < t->cnt; i++) {
		const char *other = symbol_name(t, &t->syms[i]);

		fetch_ahead(t, i);
		if (other && is_name(other, name, len))
			return &t->syms[i];
	}
	return NULL;
}

int elf_file__symbol(struct elf_file *f, const char *name, struct elf_symbol *out)
{
	for (int i = 0; i < TABLE_CNT; i++) {
		struct symbol_table *t = &f->tables[i];
		const bool is_searched = !t->index.slots && t->searched++ < MAX_SEARCHES;
		const Elf64_Sym *sym;
		int err = is_searched ? 0 : build_name_index(t);

		if (err)
			return err;
		sym = is_searched ? search_name(t, name) : find_by_name(t, name);
		if (sym) {
			fill_symbol(out, t->strings + sym->st_name, sym);
			return 0;
		}
	}
	return -ENOENT;
}

static int build_ranges(struct elf_file *f)
{
	size_t cap = f->tables[TABLE_DYNSYM].cnt + f->tables[TABLE_SYMTAB].cnt;
	int err;

	if (f->ranges_built)
		return 0;
	f->ranges = malloc((cap ? cap : 1) * sizeof(*f->ranges));
	if (!f->ranges)
		return -ENOMEM;
	/* .dynsym comes last: the search goes downwards and should find it first */
	for (uint32_t i = TABLE_CNT; i-- > 0;) {
		const struct symbol_table *t = &f->tables[i];

		for (size_t j = 0; j < t->cnt; j++) {
			if (symbol_name(t, &t->syms[j]))
				f->ranges[f->range_cnt++] =
					(struct symbol_range){t->syms[j].st_value, i, (uint32_t)j};
		}
	}
	err = symbol_ranges__sort(f->ranges, f->range_cnt);
	f->ranges_built = !err;
	if (err)
		free_ranges(f);
	return err;
}

int elf_file__symbol_at(struct elf_file *f, uint64_t vaddr, struct elf_symbol *out)
{
	/* Symbols nest only a little (aliases, cold parts). */
	enum { MAX_NESTED = 64 };
	int err = build_ranges(f);
	size_t before;

	if (err)
		return err;
	before = COUNT_FIRST(f->range_cnt, mid, f->ranges[mid].vaddr <= vaddr);
	for (size_t i = 0; i < MAX_NESTED && before > 0; i++) {
		const struct symbol_range *r = &f->ranges[--before];
		const struct symbol_table *t = &f->tables[r->table];
		const Elf64_Sym *sym = &t->syms[r->idx];

		if (vaddr - r->vaddr < sym->st_size || vaddr == r->vaddr) {
			fill_symbol(out, t->strings + sym->st_name, sym);
			return 0;
		}
	}
	return -ENOENT;
}

/* The loaded segment whose part in the file contains vaddr. */
static const Elf64_Phdr *segment_at(const struct elf_file *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->phdr_cnt; i++) {
		const Elf64_Phdr *ph = &f->phdrs[i];

		if (ph->p_type == PT_LOAD && vaddr >= ph->p_vaddr &&
		    vaddr - ph->p_vaddr < ph->p_filesz && in_file(f, ph->p_offset, ph->p_filesz))
			return ph;
	}
	return NULL;
}

int elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset)
{
	const Elf64_Phdr *ph = segment_at(f, vaddr);

	if (!ph)
		return -ENOENT;
	*offset = vaddr - ph->p_vaddr + ph->p_offset;
	return 0;
}

static int bias_by(const struct elf_file *f, uint32_t flags, uint64_t start, uint64_t offset,
		   uint64_t *bias)
{
	for (size_t i = 0; i < f->phdr_cnt; i++) {
		const Elf64_Phdr *ph = &f->phdrs[i];
		uint64_t page_off = ph->p_offset & ~4095ull;

		/* The kernel maps whole pages, so the mapping may begin before the segment. */
		if (ph->p_type == PT_LOAD && (ph->p_flags & flags) == flags && offset >= page_off &&
		    offset - page_off < ph->p_filesz + (ph->p_offset - page_off)) {
			*bias = start - (ph->p_vaddr - ph->p_offset + offset);
			return 0;
		}
	}
	return -ENOENT;
}

int elf_file__bias(const struct elf_file *f, uint64_t start, uint64_t offset, uint64_t *bias)
{
	return bias_by(f, PF_X, start, offset, bias);
}

bool elf_file__is_code(const struct elf_file *f, uint64_t start, uint64_t offset, uint64_t address)
{
	uint64_t bias;

	if (bias_by(f, 0, start, offset, &bias))
		return false;
	for (size_t i = 0; i < f->phdr_cnt; i++) {
		const Elf64_Phdr *ph = &f->phdrs[i];
		uint64_t begin = bias + (ph->p_vaddr & ~4095ull);

		if (ph->p_type == PT_LOAD && (ph->p_flags & PF_X) && address >= begin &&
		    address < bias + ph->p_vaddr + ph->p_filesz)
			return true;
	}
	return false;
}

const uint8_t *elf_file__bytes(const struct elf_file *f, uint64_t vaddr, size_t *len)
{
	const Elf64_Phdr *ph = segment_at(f, vaddr);

	if (!ph)
		return NULL;
	*len = ph->p_filesz - (vaddr - ph->p_vaddr);
	return f->data + ph->p_offset + (vaddr - ph->p_vaddr);
}

const uint8_t *elf_file__section(const struct elf_file *f, const char *name, uint64_t *vaddr,
				 size_t *len)
{
	size_t name_size = strlen(name) + 1;

	for (size_t i = 0; i < f->shdr_cnt; i++) {
		const Elf64_Shdr *sh = &f->shdrs[i];

		if (sh->sh_type == SHT_NOBITS || sh->sh_name >= f->section_names_len ||
		    name_size > f->section_names_len - sh->sh_name ||
		    memcmp(f->section_names + sh->sh_name, name, name_size) != 0 ||
		    !in_file(f, sh->sh_offset, sh->sh_size))
			continue;
		if (vaddr)
			*vaddr = sh->sh_addr;
		*len = sh->sh_size;
		return f->data + sh->sh_offset;
	}
	return NULL;
}

struct elf_section elf_file__whole_section(const struct elf_file *f, const char *name)
{
	struct elf_section s = {0};

	s.bytes = elf_file__section(f, name, &s.vaddr, &s.len);
	return s;
}

const char *elf_file__build_id(const struct elf_file *f)
{
	return f->build_id;
}

bool elf_file__has_local_symbols(const struct elf_file *f)
{
	return f->tables[TABLE_SYMTAB].cnt > 0;
}

bool elf_file__is_static(const struct elf_file *f)
{
	for (size_t i = 0; i < f->phdr_cnt; i++) {
		if (f->phdrs[i].p_type == PT_INTERP || f->phdrs[i].p_type == PT_DYNAMIC)
			return false;
	}
	return true;
}

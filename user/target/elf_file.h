/* SPDX-License-Identifier: BSD-2-Clause */
/* A mapped ELF file: symbols of .dynsym and .symtab, bytes by virtual address, build id. */
#ifndef PROFTRACE_ELF_FILE_H
#define PROFTRACE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;

struct elf_symbol {
	const char *name; /* mangled, without version; valid while the file is open */
	size_t name_len;
	uint64_t vaddr;
	uint64_t size;
	bool is_function; /* STT_FUNC or IFUNC, else an object */
};

/* 0 or a negative errno with err__set; -ENOEXEC: not an ELF; -EPROTONOSUPPORT: not 64-bit x86-64.
 */
int elf_file__open(const char *path, struct elf_file **out);
/* Did its owner truncate it while it was read? Then bytes read since are zeros. */
bool elf_file__is_torn(const struct elf_file *f);
void elf_file__close(struct elf_file *f);
/* Gives memory back; later calls read the file again. Symbol names that the caller holds then have
 * their version again. */
void elf_file__drop(struct elf_file *f);

/* Calls cb for every defined symbol: first those of .dynsym, then those that only .symtab has.
 * Stops at the first non-zero result of cb and returns it. There may be half a million symbols, so
 * cb must be cheap. */
int elf_file__for_each_symbol(struct elf_file *f, int (*cb)(const struct elf_symbol *s, void *ctx),
			      void *ctx);

/* The same for symbols whose names begin in a wanted way; other symbols cost less. `wanted` may
 * read up to `max` bytes of a name, which still has its version. */
int elf_file__for_each_wanted(struct elf_file *f,
			      bool (*wanted)(const char *name, size_t max, void *ctx),
			      int (*cb)(const struct elf_symbol *s, void *ctx), void *ctx);
int elf_file__for_each_prefixed(struct elf_file *f, const char *prefix,
				int (*cb)(const struct elf_symbol *s, void *ctx), void *ctx);

/* Finds a symbol by its exact name; -ENOENT. */
int elf_file__symbol(struct elf_file *f, const char *name, struct elf_symbol *out);

/* Finds the symbol that covers a virtual address; -ENOENT. Objects such as vtables count. */
int elf_file__symbol_at(struct elf_file *f, uint64_t vaddr, struct elf_symbol *out);

/* File offset of a virtual address, for a uprobe. -ENOENT if no segment contains it. */
int elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset);

/* Load bias (runtime address of virtual address 0) from one executable mapping of the file: its
 * start and its file offset. -ENOENT if no executable segment fits. */
int elf_file__bias(const struct elf_file *f, uint64_t start, uint64_t offset, uint64_t *bias);

/* Is a runtime address in an executable segment, if some mapping of the file begins at `start` with
 * this file offset? */
bool elf_file__is_code(const struct elf_file *f, uint64_t start, uint64_t offset, uint64_t address);

/* The bytes from vaddr to the end of its segment's part in the file (*len). NULL if there are
 * none. */
const uint8_t *elf_file__bytes(const struct elf_file *f, uint64_t vaddr, size_t *len);

/* A section's bytes and address; NULL if there is none. */
const uint8_t *elf_file__section(const struct elf_file *f, const char *name, uint64_t *vaddr,
				 size_t *len);

struct elf_section {
	const uint8_t *bytes; /* NULL: there is none, and len is 0 */
	uint64_t vaddr;
	size_t len;
};
struct elf_section elf_file__whole_section(const struct elf_file *f, const char *name);

/* The address of the file's stub for a function that may be in another file. 0 if there is none.
 * x86-64, without stubs for control-flow protection. (elf_stub.c) */
uint64_t elf_file__stub(const struct elf_file *f, const char *symbol);

/* Lower-case hex, empty string if there is none. */
const char *elf_file__build_id(const struct elf_file *f);
bool elf_file__has_local_symbols(const struct elf_file *f); /* it has a .symtab */
bool elf_file__is_static(const struct elf_file *f); /* it has no PT_INTERP and no PT_DYNAMIC */

#endif

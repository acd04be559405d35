/* SPDX-License-Identifier: BSD-2-Clause */
/* An ELF file, mapped: symbols of .dynsym and .symtab, bytes by virtual address, build id. */
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
/* Its owner cut it off while it was read: what was read since is zeros. */
bool elf_file__is_torn(const struct elf_file *f);
void elf_file__close(struct elf_file *f);
/* Gives its memory back; later calls read the file again. Symbol names that the caller holds end with their
 * version again. */
void elf_file__drop(struct elf_file *f);

/* Every defined symbol, .dynsym first, then those that only .symtab has. Stops at the first
 * non-zero return of cb and returns it. Half a million symbols: cb must be cheap. */
int elf_file__for_each_symbol(struct elf_file *f, int (*cb)(const struct elf_symbol *s, void *ctx),
			      void *ctx);

/* The same of symbols that are wanted by how their names begin: the others cost less. Up to `max` bytes
 * may be read from a name, which still has its version. */
int elf_file__for_each_wanted(struct elf_file *f,
			      bool (*wanted)(const char *name, size_t max, void *ctx),
			      int (*cb)(const struct elf_symbol *s, void *ctx), void *ctx);
int elf_file__for_each_prefixed(struct elf_file *f, const char *prefix,
				int (*cb)(const struct elf_symbol *s, void *ctx), void *ctx);

/* Looks one symbol up by exact name; -ENOENT. */
int elf_file__symbol(struct elf_file *f, const char *name, struct elf_symbol *out);

/* The symbol that covers a virtual address; -ENOENT. (vtables: objects count.) */
int elf_file__symbol_at(struct elf_file *f, uint64_t vaddr, struct elf_symbol *out);

/* File offset of a virtual address (what a uprobe takes); -ENOENT if no segment holds it. */
int elf_file__offset(const struct elf_file *f, uint64_t vaddr, uint64_t *offset);

/* Load bias (runtime address of virtual address 0) from one executable mapping of the file: its
 * start and its file offset. -ENOENT if no executable segment fits. */
int elf_file__bias(const struct elf_file *f, uint64_t start, uint64_t offset, uint64_t *bias);

/* Is a runtime address in an executable segment, if a mapping of the file (of any kind) starts at
 * `start`, at this file offset? */
bool elf_file__is_code(const struct elf_file *f, uint64_t start, uint64_t offset, uint64_t address);

/* Bytes from vaddr to the end of its segment's file part (*len); NULL if none. */
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

/* Where the file's stub for a function is, by which it calls one that another file may have; 0 if it
 * has none. x86-64, without the stubs of control-flow protection. (elf_stub.c) */
uint64_t elf_file__stub(const struct elf_file *f, const char *symbol);

/* Lower-case hex, empty string if there is none. */
const char *elf_file__build_id(const struct elf_file *f);
bool elf_file__has_local_symbols(const struct elf_file *f); /* a .symtab */
bool elf_file__is_static(const struct elf_file *f); /* no PT_INTERP, no PT_DYNAMIC */

#endif

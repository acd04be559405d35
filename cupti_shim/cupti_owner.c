// SPDX-License-Identifier: BSD-2-Clause
/*
 * Whether another tool has given CUPTI the functions for its buffers. One that records activities
 * needs no subscription (torch.profiler since PyTorch 2.15 has none), so ours is not refused, but
 * the other would lose its records. CUPTI does not tell: flushing succeeds before anybody has
 * registered (seen of 13.0), whatever its documentation says. But it keeps the two functions side
 * by side in its data. We look for two adjacent words that lead into one library. That library must
 * contain the name of the CUPTI function that registers them: it calls the function, or asks the
 * loader for it. Paddle's library has its names and code in one segment of 460 MB, and a search
 * would read the whole file. In such a library we search only the dynamic symbols: the name is part
 * of the template that asks the loader.
 */
#include "cupti_shim/old_glibc.h"
#include "cupti_shim/segments.h"
#include "cupti_shim/shim.h"
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANGES	 2048
#define BLOCKS	 8
#define CODE_MAX (64u << 20)

struct range {
	uintptr_t begin, end;
};

static struct {
	uintptr_t inside;	   /* in CUPTI */
	struct range code[RANGES]; /* in other libraries */
	size_t code_cnt;
	struct range data[BLOCKS]; /* of CUPTI */
	size_t data_cnt;
} map;

/* ---- the process's libraries ---- */

static void add(struct range *ranges, size_t *cnt, size_t max, const struct dl_phdr_info *info,
		const ElfW(Phdr) * p)
{
	const uintptr_t begin = (uintptr_t)(info->dlpi_addr + p->p_vaddr);

	if (*cnt < max)
		ranges[(*cnt)++] = (struct range){begin, begin + p->p_memsz};
}

static bool has_name(const char *path, const char *beginning)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return path && !strncmp(slash ? slash + 1 : path, beginning, strlen(beginning));
}

/* CUPTI also keeps functions of the driver, which is no tool, and perhaps of our library. */
static int add_object(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	const bool is_cupti = segments__hold(info, PT_LOAD, map.inside, 1);
	const bool is_other = !is_cupti && !has_name(info->dlpi_name, "libcuda.so") &&
			      !segments__hold(info, PT_LOAD, (uintptr_t)add_object, 1);

	(void)bytes, (void)ctx;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if (is_cupti && p->p_flags & PF_W)
			add(map.data, &map.data_cnt, BLOCKS, info, p);
		if (is_other && p->p_flags & PF_X)
			add(map.code, &map.code_cnt, RANGES, info, p);
	}
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_place(const void *key, const void *range)
{
	const uintptr_t address = *(const uintptr_t *)key;
	const struct range *r = range;

	return address < r->begin ? -1 : address >= r->end;
}

static const struct range *code_at(uintptr_t word)
{
	if (!map.code_cnt || word < map.code[0].begin)
		return NULL;
	return bsearch(&word, map.code, map.code_cnt, sizeof(*map.code), by_place);
}

/* ---- who they are ---- */

struct question {
	const struct range *code;
	bool knows;
	char path[PATH_MAX]; /* of the library */
};

static const char function_name[] = "cuptiActivityRegisterCallbacks";

/* Some linkers put names and code in one segment, so names may be beside code. */
static bool holds(const struct dl_phdr_info *info, const ElfW(Phdr) * p)
{
	return p->p_type == PT_LOAD && p->p_flags & PF_R &&
	       (!(p->p_flags & PF_X) || p->p_filesz < CODE_MAX) &&
	       memmem((const void *)(info->dlpi_addr + p->p_vaddr), p->p_filesz, function_name,
		      sizeof(function_name));
}

/* The loader has relocated the address if its place is writable. */
static const char *strings_at(const struct dl_phdr_info *info, uintptr_t address)
{
	return (const char *)(segments__hold(info, PT_LOAD, address, 1)
				      ? address
				      : info->dlpi_addr + address);
}

static bool has_symbol(const struct dl_phdr_info *info, const ElfW(Phdr) * p)
{
	const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + p->p_vaddr);
	const char *strings = NULL;
	size_t bytes = 0;

	if (p->p_type != PT_DYNAMIC)
		return false;
	for (; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_STRTAB)
			strings = strings_at(info, (uintptr_t)entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRSZ)
			bytes = entry->d_un.d_val;
	return strings && segments__hold(info, PT_LOAD, (uintptr_t)strings, bytes) &&
	       memmem(strings, bytes, function_name, sizeof(function_name) - 1);
}

static int ask_object(struct dl_phdr_info *info, size_t bytes, void *ctx)
{
	struct question *q = ctx;

	(void)bytes;
	if (!segments__hold(info, PT_LOAD, q->code->begin, 1))
		return 0;
	snprintf(q->path, sizeof(q->path), "%s", info->dlpi_name);
	for (size_t i = 0; i < info->dlpi_phnum && !q->knows; i++)
		q->knows =
			holds(info, &info->dlpi_phdr[i]) || has_symbol(info, &info->dlpi_phdr[i]);
	return 1;
}

/*
 * Paddle's profilers never remove their functions, but set them again each time they begin. So they
 * only lose records while they run. The state of paddle.profiler's tracer follows its virtual table
 * (2.6.2, paddle/fluid/platform/profiler/tracer_base.h). The profiler before 2.3
 * (phi::DeviceTracer) has a subscription while it runs, which would have refused ours.
 */
static bool is_idle_paddle(const char *path)
{
	enum { UNINITED, READY, STARTED, STOPPED };
	static const char tracer[] = "_ZZN6paddle8platform10CudaTracer11GetInstanceEvE8instance";
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	const char *at = library ? dlsym(library, tracer) : NULL;
	int state = STARTED;

	if (at)
		memcpy(&state, at + sizeof(void *), sizeof(state));
	else if (library && dlsym(library, "_ZN3phi15GetDeviceTracerEv"))
		state = STOPPED;
	if (library)
		dlclose(library);
	return state == UNINITED || state == STOPPED;
}

static bool is_tools(const struct range *code)
{
	struct question q = {.code = code};

	dl_iterate_phdr(ask_object, &q);
	return q.knows && !is_idle_paddle(q.path);
}

/* ---- CUPTI's data ---- */

/* Do two adjacent words of the data point into one library, and is that a tool? */
static bool leads_to_tool(const struct range *data)
{
	const uintptr_t *at = (const uintptr_t *)((data->begin + 7) & ~7ul);
	const struct range *asked = NULL;

	for (; (uintptr_t)(at + 2) <= data->end; at++) {
		const struct range *code = code_at(at[0]);

		if (!code || code == asked || code != code_at(at[1]))
			continue;
		if (is_tools(code))
			return true;
		asked = code;
	}
	return false;
}

bool cupti_owner__is_foreign(const struct cupti *cupti)
{
	map.inside = (uintptr_t)cupti->ActivityRegisterCallbacks;
	map.code_cnt = map.data_cnt = 0;
	dl_iterate_phdr(add_object, NULL);
	qsort(map.code, map.code_cnt, sizeof(*map.code), by_begin);
	for (size_t i = 0; i < map.data_cnt; i++)
		if (leads_to_tool(&map.data[i]))
			return true;
	return false;
}

// SPDX-License-Identifier: BSD-2-Clause
/*
 * Pointer hooks. The program calls functions through pointers in its data: methods of Python,
 * virtual functions, functions of shared libraries. While the library records, such a pointer leads
 * to a function of the library. That function notes the time and calls the original (trampoline.c).
 * The program's code is unchanged. A thread that has read a pointer may follow it at any later
 * time. So the library's functions stay in place, and each leads to one original for the life of
 * the process.
 */
#include "cupti_shim/entries.h"
#include "cupti_shim/trampoline.h"
#include "cupti_shim/shim.h"
#include "cupti_shim/old_glibc.h"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* For setting and restoring pointers: in our thread, or in the thread that ends the process. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static bool ended; /* the process is ending, so its data is left alone */

/* The replaced pointers. */
static struct {
	void **at;
	uint32_t function;
	bool read_only, is_set;
} pointers[SHIM_POINTERS];
static uint32_t pointer_cnt;

/* Python's hash function for objects of C functions. It hashes the function's address. Such objects
 * can be keys of dictionaries, so their hash must not change with the pointer. */
static struct {
	void **at; /* NULL: the original is in its place */
	int64_t (*original)(void *);
} hash;

/* ---- what Python makes of the address of a function ---- */

#define DEFINITION_OF_FUNCTION 16 /* offset in an object of Python */
#define ADDRESS_OF_DEFINITION  8

static const void *address_in(const void *object)
{
	const char *definition = *(char *const *)((const char *)object + DEFINITION_OF_FUNCTION);

	return __atomic_load_n((void *const *)(definition + ADDRESS_OF_DEFINITION),
			       __ATOMIC_ACQUIRE);
}

/* Python's hash of an address, since 2.7. */
static uint64_t address_hash(uintptr_t address)
{
	return (uint64_t)address >> 4 | (uint64_t)address << 60;
}

/* 0, unless the address is one of our entries, which are few. */
static uint64_t hash_change(const void *address)
{
	const uint32_t function = entries__index(address);

	if (function == SHIM_FUNCTIONS || !trampoline__original(function))
		return 0;
	return address_hash((uintptr_t)address) ^
	       address_hash((uintptr_t)trampoline__original(function));
}

/* The hash of the object with its original pointer. Python never uses -1 as a hash. */
static int64_t hash_of(void *object)
{
	const void *address;
	uint64_t change;
	int64_t found;

	do {
		address = address_in(object);
		found = hash.original(object);
	} while (address_in(object) != address);
	change = hash_change(address);
	if (!change)
		return found;
	found = (int64_t)((uint64_t)found ^ change);
	return found == -1 ? -2 : found;
}

/* ---- pointers ---- */

/* One store, so a reader finds one address or the other. */
static bool replace(void **at, void *from, void *to)
{
	return __atomic_compare_exchange_n(at, &from, to, false, __ATOMIC_ACQ_REL,
					   __ATOMIC_RELAXED);
}

/* Adjacent pages with pointers to write. */
struct pages {
	uintptr_t begin, end;
	uint32_t cnt; /* number of pointers in them, from the first on */
};

static struct pages pages_from(uint32_t first)
{
	const uintptr_t bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	const bool read_only = pointers[first].read_only;
	struct pages p = {.begin = (uintptr_t)pointers[first].at & ~(bytes - 1)};
	uintptr_t page;

	p.end = p.begin + bytes;
	for (p.cnt = 1; first + p.cnt < pointer_cnt; p.cnt++) {
		page = (uintptr_t)pointers[first + p.cnt].at & ~(bytes - 1);
		if (pointers[first + p.cnt].read_only != read_only || page < p.begin ||
		    page > p.end)
			break;
		p.end = page == p.end ? page + bytes : p.end;
	}
	return p;
}

static bool protect(const struct pages *p, int protection)
{
	return !mprotect((void *)p->begin, p->end - p->begin, protection);
}

/* Sets the pointers to our functions, or restores them. Read-only data is made writable for that
 * moment. A pointer that cannot be replaced stays, and is not restored. */
static void replace_all(bool to_ours)
{
	struct pages p;

	for (uint32_t i = 0; i < pointer_cnt; i += p.cnt) {
		const bool read_only = pointers[i].read_only;
		bool may;

		p = pages_from(i);
		may = !read_only || protect(&p, PROT_READ | PROT_WRITE);
		for (uint32_t k = i; k < i + p.cnt; k++) {
			void *entry = entries__at(pointers[k].function);
			void *original = trampoline__original(pointers[k].function);

			if (to_ours)
				pointers[k].is_set =
					may && replace(pointers[k].at, original, entry);
			else if (may && pointers[k].is_set)
				replace(pointers[k].at, entry, original);
		}
		if (read_only && may)
			protect(&p, PROT_READ);
	}
}

/* Call it before setting the first pointer. Waits for threads that are on their way into the
 * original. */
static bool keep_hashes(uint64_t at)
{
	const struct timespec pause = {.tv_nsec = 20000000};
	void *original;

	if (!at)
		return false;
	hash.at = (void **)(uintptr_t)at;
	original = __atomic_load_n(hash.at, __ATOMIC_RELAXED);
	hash.original = (int64_t (*)(void *))original;
	if (!replace(hash.at, original, (void *)hash_of)) {
		hash.at = NULL;
		return false;
	}
	nanosleep(&pause, NULL);
	return true;
}

bool functions__are_set(void)
{
	return pointer_cnt;
}

static void set(struct shim_control *c)
{
	const struct shim_pointer *to_set = shim_pointers(c);
	uint32_t index[SHIM_FUNCTIONS], f, cnt = 0;
	bool keeps;

	trampoline__begin(c, index);
	calls__connect(c);
	keeps = keep_hashes(c->python_hash);
	/* All are listed before the first is replaced, so that a child forked in between can
	 * restore them. */
	for (uint32_t i = 0; i < c->pointer_cnt; i++) {
		f = to_set[i].function < c->function_cnt ? index[to_set[i].function]
							 : SHIM_FUNCTIONS;
		if (f == SHIM_FUNCTIONS || (!keeps && trampoline__is_method(f)))
			continue;
		pointers[cnt].at = (void **)(uintptr_t)to_set[i].at;
		pointers[cnt].function = f;
		pointers[cnt].is_set = true;
		pointers[cnt++].read_only = to_set[i].read_only;
	}
	__atomic_store_n(&pointer_cnt, cnt, __ATOMIC_RELEASE);
	replace_all(true);
	__atomic_store_n(&c->pointers_set, cnt, __ATOMIC_RELEASE);
}

void functions__set(struct shim_control *c)
{
	c->note_ns = trampoline__cost_ns();
	if (!c->pointer_cnt || c->function_cnt > SHIM_FUNCTIONS || c->pointer_cnt > SHIM_POINTERS)
		return;
	pthread_mutex_lock(&mutex);
	if (!ended && !pointer_cnt)
		set(c);
	pthread_mutex_unlock(&mutex);
}

static void put_back(void)
{
	replace_all(false);
	__atomic_store_n(&pointer_cnt, 0, __ATOMIC_RELEASE);
	if (hash.at)
		replace(hash.at, (void *)hash_of, (void *)hash.original);
	hash.at = NULL;
}

static void clear(struct shim_control *c)
{
	put_back();
	trampoline__put_open(c);
	if (__atomic_load_n(&c->state, __ATOMIC_ACQUIRE) != SHIM_RECORDING)
		calls__connect(NULL);
	__atomic_store_n(&c->pointers_set, 0, __ATOMIC_RELEASE);
}

void functions__clear(struct shim_control *c)
{
	pthread_mutex_lock(&mutex);
	if (pointer_cnt)
		clear(c);
	pthread_mutex_unlock(&mutex);
}

void functions__end(struct shim_control *c)
{
	functions__clear(c);
	pthread_mutex_lock(&mutex);
	ended = true;
	pthread_mutex_unlock(&mutex);
}

void functions__forget(void)
{
	mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* the thread that held it is not in
							       the child */
	put_back();
}

// SPDX-License-Identifier: BSD-2-Clause
#include "common/large.h"
#include <stdint.h>
#include <sys/mman.h>

#define HUGE_BYTES (2u << 20)

static size_t rounded(size_t cnt, size_t size)
{
	return (cnt * size + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
}

void *large__alloc(size_t cnt, size_t size)
{
	const size_t bytes = rounded(cnt, size);
	char *p = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (p == MAP_FAILED)
		return NULL;
	/* Kernels before 6.7 do not align the mapping to a huge page. */
	before = -(uintptr_t)p % HUGE_BYTES;
	if (before)
		munmap(p, before);
	munmap(p + before + bytes, HUGE_BYTES - before);
	madvise(p + before, bytes, MADV_HUGEPAGE); /* without huge pages it lies on ordinary ones */
	return p + before;
}

void large__free(void *p, size_t cnt, size_t size)
{
	if (p)
		munmap(p, rounded(cnt, size));
}

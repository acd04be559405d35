// SPDX-License-Identifier: BSD-2-Clause
/* The injected library. Says how often it was initialised and called. */
#include <string.h>
#include <unistd.h>

static long init_cnt, call_cnt;

__attribute__((constructor)) static void counted_init(void)
{
	init_cnt++;
}

/* Initialisations in the millions, calls in the thousands, the argument's length. */
long counted_call(const char *arg)
{
	return __atomic_load_n(&init_cnt, __ATOMIC_SEQ_CST) * 1000000 +
	       __atomic_add_fetch(&call_cnt, 1, __ATOMIC_SEQ_CST) * 1000 + (long)strlen(arg);
}

/* Longer than any deadline that the tests give. */
long counted_slow(const char *arg)
{
	usleep(1500000);
	return counted_call(arg);
}

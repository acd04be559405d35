// SPDX-License-Identifier: BSD-2-Clause
/* A static program that does nothing. */
#include <unistd.h>

int main(void)
{
	write(1, "ready\n", 6);
	pause();
	return 0;
}

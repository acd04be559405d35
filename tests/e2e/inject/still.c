// SPDX-License-Identifier: BSD-2-Clause
/* Does nothing, as a static program. */
#include <unistd.h>

int main(void)
{
	write(1, "ready\n", 6);
	pause();
	return 0;
}

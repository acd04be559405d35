// SPDX-License-Identifier: BSD-2-Clause
/* trunc FILE MICROSECONDS: maps a library, then cuts it off and lengthens it again, for ever. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = argc > 2 ? open(argv[1], O_RDWR) : -1;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	puts("ready");
	fflush(stdout);
	for (;;) {
		if (ftruncate(fd, 4096))
			return 1;
		usleep((useconds_t)atoi(argv[2]));
		if (ftruncate(fd, st.st_size))
			return 1;
		usleep((useconds_t)atoi(argv[2]));
	}
}

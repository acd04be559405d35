// SPDX-License-Identifier: BSD-2-Clause
/* shmfile make|pid FILE: makes the file that the library in a process maps, as proftrace would; or
 * prints which process has taken the file. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "cupti_shim/protocol.h"

static int make(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	struct shim_control *c;
	struct timespec now;

	if (fd < 0 || ftruncate(fd, (off_t)SHIM_FILE_BYTES))
		return 1;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c == MAP_FAILED)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	shim_init(c, (uint64_t)now.tv_sec * 1000000000u);
	return 0;
}

static int print_pid(const char *path)
{
	struct shim_control c;
	int fd = open(path, O_RDONLY);

	if (pread(fd, &c, sizeof(c), 0) != sizeof(c))
		return 1;
	printf("%u\n", c.pid);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	return strcmp(argv[1], "make") ? print_pid(argv[2]) : make(argv[2]);
}

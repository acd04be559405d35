// SPDX-License-Identifier: BSD-2-Clause
/* mmapenv GIGABYTES: a process with a command line and an environment of that size. */
#include <linux/prctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FIELDS 52 /* of /proc/PID/stat, numbered from 1 */

static void read_stat(unsigned long field[FIELDS + 1])
{
	char text[4096] = "";
	FILE *f = fopen("/proc/self/stat", "r");
	char *at;

	if (!f || !fgets(text, sizeof(text), f) || !(at = strrchr(text, ')')))
		exit(1);
	fclose(f);
	at = strtok(at + 2, " ");
	for (int i = 3; at && i <= FIELDS; i++, at = strtok(NULL, " "))
		field[i] = strtoul(at, NULL, 10);
}

int main(int argc, char **argv)
{
	const size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) << 30 : 0;
	unsigned long field[FIELDS + 1] = {0};
	void *text = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct prctl_mm_map m = {.exe_fd = (unsigned int)-1};

	if (text == MAP_FAILED)
		return 1;
	read_stat(field);
	m.start_code = field[26];
	m.end_code = field[27];
	m.start_stack = field[28];
	m.start_data = field[45];
	m.end_data = field[46];
	m.start_brk = field[47];
	m.brk = (unsigned long)sbrk(0);
	m.arg_start = m.env_start = (unsigned long)text;
	m.arg_end = m.env_end = (unsigned long)text + size;
	if (prctl(PR_SET_MM, PR_SET_MM_MAP, &m, sizeof(m), 0)) {
		perror("prctl");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}

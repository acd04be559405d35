// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/own_usage.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include "common/util.h"

#define FDINFO_MAX 4096

/* A map's fdinfo has map_id and memlock. A program's has only memlock, and is not counted. */
static uint64_t map_bytes(const char *path)
{
	static const char field[] = "\nmemlock:";
	bool cut;
	auto_free char *text = file__read_up_to(path, FDINFO_MAX, NULL, &cut);
	const char *at = text && strstr(text, "\nmap_id:") ? strstr(text, field) : NULL;

	return at ? strtoull(at + strlen(field), NULL, 10) : 0;
}

static uint64_t bpf_bytes(pid_t pid)
{
	char directory[64], path[sizeof(directory) + 257];
	const struct dirent *entry;
	uint64_t bytes = 0;
	DIR *fds;

	snprintf(directory, sizeof(directory), "/proc/%d/fdinfo", pid);
	fds = opendir(directory);
	if (!fds)
		return 0;
	while ((entry = readdir(fds))) {
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		bytes += map_bytes(path);
	}
	closedir(fds);
	return bytes;
}

void own_usage__add(struct own_usage *u, pid_t pid)
{
	u->anonymous_bytes += (uint64_t)proc__status(pid, "RssAnon") << 10;
	u->bpf_bytes += bpf_bytes(pid);
	u->cpu_ns += process__cpu_ns(pid);
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000ull + (uint64_t)t->tv_usec * 1000;
}

uint64_t own_usage__ended_cpu_ns(void)
{
	struct rusage ended;

	if (getrusage(RUSAGE_CHILDREN, &ended))
		return 0;
	return ns_of(&ended.ru_utime) + ns_of(&ended.ru_stime);
}

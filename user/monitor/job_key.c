// SPDX-License-Identifier: BSD-2-Clause
#include "monitor/job_key.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include "monitor/clean_name.h"

/* NULL: the variable is not set, or empty. */
static const char *variable(const char *env, size_t len, const char *name)
{
	const size_t name_len = strlen(name);

	for (size_t at = 0; at < len; at += strlen(env + at) + 1)
		if (!strncmp(env + at, name, name_len) && env[at + name_len] == '=' &&
		    env[at + name_len + 1])
			return env + at + name_len + 1;
	return NULL;
}

static void make_name(const char *env, size_t len, const char *command, pid_t launcher, char *out,
		      size_t size)
{
	const char *slurm = variable(env, len, "SLURM_JOB_ID"),
		   *step = variable(env, len, "SLURM_STEP_ID"),
		   *elastic = variable(env, len, "TORCHELASTIC_RUN_ID"),
		   *address = variable(env, len, "MASTER_ADDR"),
		   *port = variable(env, len, "MASTER_PORT");

	/* torchrun sets "none" without --rdzv-id. */
	if (elastic && !strcmp(elastic, "none"))
		elastic = NULL;
	if (slurm)
		snprintf(out, size, "slurm-%.40s%s%.20s", slurm, step ? "." : "", step ? step : "");
	else if (elastic)
		snprintf(out, size, "torchelastic-%.64s", elastic);
	else if (address && port)
		snprintf(out, size, "%.64s:%.8s", address, port);
	else
		snprintf(out, size, "%.32s-%d", command, launcher);
}

static size_t hex_len(const char *text)
{
	size_t len = 0;

	while (isdigit((unsigned char)text[len]) || (text[len] >= 'a' && text[len] <= 'f'))
		len++;
	return len;
}

/* Docker, containerd, CRI-O and podman use an id of 64 hex digits. The innermost container comes
 * last. */
static void find_container(const char *cgroup, char out[65])
{
	out[0] = '\0';
	for (const char *at = cgroup; *at;) {
		size_t len = hex_len(at);

		if (len == 64 && (at == cgroup || !isalnum((unsigned char)at[-1])) &&
		    !isalnum((unsigned char)at[64])) {
			memcpy(out, at, 64);
			out[64] = '\0';
		}
		at += len ? len : 1;
	}
}

/* 8-4-4-4-12 digits. systemd as cgroup driver writes '_' for '-'. */
static int read_uid(const char *text, char out[37])
{
	for (int i = 0; i < 36; i++) {
		const int is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? text[i] != '-' && text[i] != '_' : !hex_len((char[2]){text[i]}))
			return 0;
		out[i] = is_dash ? '-' : text[i];
	}
	out[36] = '\0';
	return 1;
}

static void find_pod(const char *cgroup, char out[37])
{
	for (const char *at = cgroup; (at = strstr(at, "pod")); at += 3)
		if (read_uid(at + 3, out))
			return;
	out[0] = '\0';
}

void job_key__make(const char *env, size_t len, const char *cgroup, const char *command,
		   pid_t launcher, struct job_key *out)
{
	char name[sizeof(out->name)];

	make_name(env, len, command, launcher, name, sizeof(name));
	clean_name__copy(out->name, sizeof(out->name), name);
	find_container(cgroup, out->container);
	find_pod(cgroup, out->pod);
}

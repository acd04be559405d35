// SPDX-License-Identifier: BSD-2-Clause
/* Tests which job a process belongs to, from its environment and cgroup. */
#include <criterion/criterion.h>
#include <string.h>
#include "monitor/job_key.h"

TestSuite(job_key);

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct job_key key_of(const char *env, size_t len, const char *cgroup)
{
	struct job_key key;

	job_key__make(env, len, cgroup, "python3", 4242, &key);
	return key;
}

#define KEY(env) key_of(env, sizeof(env) - 1, "0::/\n")

Test(job_key, a_launcher_says_it)
{
	cr_expect_str_eq(KEY("SLURM_JOB_ID=17\0MASTER_ADDR=a\0MASTER_PORT=1\0").name, "slurm-17");
	cr_expect_str_eq(KEY("SLURM_STEP_ID=3\0SLURM_JOB_ID=17\0").name, "slurm-17.3");
	cr_expect_str_eq(KEY("TORCHELASTIC_RUN_ID=night\0MASTER_ADDR=a\0MASTER_PORT=1\0").name,
			 "torchelastic-night");
	cr_expect_str_eq(
		KEY("TORCHELASTIC_RUN_ID=none\0MASTER_ADDR=node7\0MASTER_PORT=29500\0").name,
		"node7:29500");
}

Test(job_key, else_the_process_that_started_it)
{
	cr_expect_str_eq(KEY("").name, "python3-4242");
	cr_expect_str_eq(KEY("MASTER_ADDR=a\0").name, "python3-4242", "half of an address");
	cr_expect_str_eq(KEY("SLURM_JOB_ID=\0").name, "python3-4242", "empty");
	cr_expect_str_eq(KEY("MY_SLURM_JOB_ID=17\0").name, "python3-4242", "another variable");
}

Test(job_key, what_a_stranger_says_is_cleaned_and_cut)
{
	char env[4096] = "TORCHELASTIC_RUN_ID=";
	struct job_key key;

	cr_expect_str_eq(KEY("SLURM_JOB_ID=1\n\x1b[2J\xff").name, "slurm-1??[2J?");
	memset(env + strlen(env), 'x', sizeof(env) - strlen(env) - 1);
	key = key_of(env, sizeof(env) - 1, "");
	cr_expect_lt(strlen(key.name), sizeof(key.name));
}

Test(job_key, a_container_is_the_innermost)
{
	struct job_key key = key_of("", 0, "0::/docker/" HEX64 "/x/" HEX64 "\n");

	cr_expect_str_eq(key.container, HEX64);
	cr_expect_str_eq(key.pod, "");
	cr_expect_str_eq(key_of("", 0, "0::/docker/a" HEX64 "\n").container, "", "too long");
	cr_expect_str_eq(key_of("", 0, "0::/user.slice\n").container, "");
}

Test(job_key, a_pod_by_either_driver)
{
	static const char uid[] = "3d3f2a5e-9c1b-4f60-8a77-0123456789ab";

	cr_expect_str_eq(key_of("", 0,
				"0::/kubepods/burstable/pod3d3f2a5e-9c1b-4f60-8a77-"
				"0123456789ab/" HEX64 "\n")
				 .pod,
			 uid);
	cr_expect_str_eq(key_of("", 0,
				"0::/kubepods.slice/kubepods-pod3d3f2a5e_9c1b_4f60_8a77_"
				"0123456789ab.slice/cri-containerd-" HEX64 ".scope\n")
				 .pod,
			 uid);
	cr_expect_str_eq(key_of("", 0, "0::/podman-12/pod3d3f\n").pod, "");
}

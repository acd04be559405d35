/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the kernel refused us, read from what this process may do (capabilities(7)). */
#ifndef PROFTRACE_CAPABILITY_H
#define PROFTRACE_CAPABILITY_H

#include <linux/capability.h>
#include <stdint.h>

/* In linux/capability.h only since Linux 5.8. */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

#define CAPABILITY(name)     (1ull << (name))
#define CAPABILITIES_TO_LOAD (CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON))

/* Names the wanted capabilities that the effective set lacks: "CAP_BPF and CAP_PERFMON"; "" if
 * none. CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON. Kept until the thread's next call. */
const char *capability__missing(uint64_t wanted);

/* "needs CAP_BPF; run with sudo", with a remedy that helps this user. "" if the process has all of
 * them in the machine's first user namespace. It is taken (err__take), so a message that has it as
 * an argument names it as its cause. */
const char *capability__lack(uint64_t wanted);

/* As capability__lack(). If nothing is lacking, the text says that the cause is unknown. */
const char *capability__why_refused(uint64_t wanted);

#endif

// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/findings/device_idle.h"

/* Leaves out the cost of probes, the time without a processor (the device is idle then, too), and
 * the time for which device work is unknown. */
uint64_t device_idle__ns(const struct analysis *a)
{
	uint64_t busy_ns, probes_ns, known_ns;
	const int device = gpu_wait__busiest(a, &busy_ns);

	known_ns = device < 0 ? analysis__whole_ns(a) : analysis__clock_ns(a, device);
	probes_ns = analysis__whole_ns(a) - a->steps.cpu.total;
	return known_ns > busy_ns + probes_ns ? ready_time__off(a, known_ns - busy_ns - probes_ns)
					      : 0;
}

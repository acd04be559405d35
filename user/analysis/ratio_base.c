// SPDX-License-Identifier: BSD-2-Clause
#include "analysis/ratio_base.h"
#include "analysis/analysis.h"

struct stretch analysis__window(const struct analysis *a)
{
	return a->window.end ? a->window : (struct stretch){a->first_ns, a->last_ns};
}

uint64_t analysis__window_ns(const struct analysis *a)
{
	const struct stretch w = analysis__window(a);

	return w.end - w.begin;
}

struct ratio_base analysis__base(const struct analysis *a)
{
	if (a->steps.calls && !a->outside_steps)
		return (struct ratio_base){analysis__total_ns(a), analysis__general_ns(a),
					   analysis__total_name(a), analysis__general_name(a),
					   true};
	return (struct ratio_base){analysis__window_ns(a), a->any_general_ns, "the window's time",
				   "all kernels, copies and sets", false};
}

uint64_t analysis__total_ns(const struct analysis *a)
{
	return a->steps.calls ? a->steps.cpu.total : analysis__window_ns(a);
}

uint64_t analysis__general_ns(const struct analysis *a)
{
	return a->steps.calls ? a->step_general_ns : a->any_general_ns;
}

const char *analysis__total_name(const struct analysis *a)
{
	return a->steps.calls ? "the steps' time" : "the window's time";
}

const char *analysis__general_name(const struct analysis *a)
{
	return a->steps.calls ? "the kernels, copies and sets of the steps"
			      : "all kernels, copies and sets";
}

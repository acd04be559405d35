// SPDX-License-Identifier: BSD-2-Clause
/* What a probe costs here: the time that an attached program adds to a call, nothing else. */
#include <bpf/libbpf.h>
#include "attach/calibrate.h"
#include "common/err.h"
#include "common/util.h"

/* A stepped probe may take 12 us: 3 functions, 5 rounds, 200 calls stay under 25 ms. */
enum { ROUNDS = 5, CALLS = 200 };

static int add_point(struct attach_set *set, struct bpf_program *prog, enum calibration_function fn,
		     bool is_return)
{
	struct attach_point point;

	calibration__point(fn, &point);
	point.is_return = is_return;
	return attach_set__add(set, prog, &point);
}

static int attach_programs(struct attach_set *set, const struct calibration_programs *progs,
			   pid_t pid)
{
	int err = add_point(set, progs->empty, CALIBRATE_EMULATED, false);

	if (!err)
		err = add_point(set, progs->empty, CALIBRATE_STEPPED, false);
	if (!err)
		err = add_point(set, progs->empty, CALIBRATE_PAIR, false);
	if (!err)
		err = add_point(set, progs->empty_return, CALIBRATE_PAIR, true);
	return err ? err : attach_set__attach(set, pid);
}

static int added_ns(struct calibration *c, enum calibration_function fn, double bare_ns,
		    uint64_t *added)
{
	double ns;
	int err = calibration__run(c, fn, 0, ROUNDS, CALLS, &ns);

	if (!err)
		*added = ns > bare_ns ? (uint64_t)(ns - bare_ns + 0.5) : 0;
	return err;
}

static int measure(struct calibration *c, struct attach_cost *cost)
{
	double bare_ns;
	int err = calibration__run(c, CALIBRATE_BARE, 0, ROUNDS, CALLS, &bare_ns);

	if (!err)
		err = added_ns(c, CALIBRATE_EMULATED, bare_ns, &cost->entry_ns);
	if (!err)
		err = added_ns(c, CALIBRATE_STEPPED, bare_ns, &cost->stepped_ns);
	if (!err)
		err = added_ns(c, CALIBRATE_PAIR, bare_ns, &cost->entry_return_ns);
	return err;
}

int attach_cost__measure(enum attach_method method, struct attach_cost *cost)
{
	struct calibration_programs *progs = NULL;
	struct calibration *c = NULL;
	struct attach_set *set = attach_set__new("calibration", method);
	int err = set ? calibration__start(&c) : err__set(-ENOMEM, "calibration: out of memory");

	if (!err)
		err = calibration_programs__load(method, &progs);
	if (!err)
		err = attach_programs(set, progs, calibration__pid(c));
	if (!err)
		err = measure(c, cost);
	calibration__stop(c);
	calibration__discard(set, progs);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
/* What a probe costs on this machine: the time that an attached program adds to a call. */
#include <bpf/libbpf.h>
#include "attach/calibrate.h"
#include "common/err.h"
#include "attach/message_table.h"
#include "common/util.h"

/* Rounds are short, so that some are undisturbed. Functions take turns, so that a slow phase of the
 * machine affects all. A stepped probe may take 12 us: 3 functions, 20 rounds and 50 calls take
 * less than 25 ms. */
enum { ROUNDS = 20, CALLS = 50 };

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

static uint64_t added_ns(double ns, double bare_ns)
{
	return ns > bare_ns ? (uint64_t)(ns - bare_ns + 0.5) : 0;
}

static int measure(struct calibration *c, struct attach_cost *cost)
{
	double least[CALIBRATE_PAIR + 1];

	for (unsigned int r = 0; r < ROUNDS; r++)
		for (enum calibration_function fn = CALIBRATE_BARE; fn <= CALIBRATE_PAIR; fn++) {
			double ns;
			int err = calibration__run(c, fn, 0, 1, CALLS, &ns);

			if (err)
				return err;
			if (!r || ns < least[fn])
				least[fn] = ns;
		}
	cost->entry_ns = added_ns(least[CALIBRATE_EMULATED], least[CALIBRATE_BARE]);
	cost->stepped_ns = added_ns(least[CALIBRATE_STEPPED], least[CALIBRATE_BARE]);
	cost->entry_return_ns = added_ns(least[CALIBRATE_PAIR], least[CALIBRATE_BARE]);
	return 0;
}

int attach_cost__measure(enum attach_method method, struct attach_cost *cost)
{
	struct calibration_programs *progs = NULL;
	struct calibration *c = NULL;
	const enum attach_method own = attach_method__resolve(method);
	struct attach_set *set = attach_set__new("calibration", own, NULL);
	int err =
		set ? calibration__start(&c) : err__set(-ENOMEM, MESSAGE_CALIBRATION_OUT_OF_MEMORY);

	if (!err)
		err = calibration_programs__load(own, &progs);
	if (!err)
		err = attach_programs(set, progs, calibration__pid(c));
	if (!err)
		err = measure(c, cost);
	calibration__stop(c);
	calibration__discard(set, progs);
	return err;
}

// SPDX-License-Identifier: BSD-2-Clause
/* The optimization phase when it shows only as operators that update parameters. */
#include <criterion/criterion.h>
#include "model_synth.h"

Test(model_phase_updates, operators_that_update_are_the_optimization)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_FORWARD, "forward", 0, 20);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 20, 40);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "lamb_update_phase1", 42, 45);
	synth__span(&s, s.main, CAT_OPERATOR, "norm", 46, 48);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "lamb_update_phase2", 50, 54);
	synth__span(&s, s.main, CAT_OPERATOR, "mean", 56, 58);
	synth__step(&s, 0, 0, 60);
	synth__expect_tree(
		&s, "step 0 [0,60) cpu 60 D 0 F 20 B 20 O 12 other 8\n"
		    " track 1\n"
		    "  Forward forward [0,20) cpu 20 self 20 in Forward\n"
		    "  Backward backward [20,40) cpu 20 self 20 in Backward\n"
		    "  Optimization Optimization [42,54) cpu 12 self 3 in Optimization inferred\n"
		    "    Operator lamb_update_phase1 [42,45) cpu 3 self 3 in Optimization\n"
		    "    Operator norm [46,48) cpu 2 self 2 in Optimization\n"
		    "    Operator lamb_update_phase2 [50,54) cpu 4 self 4 in Optimization\n"
		    "  Operator mean [56,58) cpu 2 self 2\n");
}

Test(model_phase_updates, operators_that_update_are_the_optimization_from_its_mark_on)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_FORWARD, "forward", 0, 20);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 20, 40);
	synth__span(&s, s.main, CAT_OPTIMIZER_BEGIN, "step begins", 41, 41);
	synth__span(&s, s.main, CAT_OPERATOR, "norm", 46, 48);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "sgd_update", 50, 54);
	synth__span(&s, s.main, CAT_OPERATOR, "mean", 56, 58);
	synth__step(&s, 0, 0, 60);
	synth__expect_tree(
		&s, "step 0 [0,60) cpu 60 D 0 F 20 B 20 O 13 other 7\n"
		    " track 1\n"
		    "  Forward forward [0,20) cpu 20 self 20 in Forward\n"
		    "  Backward backward [20,40) cpu 20 self 20 in Backward\n"
		    "  Optimization Optimization [41,54) cpu 13 self 7 in Optimization inferred\n"
		    "    Other step begins [41,41) cpu 0 self 0 in Optimization\n"
		    "    Operator norm [46,48) cpu 2 self 2 in Optimization\n"
		    "    Operator sgd_update [50,54) cpu 4 self 4 in Optimization\n"
		    "  Operator mean [56,58) cpu 2 self 2\n");
}

Test(model_phase_updates, without_steps_and_other_phases_each_update_is_an_optimization)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "sgd_update", 2, 4);
	synth__span(&s, s.main, CAT_OPERATOR, "copy", 20, 22);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "sgd_update", 42, 45);
	synth__expect_tree(
		&s, "no step\n"
		    " track 1\n"
		    "  Optimization Optimization [2,4) cpu 2 self 0 in Optimization inferred\n"
		    "    Operator sgd_update [2,4) cpu 2 self 2 in Optimization\n"
		    "  Operator copy [20,22) cpu 2 self 2\n"
		    "  Optimization Optimization [42,45) cpu 3 self 0 in Optimization inferred\n"
		    "    Operator sgd_update [42,45) cpu 3 self 3 in Optimization\n");
}

Test(model_phase_updates, updates_on_both_sides_of_a_backward_are_two_optimizations)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "sgd_update", 2, 4);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 20, 40);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "sgd_update", 42, 45);
	synth__step(&s, 0, 0, 60);
	synth__expect_tree(
		&s, "step 0 [0,60) cpu 60 D 0 F 16 B 20 O 5 other 19\n"
		    " track 1\n"
		    "  Optimization Optimization [2,4) cpu 2 self 0 in Optimization inferred\n"
		    "    Operator sgd_update [2,4) cpu 2 self 2 in Optimization\n"
		    "  Forward Forward [4,20) cpu 16 self 16 in Forward inferred\n"
		    "  Backward backward [20,40) cpu 20 self 20 in Backward\n"
		    "  Optimization Optimization [42,45) cpu 3 self 0 in Optimization inferred\n"
		    "    Operator sgd_update [42,45) cpu 3 self 3 in Optimization\n");
}

// SPDX-License-Identifier: BSD-2-Clause
/* The phases of a step, and where the forward pass is put. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include "model_synth.h"

TestSuite(model_phase);

Test(model_phase, forward_is_the_gap_before_backward)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", 12, 14);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 20, 25);
	synth__span(&s, s.main, CAT_BACKWARD_NODE, "node", 42, 45);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__span(&s, s.other, CAT_BACKWARD_NODE, "node", 50, 55);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 70, 80);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 10 F 26 B 20 O 10 other 34\n"
			       " track 1\n"
			       "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			       "  UserDefined zero [12,14) cpu 2 self 2\n"
			       "  Forward Forward [14,40) cpu 26 self 21 in Forward inferred\n"
			       "    Operator linear [20,25) cpu 5 self 5 in Forward\n"
			       "  Backward backward [40,60) cpu 20 self 17 in Backward\n"
			       "    Operator node [42,45) cpu 3 self 3 in Backward\n"
			       "  Optimization step [70,80) cpu 10 self 10 in Optimization\n"
			       " track 2\n"
			       "  Operator node [50,55) cpu 5 self 5 in Backward\n");
}

Test(model_phase, zero_grad_between_forward_and_backward_does_not_hide_the_forward)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", 35, 38);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__step(&s, 0, 0, 60);
	synth__expect_tree(&s,
			   "step 0 [0,60) cpu 60 D 10 F 27 B 20 O 0 other 3\n"
			   " track 1\n"
			   "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			   "  Forward Forward [10,35) cpu 25 self 25 in Forward inferred\n"
			   "  UserDefined zero [35,38) cpu 3 self 3\n"
			   "  Forward Forward [38,40) cpu 2 self 2 in Forward inferred cut begin\n"
			   "  Backward backward [40,60) cpu 20 self 20 in Backward\n");
}

/* For example a wait for a batch that another thread fetches. */
Test(model_phase, what_is_long_before_zero_grad_is_no_forward_without_operators)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "item", 1, 3);
	synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", 30, 32);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 33, 35);
	synth__span(&s, s.main, CAT_OPERATOR, "mm", 33, 34); /* inside it */
	synth__span(&s, s.main, CAT_OPERATOR, "relu", 35, 36);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__step(&s, 0, 0, 60);
	synth__expect_tree(&s, "step 0 [0,60) cpu 60 D 0 F 8 B 20 O 0 other 32\n"
			       " track 1\n"
			       "  Operator item [1,3) cpu 2 self 2\n"
			       "  UserDefined zero [30,32) cpu 2 self 2\n"
			       "  Forward Forward [32,40) cpu 8 self 5 in Forward inferred\n"
			       "    Operator linear [33,35) cpu 2 self 1 in Forward\n"
			       "      OperatorInner mm [33,34) cpu 1 self 1 in Forward\n"
			       "    Operator relu [35,36) cpu 1 self 1 in Forward\n"
			       "  Backward backward [40,60) cpu 20 self 20 in Backward\n");
}

Test(model_phase, each_backward_has_its_forward)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_BACKWARD, "backward", 10, 20);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 30, 40);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 45);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 45, 50);
	synth__step(&s, 0, 5, 50);
	synth__expect_tree(&s, "step 0 [5,50) cpu 45 D 0 F 15 B 25 O 5 other 0\n"
			       " track 1\n"
			       "  Forward Forward [5,10) cpu 5 self 5 in Forward inferred\n"
			       "  Backward backward [10,20) cpu 10 self 10 in Backward\n"
			       "  Forward Forward [20,30) cpu 10 self 10 in Forward inferred\n"
			       "  Backward backward [30,40) cpu 10 self 10 in Backward\n"
			       "  Backward backward [40,45) cpu 5 self 5 in Backward\n"
			       "  Optimization step [45,50) cpu 5 self 5 in Optimization\n");
}

Test(model_phase, an_optimizer_that_runs_a_closure_is_not_all_optimization)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 20, 30);
	synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", 40, 42);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 45, 70);
	synth__span(&s, s.main, CAT_OPERATOR, "add", 80, 85);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 15, 90);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(
		&s,
		"step 0 [0,100) cpu 100 D 10 F 33 B 25 O 20 other 12\n"
		" track 1\n"
		"  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
		"  Forward Forward [10,15) cpu 5 self 5 in Forward inferred\n"
		"  UserDefined step [15,90) cpu 75 self 0\n"
		"    Forward Forward [15,40) cpu 25 self 15 in Forward inferred cut begin\n"
		"      Operator linear [20,30) cpu 10 self 10 in Forward\n"
		"    UserDefined zero [40,42) cpu 2 self 2\n"
		"    Forward Forward [42,45) cpu 3 self 3 in Forward inferred cut begin\n"
		"    Backward backward [45,70) cpu 25 self 25 in Backward\n"
		"    Optimization Optimization [70,90) cpu 20 self 15 in Optimization inferred\n"
		"      Operator add [80,85) cpu 5 self 5 in Optimization\n");
}

/* LBFGS does this. */
Test(model_phase, a_closure_that_runs_twice_has_two_forward_passes)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_BACKWARD, "backward", 20, 30);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 50);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 10, 60);
	synth__step(&s, 0, 10, 60);
	synth__expect_tree(
		&s,
		"step 0 [10,60) cpu 50 D 0 F 20 B 20 O 10 other 0\n"
		" track 1\n"
		"  UserDefined step [10,60) cpu 50 self 0\n"
		"    Forward Forward [10,20) cpu 10 self 10 in Forward inferred\n"
		"    Backward backward [20,30) cpu 10 self 10 in Backward\n"
		"    Forward Forward [30,40) cpu 10 self 10 in Forward inferred\n"
		"    Backward backward [40,50) cpu 10 self 10 in Backward\n"
		"    Optimization Optimization [50,60) cpu 10 self 10 in Optimization inferred\n");
}

/* LBFGS does this with the closure of PyTorch's own documentation. */
Test(model_phase, what_is_computed_until_a_closure_begins_again_with_zero_grad_is_the_optimizers)
{
	struct synth s = synth__new("{}");

	for (uint64_t t = 15; t < 75; t += 30) {
		synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", t, t + 1);
		synth__span(&s, s.main, CAT_OPERATOR, "linear", t + 2, t + 4);
		synth__span(&s, s.main, CAT_BACKWARD, "backward", t + 5, t + 15);
		synth__span(&s, s.main, CAT_OPERATOR, "dot", t + 16, t + 18);
		synth__span(&s, s.main, CAT_OPERATOR, "dot", t + 19, t + 21);
	}
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 14, 80);
	synth__step(&s, 0, 10, 80);
	synth__expect_tree(
		&s,
		"step 0 [10,80) cpu 70 D 0 F 8 B 20 O 35 other 7\n"
		" track 1\n"
		"  UserDefined step [14,80) cpu 66 self 1\n"
		"    UserDefined zero [15,16) cpu 1 self 1\n"
		"    Forward Forward [16,20) cpu 4 self 2 in Forward inferred\n"
		"      Operator linear [17,19) cpu 2 self 2 in Forward\n"
		"    Backward backward [20,30) cpu 10 self 10 in Backward\n"
		"    Optimization Optimization [30,45) cpu 15 self 11 in Optimization inferred\n"
		"      Operator dot [31,33) cpu 2 self 2 in Optimization\n"
		"      Operator dot [34,36) cpu 2 self 2 in Optimization\n"
		"    UserDefined zero [45,46) cpu 1 self 1\n"
		"    Forward Forward [46,50) cpu 4 self 2 in Forward inferred\n"
		"      Operator linear [47,49) cpu 2 self 2 in Forward\n"
		"    Backward backward [50,60) cpu 10 self 10 in Backward\n"
		"    Optimization Optimization [60,80) cpu 20 self 16 in Optimization inferred cut "
		"begin\n"
		"      Operator dot [61,63) cpu 2 self 2 in Optimization\n"
		"      Operator dot [64,66) cpu 2 self 2 in Optimization\n");
}

Test(model_phase, a_step_that_opens_at_backward_ends_with_the_forward)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_BACKWARD, "backward", 1, 40);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 40, 50);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 52, 60);
	synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", 60, 65);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 70, 80);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 8 F 35 B 39 O 10 other 8\n"
			       " track 1\n"
			       "  Backward backward [1,40) cpu 39 self 39 in Backward\n"
			       "  Optimization step [40,50) cpu 10 self 10 in Optimization\n"
			       "  Dataloader next [52,60) cpu 8 self 8 in Dataloader\n"
			       "  UserDefined zero [60,65) cpu 5 self 5\n"
			       "  Forward Forward [65,100) cpu 35 self 25 in Forward inferred\n"
			       "    Operator linear [70,80) cpu 10 self 10 in Forward\n");
}

/* A step that the scheduler, an evaluation or a checkpoint makes long. */
Test(model_phase, a_forward_is_one_however_small_its_part_of_the_step)
{
	struct synth s = synth__new("{\"steps\": {\"source\": \"Optimizer.step\"}}");

	synth__span(&s, s.main, CAT_BACKWARD, "backward", 4, 40);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 40, 100);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 0 F 4 B 36 O 60 other 0\n"
			       " track 1\n"
			       "  Forward Forward [0,4) cpu 4 self 4 in Forward inferred\n"
			       "  Backward backward [4,40) cpu 36 self 36 in Backward\n"
			       "  Optimization step [40,100) cpu 60 self 60 in Optimization\n");
}

Test(model_phase, operators_before_the_backward_of_a_named_step_are_its_forward)
{
	struct synth s = synth__new("{\"steps\": {\"source\": \"--step-range\"}}");

	synth__span(&s, s.main, CAT_OPERATOR, "linear", 1, 2);
	synth__span(&s, s.main, CAT_OPERATOR, "relu", 2, 3);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 4, 40);
	synth__span(&s, s.main, CAT_OPERATOR, "item", 41, 42);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 0 F 4 B 36 O 0 other 60\n"
			       " track 1\n"
			       "  Forward Forward [0,4) cpu 4 self 2 in Forward inferred\n"
			       "    Operator linear [1,2) cpu 1 self 1 in Forward\n"
			       "    Operator relu [2,3) cpu 1 self 1 in Forward\n"
			       "  Backward backward [4,40) cpu 36 self 36 in Backward\n"
			       "  Operator item [41,42) cpu 1 self 1\n");
}

/* Optimizers in the hooks of gradients: the first one of a backward pass opens a step. */
Test(model_phase, a_backward_that_goes_on_in_the_next_step_ends_the_forward)
{
	struct synth s = synth__new("{\"steps\": {\"source\": \"Optimizer.step\"}}");

	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 10, 20);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 5, 40);
	synth__step(&s, 0, 10, 110);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 110, 120);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 60, 140);
	synth__step(&s, 1, 110, 150);
	synth__expect_tree(&s, "step 0 [10,110) cpu 100 D 0 F 20 B 80 O 0 other 0\n"
			       " track 1\n"
			       "  Backward backward [5,40) cpu 35 self 25 in Backward\n"
			       "    Optimization step [10,20) cpu 10 self 10 in Backward\n"
			       "  Forward Forward [40,60) cpu 20 self 20 in Forward inferred\n"
			       "step 1 [110,150) cpu 40 D 0 F 10 B 30 O 0 other 0\n"
			       " track 1\n"
			       "  Backward backward [60,140) cpu 80 self 70 in Backward\n"
			       "    Optimization step [110,120) cpu 10 self 10 in Backward\n"
			       "  Forward Forward [140,150) cpu 10 self 10 in Forward inferred\n");
}

Test(model_phase, a_range_astride_cuts_the_forward)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "a", 12, 14);
	synth__span(&s, s.main, CAT_OPERATOR, "b", 22, 24);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__span(&s, s.main, CAT_USER, "loss and backward", 20, 70);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 10 F 30 B 20 O 0 other 40\n"
		    " track 1\n"
		    "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
		    "  Forward Forward [10,20) cpu 10 self 8 in Forward inferred\n"
		    "    Operator a [12,14) cpu 2 self 2 in Forward\n"
		    "  UserDefined loss and backward [20,70) cpu 50 self 10\n"
		    "    Forward Forward [20,40) cpu 20 self 18 in Forward inferred cut begin\n"
		    "      Operator b [22,24) cpu 2 self 2 in Forward\n"
		    "    Backward backward [40,60) cpu 20 self 20 in Backward\n");
}

Test(model_phase, without_backward_the_forward_follows_the_loader)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "a", 12, 14);
	synth__step(&s, 0, 0, 50);
	synth__expect_tree(&s, "step 0 [0,50) cpu 50 D 10 F 40 B 0 O 0 other 0\n"
			       " track 1\n"
			       "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			       "  Forward Forward [10,50) cpu 40 self 38 in Forward inferred\n"
			       "    Operator a [12,14) cpu 2 self 2 in Forward\n");
}

/* The first ask ends an epoch: it has no batch. */
Test(model_phase, between_two_epochs_there_is_no_forward)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_USER, "metrics", 12, 18);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "a", 32, 44);
	synth__step(&s, 0, 0, 50);
	synth__expect_tree(&s, "step 0 [0,50) cpu 50 D 20 F 20 B 0 O 0 other 10\n"
			       " track 1\n"
			       "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			       "  UserDefined metrics [12,18) cpu 6 self 6\n"
			       "  Dataloader next [20,30) cpu 10 self 10 in Dataloader\n"
			       "  Forward Forward [30,50) cpu 20 self 8 in Forward inferred\n"
			       "    Operator a [32,44) cpu 12 self 12 in Forward\n");
}

/* PyTorch's loader draws a seed for the next one. */
Test(model_phase, operators_that_begin_an_epoch_are_no_forward)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "empty", 12, 13);
	synth__span(&s, s.main, CAT_OPERATOR, "random_", 13, 14);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 20, 30);
	synth__span(&s, s.main, CAT_OPERATOR, "a", 30, 32);
	synth__step(&s, 0, 0, 50);
	synth__expect_tree(&s, "step 0 [0,50) cpu 50 D 20 F 20 B 0 O 0 other 10\n"
			       " track 1\n"
			       "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			       "  Operator empty [12,13) cpu 1 self 1\n"
			       "  Operator random_ [13,14) cpu 1 self 1\n"
			       "  Dataloader next [20,30) cpu 10 self 10 in Dataloader\n"
			       "  Forward Forward [30,50) cpu 20 self 18 in Forward inferred\n"
			       "    Operator a [30,32) cpu 2 self 2 in Forward\n");
}

/* A small network runs twice: both passes are some. */
Test(model_phase, a_short_forward_between_two_batches_is_one)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 12, 14);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 20, 30);
	for (uint64_t ns = 30; ns < 45; ns += 3)
		synth__span(&s, s.main, CAT_OPERATOR, "a", ns, ns + 2);
	synth__step(&s, 0, 0, 50);
	synth__expect_tree(&s, "step 0 [0,50) cpu 50 D 20 F 30 B 0 O 0 other 0\n"
			       " track 1\n"
			       "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			       "  Forward Forward [10,20) cpu 10 self 8 in Forward inferred\n"
			       "    Operator linear [12,14) cpu 2 self 2 in Forward\n"
			       "  Dataloader next [20,30) cpu 10 self 10 in Dataloader\n"
			       "  Forward Forward [30,50) cpu 20 self 10 in Forward inferred\n"
			       "    Operator a [30,32) cpu 2 self 2 in Forward\n"
			       "    Operator a [33,35) cpu 2 self 2 in Forward\n"
			       "    Operator a [36,38) cpu 2 self 2 in Forward\n"
			       "    Operator a [39,41) cpu 2 self 2 in Forward\n"
			       "    Operator a [42,44) cpu 2 self 2 in Forward\n");
}

Test(model_phase, a_step_that_opens_in_the_forward_ends_with_the_next_batch)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_OPERATOR, "a", 0, 10);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 40, 45);
	synth__step(&s, 0, 0, 50);
	synth__expect_tree(
		&s, "step 0 [0,50) cpu 50 D 5 F 45 B 0 O 0 other 0\n"
		    " track 1\n"
		    "  Forward Forward [0,40) cpu 40 self 30 in Forward inferred\n"
		    "    Operator a [0,10) cpu 10 self 10 in Forward\n"
		    "  Dataloader next [40,45) cpu 5 self 5 in Dataloader\n"
		    "  Forward Forward [45,50) cpu 5 self 5 in Forward inferred cut begin\n");
}

Test(model_phase, a_forward_that_the_framework_shows_is_taken)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_FORWARD, "forward", 10, 30);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__step(&s, 0, 0, 60);
	synth__expect_tree(&s, "step 0 [0,60) cpu 60 D 0 F 20 B 20 O 0 other 20\n"
			       " track 1\n"
			       "  Forward forward [10,30) cpu 20 self 20 in Forward\n"
			       "  Backward backward [40,60) cpu 20 self 20 in Backward\n");
}

Test(model_phase, only_the_outermost_phase_counts)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_BACKWARD, "reentrant", 45, 50);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__step(&s, 0, 40, 60);
	synth__expect_tree(&s, "step 0 [40,60) cpu 20 D 0 F 0 B 20 O 0 other 0\n"
			       " track 1\n"
			       "  Backward backward [40,60) cpu 20 self 15 in Backward\n"
			       "    Backward reentrant [45,50) cpu 5 self 5 in Backward\n");
}

Test(model_phase, without_steps_the_first_forward_has_no_known_begin)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_BACKWARD, "backward", 10, 20);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 30, 40);
	synth__expect_tree(&s, "no step\n"
			       " track 1\n"
			       "  Backward backward [10,20) cpu 10 self 10 in Backward\n"
			       "  Forward Forward [20,30) cpu 10 self 10 in Forward inferred\n"
			       "  Backward backward [30,40) cpu 10 self 10 in Backward\n");
}

Test(model_phase, without_steps_what_lies_before_the_first_zero_grad_is_no_forward)
{
	struct synth s = synth__new("{}");

	for (int i = 0; i < 4; i++)
		synth__span(&s, s.main, CAT_OPERATOR, "uniform_", 10 + 2 * i, 11 + 2 * i);
	synth__span(&s, s.main, CAT_ZERO_GRAD, "zero", 20, 22);
	synth__span(&s, s.main, CAT_OPERATOR, "linear", 24, 26);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 30, 40);
	synth__expect_tree(&s, "no step\n"
			       " track 1\n"
			       "  Operator uniform_ [10,11) cpu 1 self 1\n"
			       "  Operator uniform_ [12,13) cpu 1 self 1\n"
			       "  Operator uniform_ [14,15) cpu 1 self 1\n"
			       "  Operator uniform_ [16,17) cpu 1 self 1\n"
			       "  UserDefined zero [20,22) cpu 2 self 2\n"
			       "  Forward Forward [22,30) cpu 8 self 6 in Forward inferred\n"
			       "    Operator linear [24,26) cpu 2 self 2 in Forward\n"
			       "  Backward backward [30,40) cpu 10 self 10 in Backward\n");
}

/* A graph of any phases: those of its operators. */
static void graph_operators(struct synth *s)
{
	synth__span(s, s->main, CAT_DATALOADER, "next", 0, 10);
	synth__span(s, s->main, CAT_OPERATOR, "conv", 22, 30);
	synth__span(s, s->main, CAT_BACKWARD_NODE, "ConvGrad", 40, 45);
	synth__span(s, s->main, CAT_OPERATOR, "mul", 45, 47);
	synth__span(s, s->main, CAT_BACKWARD_NODE, "BiasGrad", 48, 50);
}

Test(model_phase, a_compiled_graph_has_the_phases_of_its_operators)
{
	struct synth s = synth__new("{}");

	graph_operators(&s);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "Adam", 60, 62);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "Adam", 64, 66);
	synth__span(&s, s.main, CAT_SCRIPT, "graph", 20, 80);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 10 F 20 B 10 O 6 other 54\n"
		    " track 1\n"
		    "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
		    "  Script graph [20,80) cpu 60 self 24\n"
		    "    Forward Forward [20,40) cpu 20 self 12 in Forward inferred\n"
		    "      Operator conv [22,30) cpu 8 self 8 in Forward\n"
		    "    Backward Backward [40,50) cpu 10 self 1 in Backward inferred\n"
		    "      Operator ConvGrad [40,45) cpu 5 self 5 in Backward\n"
		    "      Operator mul [45,47) cpu 2 self 2 in Backward\n"
		    "      Operator BiasGrad [48,50) cpu 2 self 2 in Backward\n"
		    "    Optimization Optimization [60,66) cpu 6 self 2 in Optimization inferred\n"
		    "      Operator Adam [60,62) cpu 2 self 2 in Optimization\n"
		    "      Operator Adam [64,66) cpu 2 self 2 in Optimization\n");
}

Test(model_phase, updates_between_gradients_do_not_begin_another_backward)
{
	struct synth s = synth__new("{}");
	char *tree;

	graph_operators(&s);
	synth__span(&s, s.main, CAT_OPTIMIZER_OP, "SGD", 60, 62);
	synth__span(&s, s.main, CAT_BACKWARD_NODE, "ConvGrad", 64, 66);
	synth__span(&s, s.main, CAT_SCRIPT, "graph", 20, 80);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	tree = synth__tree(&s, NULL);
	synth__expect_line(
		tree, "    Backward Backward [64,66) cpu 2 self 0 in Backward inferred cut begin");
	free(tree);
	synth__free(&s);
}

Test(model_phase, a_compiled_function_is_part_of_the_phase_around_it)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_REGION, "forward", 20, 80);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 10 F 90 B 0 O 0 other 0\n"
			       " track 1\n"
			       "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			       "  Forward Forward [10,100) cpu 90 self 30 in Forward inferred\n"
			       "    Script forward [20,80) cpu 60 self 60 in Forward\n");
}

Test(model_phase, what_a_graph_without_operators_did_is_not_known)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_SCRIPT, "graph", 20, 80);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 10 F 0 B 0 O 0 other 90\n"
			       " track 1\n"
			       "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
			       "  Script graph [20,80) cpu 60 self 60\n");
}

/* ---- operators by where they lie in their network ---- */

#define SCOPES                                                                                     \
	"{\"process\": {\"pid\": 100}, \"scopes\": [[\"Gradients/\", \"backward\"], "              \
	"[\"Default/optimizer-\", \"optimization\"], [\"Default/\", \"forward\"]]}"

static void in_full(struct synth *s, uint32_t track, enum span_category cat, const char *full,
		    uint64_t begin, uint64_t end)
{
	struct event e = synth__event(s, track, cat, "", begin, end);

	e.name = recording_writer__name(s->w, cat, strrchr(full, '/') + 1, full);
	synth__write(s, &e);
}

/* An operator of a gradient whose name tells nothing, one of the loss behind it, and an optimizer
 * with and without a place of its own. */
static void scoped_graph(struct synth *s, uint32_t track)
{
	in_full(s, track, CAT_OPERATOR, "Default/net/Conv2D", 22, 30);
	in_full(s, track, CAT_OPERATOR, "Expand/ReduceSum", 31, 33);
	in_full(s, track, CAT_OPERATOR, "Gradients/Default/net/MatMul", 40, 45);
	in_full(s, track, CAT_OPERATOR, "Default/net/Neg", 46, 48);
	in_full(s, track, CAT_BACKWARD_NODE, "Gradients/Default/net/ConvGrad", 50, 54);
	in_full(s, track, CAT_OPERATOR, "Default/Mul", 60, 62);
	in_full(s, track, CAT_OPTIMIZER_OP, "Default/Adam", 64, 66);
	in_full(s, track, CAT_OPERATOR, "Default/optimizer-Adam/Assign", 67, 68);
	in_full(s, track, CAT_OPERATOR, "Default/Print", 70, 71);
}

Test(model_phase, operators_of_a_graph_are_of_the_phase_that_their_full_names_tell)
{
	struct synth s = synth__new(SCOPES);

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	scoped_graph(&s, s.main);
	synth__span(&s, s.main, CAT_SCRIPT, "graph", 20, 80);
	synth__span(&s, s.main, CAT_OPERATOR, "Equal", 84, 86);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 10 F 15 B 9 O 8 other 58\n"
		    " track 1\n"
		    "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
		    "  Script graph [20,80) cpu 60 self 27\n"
		    "    Forward Forward [20,33) cpu 13 self 3 in Forward inferred\n"
		    "      Operator Conv2D [22,30) cpu 8 self 8 in Forward\n"
		    "      Operator ReduceSum [31,33) cpu 2 self 2 in Forward\n"
		    "    Backward Backward [40,45) cpu 5 self 0 in Backward inferred\n"
		    "      Operator MatMul [40,45) cpu 5 self 5 in Backward\n"
		    "    Forward Forward [46,48) cpu 2 self 0 in Forward inferred cut begin\n"
		    "      Operator Neg [46,48) cpu 2 self 2 in Forward\n"
		    "    Backward Backward [50,54) cpu 4 self 0 in Backward inferred cut begin\n"
		    "      Operator ConvGrad [50,54) cpu 4 self 4 in Backward\n"
		    "    Optimization Optimization [60,68) cpu 8 self 3 in Optimization inferred\n"
		    "      Operator Mul [60,62) cpu 2 self 2 in Optimization\n"
		    "      Operator Adam [64,66) cpu 2 self 2 in Optimization\n"
		    "      Operator Assign [67,68) cpu 1 self 1 in Optimization\n"
		    "    Operator Print [70,71) cpu 1 self 1\n"
		    "  Operator Equal [84,86) cpu 2 self 2\n");
}

Test(model_phase, an_evaluation_in_a_step_that_trains_is_of_none_of_its_phases)
{
	struct synth s = synth__new(SCOPES);

	in_full(&s, s.main, CAT_OPERATOR, "Default/net/Conv2D", 2, 4);
	synth__span(&s, s.main, CAT_EVALUATION, "eval", 1, 8);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 8, 10);
	in_full(&s, s.main, CAT_OPERATOR, "Default/net/Conv2D", 22, 30);
	in_full(&s, s.main, CAT_OPERATOR, "Gradients/Default/net/MatMul", 40, 45);
	synth__span(&s, s.main, CAT_SCRIPT, "train", 20, 80);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 2 F 10 B 5 O 0 other 83\n"
			       " track 1\n"
			       "  Script eval [1,8) cpu 7 self 5\n"
			       "    Operator Conv2D [2,4) cpu 2 self 2\n"
			       "  Dataloader next [8,10) cpu 2 self 2 in Dataloader\n"
			       "  Script train [20,80) cpu 60 self 45\n"
			       "    Forward Forward [20,30) cpu 10 self 2 in Forward inferred\n"
			       "      Operator Conv2D [22,30) cpu 8 self 8 in Forward\n"
			       "    Backward Backward [40,45) cpu 5 self 0 in Backward inferred\n"
			       "      Operator MatMul [40,45) cpu 5 self 5 in Backward\n");
}

Test(model_phase, a_graph_that_another_thread_executes_has_the_phases_of_its_operators)
{
	struct synth s = synth__new(SCOPES);

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_SCRIPT, "graph", 15, 25);
	scoped_graph(&s, s.other);
	synth__span(&s, s.other, CAT_SCRIPT, "run", 20, 80);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(
		&s, "step 0 [0,100) cpu 100 D 10 F 20 B 9 O 8 other 53\n"
		    " track 1\n"
		    "  Dataloader next [0,10) cpu 10 self 10 in Dataloader\n"
		    "  Forward Forward [15,33) cpu 18 self 8 in Forward inferred\n"
		    "    Script graph [15,25) cpu 10 self 10 in Forward\n"
		    "  Backward Backward [40,45) cpu 5 self 5 in Backward inferred\n"
		    "  Forward Forward [46,48) cpu 2 self 2 in Forward inferred cut begin\n"
		    "  Backward Backward [50,54) cpu 4 self 4 in Backward inferred cut begin\n"
		    "  Optimization Optimization [60,68) cpu 8 self 8 in Optimization inferred\n"
		    " track 2\n"
		    "  Script run [20,80) cpu 60 self 33 in Forward\n"
		    "    Operator Conv2D [22,30) cpu 8 self 8 in Forward\n"
		    "    Operator ReduceSum [31,33) cpu 2 self 2 in Forward\n"
		    "    Operator MatMul [40,45) cpu 5 self 5 in Backward\n"
		    "    Operator Neg [46,48) cpu 2 self 2 in Forward\n"
		    "    Operator ConvGrad [50,54) cpu 4 self 4 in Backward\n"
		    "    Operator Mul [60,62) cpu 2 self 2 in Optimization\n"
		    "    Operator Adam [64,66) cpu 2 self 2 in Optimization\n"
		    "    Operator Assign [67,68) cpu 1 self 1 in Optimization\n"
		    "    Operator Print [70,71) cpu 1 self 1\n");
}

Test(model_phase, an_evaluation_that_another_thread_executes_is_of_no_phase_either)
{
	struct synth s = synth__new(SCOPES);

	synth__span(&s, s.main, CAT_EVALUATION, "eval", 2, 12);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 14, 16);
	synth__span(&s, s.main, CAT_SCRIPT, "train", 20, 80);
	in_full(&s, s.other, CAT_OPERATOR, "Default/net/Conv2D", 4, 10);
	in_full(&s, s.other, CAT_OPERATOR, "Default/net/Conv2D", 22, 30);
	in_full(&s, s.other, CAT_OPERATOR, "Gradients/Default/net/MatMul", 40, 45);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 2 F 10 B 5 O 0 other 83\n"
			       " track 1\n"
			       "  Script eval [2,12) cpu 10 self 10\n"
			       "  Dataloader next [14,16) cpu 2 self 2 in Dataloader\n"
			       "  Script train [20,80) cpu 60 self 45\n"
			       "    Forward Forward [20,30) cpu 10 self 10 in Forward inferred\n"
			       "    Backward Backward [40,45) cpu 5 self 5 in Backward inferred\n"
			       " track 2\n"
			       "  Operator Conv2D [4,10) cpu 6 self 6\n"
			       "  Operator Conv2D [22,30) cpu 8 self 8 in Forward\n"
			       "  Operator MatMul [40,45) cpu 5 self 5 in Backward\n");
}

Test(model_phase, a_graph_that_is_called_here_and_executed_there_has_its_phases)
{
	struct synth s = synth__new(SCOPES);
	char *tree;

	synth__span(&s, s.main, CAT_DATALOADER, "next", 0, 10);
	synth__span(&s, s.main, CAT_SCRIPT, "graph", 15, 80);
	scoped_graph(&s, s.other);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	tree = synth__tree(&s, NULL);
	synth__expect_line(tree, "step 0 [0,100) cpu 100 D 10 F 20 B 9 O 8 other 53");
	free(tree);
	synth__free(&s);
}

/* The threads that execute it, without full names: gradients and updates by their names. */
static void gradients(struct synth *s)
{
	synth__span(s, s->other, CAT_OPERATOR, "conv", 22, 30);
	synth__span(s, s->other, CAT_BACKWARD_NODE, "mean_grad", 40, 45);
	synth__span(s, s->other, CAT_BACKWARD_NODE, "conv_grad", 46, 60);
}

Test(model_phase, a_graph_that_several_threads_execute_has_the_phases_of_its_operators)
{
	struct synth s = synth__new("{}");
	uint32_t third = synth__thread(&s, 100, 103, "third");
	char *tree;

	synth__span(&s, s.main, CAT_SCRIPT, "graph", 15, 80);
	gradients(&s);
	synth__span(&s, s.other, CAT_OPTIMIZER_OP, "adam_", 62, 66);
	synth__span(&s, third, CAT_OPTIMIZER_OP, "adam_", 47,
		    70); /* while gradients are computed */
	synth__span(&s, third, CAT_OPTIMIZER_OP, "adam_", 71, 73);
	synth__span(&s, third, CAT_BACKWARD_NODE, "of_no_graph", 90, 95);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	tree = synth__tree(&s, NULL);
	synth__expect_line(tree, "step 0 [0,100) cpu 100 D 0 F 25 B 20 O 11 other 44");
	synth__expect_line(tree, "    Forward Forward [15,40) cpu 25 self 25 in Forward inferred");
	synth__expect_line(tree,
			   "    Backward Backward [40,60) cpu 20 self 20 in Backward inferred");
	synth__expect_line(tree, "  Operator adam_ [47,70) cpu 23 self 23 in Backward");
	synth__expect_line(tree, "  Operator adam_ [71,73) cpu 2 self 2 in Optimization");
	free(tree);
	synth__free(&s);
}

Test(model_phase, gradients_of_a_pass_that_another_thread_shows_are_not_those_of_a_graph)
{
	struct synth s = synth__new("{}");
	uint32_t third = synth__thread(&s, 100, 103, "third");
	char *tree;

	synth__span(&s, s.main, CAT_SCRIPT, "served", 15, 80);
	gradients(&s);
	synth__span(&s, third, CAT_BACKWARD, "backward", 35, 70);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	tree = synth__tree(&s, NULL);
	synth__expect_line(tree, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 0 other 100");
	free(tree);
	synth__free(&s);
}

/* Events of the step's own thread stay where they are. The previous step's graph still runs. */
Test(model_phase, operators_of_another_thread_take_no_time_of_a_phase_that_shows_itself)
{
	struct synth s = synth__new(SCOPES);
	char *tree;

	synth__span(&s, s.main, CAT_SCRIPT, "graph", 5, 15);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 35, 42);
	scoped_graph(&s, s.other);
	synth__span(&s, s.other, CAT_SCRIPT, "run", 20, 80);
	synth__step(&s, 0, 0, 100);
	synth__open(&s, NULL);
	tree = synth__tree(&s, NULL);
	synth__expect_line(tree, "  Forward Forward [5,33) cpu 28 self 18 in Forward inferred");
	synth__expect_line(tree, "  Dataloader next [35,42) cpu 7 self 7 in Dataloader");
	synth__expect_line(tree, "  Backward Backward [50,54) cpu 4 self 4 in Backward inferred");
	free(tree);
	synth__free(&s);
}

/* Without gradients in a graph, only its operators' names decide. */
Test(model_phase, full_names_alone_make_no_phase)
{
	struct synth s = synth__new(SCOPES);

	in_full(&s, s.main, CAT_OPERATOR, "Default/net/Conv2D", 22, 30);
	synth__span(&s, s.main, CAT_SCRIPT, "graph", 20, 80);
	synth__span(&s, s.main, CAT_OPTIMIZER, "optimizer", 85, 90);
	synth__step(&s, 0, 0, 100);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 0 F 0 B 0 O 5 other 95\n"
			       " track 1\n"
			       "  Script graph [20,80) cpu 60 self 52\n"
			       "    Operator Conv2D [22,30) cpu 8 self 8\n"
			       "  Optimization optimizer [85,90) cpu 5 self 5 in Optimization\n");
}

/* The range counts in the step in which it ends. Its phases count where they are. */
Test(model_phase, phases_in_a_range_that_ends_in_the_next_step)
{
	struct synth s = synth__new("{}");

	synth__span(&s, s.main, CAT_FORWARD, "forward", 10, 40);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 40, 60);
	synth__span(&s, s.main, CAT_OPERATOR, "add_", 74, 76);
	synth__span(&s, s.main, CAT_OPTIMIZER, "step", 72, 90);
	synth__step(&s, 0, 0, 100);
	synth__span(&s, s.main, CAT_DATALOADER, "next", 100, 110);
	synth__span(&s, s.main, CAT_USER, "update_and_fetch", 70, 130);
	synth__span(&s, s.main, CAT_FORWARD, "forward", 130, 150);
	synth__span(&s, s.main, CAT_BACKWARD, "backward", 150, 160);
	synth__step(&s, 1, 100, 200);
	synth__expect_tree(&s, "step 0 [0,100) cpu 100 D 0 F 30 B 20 O 18 other 32\n"
			       " track 1\n"
			       "  Forward forward [10,40) cpu 30 self 30 in Forward\n"
			       "  Backward backward [40,60) cpu 20 self 20 in Backward\n"
			       "step 1 [100,200) cpu 100 D 10 F 20 B 10 O 0 other 60\n"
			       " track 1\n"
			       "  UserDefined update_and_fetch [70,130) cpu 60 self 32\n"
			       "    Optimization step [72,90) cpu 18 self 16 in Optimization\n"
			       "      Operator add_ [74,76) cpu 2 self 2 in Optimization\n"
			       "    Dataloader next [100,110) cpu 10 self 10 in Dataloader\n"
			       "  Forward forward [130,150) cpu 20 self 20 in Forward\n"
			       "  Backward backward [150,160) cpu 10 self 10 in Backward\n");
}

// SPDX-License-Identifier: BSD-2-Clause
#include "capture/steps/steps.h"
#include "common/util.h"

#define SECOND 1000000000ull

/* A row holds if each count is within its bounds. The first row that holds decides. */
struct rule_row {
	struct {
		uint8_t name_class;
		uint64_t min, max; /* counts since attach; max 0: none seen */
	} when[4];
	uint64_t min_elapsed_ns;
	struct step_rule rule;
	/* at least half of the passes have several optimizer steps behind them */
	bool several;
	uint64_t min_updated; /* fewest passes with an optimizer step behind them */
};

#define ANY UINT64_MAX

static const struct rule_row rule_rows[] = {
	{{{PT_CLASS_PROFILER_STEP, 1, ANY}},
	 0,
	 {PT_CLASS_PROFILER_STEP, false, PT_CLASS_NONE, 0, "profiler step",
	  "each step opens at the framework profiler's own step range"}},
	{{{PT_CLASS_DATALOADER, 2, ANY}, {PT_CLASS_OPTIMIZER, 1, ANY}},
	 0,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_OPTIMIZER, 0, "DataLoader",
	  "each step opens where the data loader is asked for the first batch after an optimizer "
	  "step"}},
	/* Frameworks that show the forward pass, but their optimizers only as operators. */
	{{{PT_CLASS_DATALOADER, 2, ANY},
	  {PT_CLASS_FORWARD, 1, ANY},
	  {PT_CLASS_BACKWARD, 1, ANY},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 0,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_BACKWARD, 0, "DataLoader",
	  "each step opens where the data loader is asked for the first batch after a backward "
	  "pass"}},
	{{{PT_CLASS_FORWARD, 3, ANY},
	  {PT_CLASS_BACKWARD, 2, ANY},
	  {PT_CLASS_DATALOADER, 0, 1},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 0,
	 {PT_CLASS_FORWARD, false, PT_CLASS_BACKWARD, 0, "forward pass",
	  "each step opens where the first forward pass after a backward pass begins"}},
	{{{PT_CLASS_FORWARD, 8, ANY},
	  {PT_CLASS_BACKWARD, 0, 0},
	  {PT_CLASS_DATALOADER, 0, 1},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 2 * SECOND,
	 {PT_CLASS_FORWARD, false, PT_CLASS_NONE, 0, "forward pass",
	  "no call of a data loader and no backward pass was seen; each step opens where a forward "
	  "pass begins"}},
	/* Each update is by several optimizers, for example Muon beside AdamW. */
	{{{PT_CLASS_OPTIMIZER, 4, ANY}, {PT_CLASS_BACKWARD, 4, ANY}, {PT_CLASS_DATALOADER, 0, 0}},
	 0,
	 {PT_CLASS_OPTIMIZER, false, PT_CLASS_BACKWARD, 0, "Optimizer.step",
	  "no data loader was seen, and several optimizer steps behind a backward pass; each step "
	  "opens where the first of them begins"},
	 true},
	{{{PT_CLASS_OPTIMIZER, 24, ANY}, {PT_CLASS_BACKWARD, 3, ANY}, {PT_CLASS_DATALOADER, 0, 1}},
	 0,
	 {PT_CLASS_OPTIMIZER, false, PT_CLASS_BACKWARD, 0, "Optimizer.step",
	  "the data loader was asked once at most, and several optimizer steps followed a backward "
	  "pass; each step opens where the first of them begins"},
	 true},
	/* A step may have several optimizer steps before the next loader next, one for each
	 * optimizer or parameter. Or it may have several passes before an update, some inside
	 * others (checkpoints). */
	{{{PT_CLASS_OPTIMIZER, 4, ANY}, {PT_CLASS_BACKWARD, 4, ANY}, {PT_CLASS_DATALOADER, 0, 0}},
	 0,
	 {PT_CLASS_OPTIMIZER, true, PT_CLASS_NONE, 0, "Optimizer.step",
	  "no data loader was seen; each step opens where an optimizer step ends"},
	 false,
	 4},
	{{{PT_CLASS_OPTIMIZER, 24, ANY}, {PT_CLASS_DATALOADER, 0, 1}},
	 0,
	 {PT_CLASS_OPTIMIZER, true, PT_CLASS_NONE, 0, "Optimizer.step",
	  "the data loader was asked once at most; each step opens where an optimizer step ends"}},
	/* Compiled graphs do all of a step but its batch. Runs of graphs that evaluate between
	 * steps are no steps. */
	{{{PT_CLASS_DATALOADER, 2, ANY},
	  {PT_CLASS_GRAPH, 1, ANY},
	  {PT_CLASS_EVALUATION, 1, ANY},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 0,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_GRAPH, 0, "data loader",
	  "each step opens where the data loader is asked for the first batch after a run of a "
	  "compiled graph that does not evaluate"}},
	{{{PT_CLASS_DATALOADER, 4, ANY},
	  {PT_CLASS_EVALUATION, 3, ANY},
	  {PT_CLASS_GRAPH, 0, 0},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 2 * SECOND,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_EVALUATION, 0, "data loader",
	  "each step opens where the data loader is asked for the first batch after a run of a "
	  "compiled graph; all of them evaluated"}},
	{{{PT_CLASS_DATALOADER, 4, ANY},
	  {PT_CLASS_GRAPH, 3, ANY},
	  {PT_CLASS_OPTIMIZER, 0, 0},
	  {PT_CLASS_BACKWARD, 0, 0}},
	 0,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_GRAPH, 0, "data loader",
	  "each step opens where the data loader is asked for the first batch after a run of a "
	  "compiled graph"}},
	{{{PT_CLASS_DATALOADER, 4, ANY},
	  {PT_CLASS_GRADIENTS, 3, ANY},
	  {PT_CLASS_GRAPH, 0, 0},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 0,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_GRADIENTS, 0, "data loader",
	  "each step opens where the data loader is asked for the first batch after a run of a "
	  "compiled graph"}},
	/* One graph computes gradients, another one updates. */
	{{{PT_CLASS_GRADIENTS, 3, ANY},
	  {PT_CLASS_GRAPH, 2, ANY},
	  {PT_CLASS_DATALOADER, 0, 0},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 0,
	 {PT_CLASS_GRADIENTS, false, PT_CLASS_GRAPH, 0, "compiled graph",
	  "no data loader was seen; each step opens where the compiled graph of gradients begins, "
	  "after a run of another one"}},
	{{{PT_CLASS_GRADIENTS, 4, ANY},
	  {PT_CLASS_GRAPH, 0, 1},
	  {PT_CLASS_DATALOADER, 0, 0},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 2 * SECOND,
	 {PT_CLASS_GRADIENTS, false, PT_CLASS_NONE, 0, "compiled graph",
	  "no data loader was seen; each step opens where a compiled graph of gradients begins"}},
	{{{PT_CLASS_GRAPH, 4, ANY},
	  {PT_CLASS_DATALOADER, 0, 0},
	  {PT_CLASS_OPTIMIZER, 0, 0},
	  {PT_CLASS_BACKWARD, 0, 0}},
	 2 * SECOND,
	 {PT_CLASS_GRAPH, false, PT_CLASS_NONE, 0, "compiled graph",
	  "no data loader was seen; each step opens where a compiled graph begins"}},
	/* A backward pass and a compiled graph in turn: the graph is the optimizer step. */
	{{{PT_CLASS_DATALOADER, 2, ANY}, {PT_CLASS_BACKWARD, 1, ANY}, {PT_CLASS_GRAPH, 1, ANY}},
	 0,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_BACKWARD, 0, "data loader",
	  "each step opens where the data loader is asked for the first batch after a backward "
	  "pass"}},
	/* A data loader, and an optimizer that shows only as operators, one for each parameter. */
	{{{PT_CLASS_DATALOADER, 2, ANY}, {PT_CLASS_OPTIMIZER_OP, 1, ANY}},
	 0,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_OPTIMIZER_OP, 0, "DataLoader",
	  "each step opens where the data loader is asked for the first batch after an optimizer "
	  "step"}},
	{{{PT_CLASS_OPTIMIZER_OP, 1, ANY},
	  {PT_CLASS_BACKWARD, 3, ANY},
	  {PT_CLASS_DATALOADER, 0, 1}},
	 0,
	 {PT_CLASS_OPTIMIZER_OP, false, PT_CLASS_BACKWARD, 0, "optimizer operators",
	  "no data loader was seen; each step opens where the optimizer begins behind a backward "
	  "pass"}},
	/* Inference loads batches and trains nothing. Or an evaluation runs between steps. */
	{{{PT_CLASS_DATALOADER, 4, ANY}, {PT_CLASS_OPTIMIZER, 0, 0}, {PT_CLASS_BACKWARD, 0, 0}},
	 2 * SECOND,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_NONE, 0, "DataLoader",
	  "each step opens where the data loader is asked for a batch; no backward pass was seen"}},
	/* Backward passes, but no optimizer yet: gradient accumulation, or an optimizer that we
	 * cannot see. A loader next without a backward pass is no step: it ends an epoch. */
	{{{PT_CLASS_DATALOADER, 4, ANY}, {PT_CLASS_BACKWARD, 2, ANY}, {PT_CLASS_OPTIMIZER, 0, 0}},
	 10 * SECOND,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_BACKWARD, 0, "DataLoader",
	  "each step opens where the data loader is asked for the first batch after a backward "
	  "pass; no optimizer step was seen"}},
	{{{PT_CLASS_DATALOADER, 80, ANY}, {PT_CLASS_BACKWARD, 80, ANY}, {PT_CLASS_OPTIMIZER, 0, 0}},
	 3 * SECOND,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_BACKWARD, 0, "DataLoader",
	  "each step opens where the data loader is asked for the first batch after a backward "
	  "pass; no optimizer step was seen"}},
	{{{PT_CLASS_DATALOADER, 4, ANY}, {PT_CLASS_OPTIMIZER, 0, 0}},
	 10 * SECOND,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_NONE, 0, "DataLoader",
	  "each step opens where the data loader is asked for a batch; no optimizer step was "
	  "seen"}},
	{{{PT_CLASS_DATALOADER, 80, ANY}, {PT_CLASS_OPTIMIZER, 0, 0}, {PT_CLASS_EVALUATION, 0, 0}},
	 3 * SECOND,
	 {PT_CLASS_DATALOADER, false, PT_CLASS_NONE, 0, "DataLoader",
	  "each step opens where the data loader is asked for a batch; no optimizer step was "
	  "seen"}},
	/* The program's own iteration ranges, if nothing shows that it trains. */
	{{{PT_CLASS_ITERATION, 2, ANY},
	  {PT_CLASS_DATALOADER, 0, 0},
	  {PT_CLASS_OPTIMIZER, 0, 0},
	  {PT_CLASS_BACKWARD, 0, 0}},
	 SECOND,
	 {PT_CLASS_ITERATION, false, PT_CLASS_NONE, 0, "frame",
	  "each step opens where the program begins a frame (proftrace.h)"}},
	{{{PT_CLASS_BACKWARD, 3, ANY},
	  {PT_CLASS_FORWARD, 0, 0},
	  {PT_CLASS_DATALOADER, 0, 0},
	  {PT_CLASS_OPTIMIZER, 0, 0}},
	 2 * SECOND,
	 {PT_CLASS_BACKWARD, true, PT_CLASS_NONE, 0, "backward",
	  "neither data loader nor optimizer was seen; each step opens where a backward pass "
	  "ends"}},
};

#define EVALUATES 4 /* loader nexts without a backward pass */

void step_evidence__note_evaluation(struct step_evidence *e, uint64_t *asks)
{
	const uint64_t now = e->seen[PT_CLASS_DATALOADER];

	if (!e->seen[PT_CLASS_BACKWARD]) {
		*asks = now;
		return;
	}
	if (*asks >= EVALUATES)
		e->evaluated = now;
	*asks = 0;
}

/* All loader nexts of an evaluation count as one. They may include the training's first loader
 * next. */
static uint64_t loader_next_of_training(const struct step_evidence *e)
{
	const uint64_t seen = e->seen[PT_CLASS_DATALOADER];

	if (e->loads_elsewhere)
		return 0;
	return e->evaluated ? 1 + seen - e->evaluated : seen;
}

/* Passes with an optimizer step behind them. A pass that ended before the attach counts, too. */
static uint64_t passes_updated(const struct step_evidence *e)
{
	const uint64_t updates = e->seen[PT_CLASS_OPTIMIZER];

	return updates > e->updates_again ? updates - e->updates_again : 0;
}

static bool row_holds(const struct rule_row *row, const struct step_evidence *e)
{
	if (e->elapsed_ns < row->min_elapsed_ns)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(row->when) && row->when[i].name_class; i++) {
		const uint32_t name_class = row->when[i].name_class;
		const uint64_t seen = name_class == PT_CLASS_DATALOADER ? loader_next_of_training(e)
									: e->seen[name_class];

		if (seen < row->when[i].min || seen > row->when[i].max)
			return false;
	}
	return passes_updated(e) >= row->min_updated &&
	       (!row->several || 2 * e->updates_again >= passes_updated(e));
}

bool step_rule__decide(const struct step_evidence *e, struct step_rule *rule)
{
	static const struct step_rule range = {
		PT_CLASS_USER_STEP, false,
		PT_CLASS_NONE,	    0,
		"--step-range",	    "each step opens at the range you named"};
	static const struct step_rule probe = {
		PT_CLASS_STEP_PROBE, false,
		PT_CLASS_NONE,	     0,
		"--step-probe",	     "each step opens at the function you named"};

	if (e->user_range || e->user_probe) {
		*rule = e->user_range ? range : probe;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rule_rows); i++) {
		if (!row_holds(&rule_rows[i], e))
			continue;
		*rule = rule_rows[i].rule;
		rule->why = &rule_rows[i];
		if (e->loads_elsewhere && rule->boundary == PT_CLASS_OPTIMIZER && rule->at_end)
			rule->explain = "another thread asks the data loader; each step opens "
					"where an optimizer step ends";
		else if (e->evaluated && rule->boundary == PT_CLASS_OPTIMIZER && rule->at_end)
			rule->explain = "an evaluation alone asked the data loader; each step "
					"opens where an optimizer step ends";
		return true;
	}
	return false;
}

struct step_rule step_rule__iterations(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(rule_rows); i++)
		if (rule_rows[i].rule.boundary == PT_CLASS_ITERATION)
			return rule_rows[i].rule;
	return (struct step_rule){0};
}

bool step_rule__is_refuted_by(const struct step_rule *rule, const __u64 *seen,
			      enum pt_name_class name_class)
{
	for (size_t i = 0; rule->why && i < ARRAY_SIZE(rule->why->when); i++)
		if (rule->why->when[i].name_class == name_class)
			return seen[name_class] > rule->why->when[i].max;
	return false;
}

bool step_rule__is_refuted(const struct step_rule *rule, const __u64 *seen)
{
	for (uint32_t c = 1; c < PT_CLASS_CNT; c++)
		if (c != PT_CLASS_DATALOADER && step_rule__is_refuted_by(rule, seen, c))
			return true;
	return false;
}

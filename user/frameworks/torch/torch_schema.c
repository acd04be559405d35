// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "common/util.h"
#include "frameworks/itanium.h"
#include "frameworks/torch/torch_schema.h"

/* How a C++ type of at::_ops is passed (System V ABI, section 3.2.3). */
struct passing {
	uint8_t ints;  /* number of general registers, or of stack words if too few registers are
			  left */
	uint8_t sses;  /* number of vector registers */
	uint8_t stack; /* number of words that are always on the stack: class MEMORY, trivially
			  copyable */
};

/* How to read the number in an argument of the type: an enum pt_arg_kind each for plain, optional,
 * in a list, and in an optional list. 0: not read. */
struct reading {
	uint8_t value, opt, list, opt_list;
};
#define READ_INT  {PT_ARG_INT, PT_ARG_OPT_INT, PT_ARG_INTS, PT_ARG_OPT_INTS}
#define READ_BYTE {PT_ARG_BYTE, PT_ARG_OPT_BYTE, 0, 0}

/*
 * Schema types by name; `value` is plain, `opt` has a '?'. Types with a destructor (Tensor, SymInt,
 * Scalar, Generator...) are passed by address, optional or not. std::optional<T> of a trivial T is
 * T and a flag: two eightbytes for int64_t and double, one for smaller types, three (so memory) for
 * str.
 */
static const struct schema_type {
	const char *name;
	struct passing value, opt;
	char mangled;	  /* mangled letter of the builtin type, 0 if it has none */
	bool in_register; /* a plain result needs no memory from the caller */
	struct reading reading;
} schema_types[] = {
	{"Tensor", {1, 0, 0}, {1, 0, 0}, 0, false},
	{"int", {1, 0, 0}, {2, 0, 0}, 'l', true, READ_INT},
	{"float", {0, 1, 0}, {1, 1, 0}, 'd', true, {0, 0, PT_ARG_FLOATS, PT_ARG_OPT_FLOATS}},
	{"bool", {1, 0, 0}, {1, 0, 0}, 'b', true, {PT_ARG_BOOL, PT_ARG_OPT_BOOL, 0, 0}},
	{"Scalar", {1, 0, 0}, {1, 0, 0}, 0, false, {PT_ARG_SCALAR, PT_ARG_OPT_SCALAR, 0, 0}},
	{"SymInt",
	 {1, 0, 0},
	 {1, 0, 0},
	 0,
	 false,
	 {PT_ARG_INT_AT, PT_ARG_OPT_INT_AT, PT_ARG_INTS, PT_ARG_OPT_INTS}},
	{"SymBool", {1, 0, 0}, {1, 0, 0}, 0, false},
	{"ScalarType", {1, 0, 0}, {1, 0, 0}, 0, true, READ_BYTE},
	{"Layout", {1, 0, 0}, {1, 0, 0}, 0, true, READ_BYTE},
	{"Device", {1, 0, 0}, {1, 0, 0}, 0, true},
	{"DeviceIndex", {1, 0, 0}, {1, 0, 0}, 'a', true},
	{"MemoryFormat", {1, 0, 0}, {1, 0, 0}, 0, true, READ_BYTE},
	{"QScheme", {1, 0, 0}, {1, 0, 0}, 0, true},
	{"Generator", {1, 0, 0}, {1, 0, 0}, 0, false},
	{"Storage", {1, 0, 0}, {1, 0, 0}, 0, false},
	{"ConstQuantizerPtr", {1, 0, 0}, {1, 0, 0}, 0, false},
	{"Dimname", {1, 0, 0}, {2, 0, 0}, 0, false},
	{"str", {2, 0, 0}, {0, 0, 3}, 0, false},
	{"Stream", {2, 0, 0}, {0, 0, 3}, 0, false},
};

/* One argument: the name of its type, and what follows it. */
struct schema_arg {
	const struct schema_type *type; /* NULL if unknown */
	bool is_list;			/* [] */
	bool opt_element;		/* T?[] */
	bool opt;			/* T? or T[]? */
	unsigned int list_size;		/* N of T[N], 0 if none */
};

static bool is_ident(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static size_t ident_len(const char *p, const char *end)
{
	const char *q = p;

	while (q < end && is_ident(*q))
		q++;
	return (size_t)(q - p);
}

/* The ')' that closes the '(' at p; NULL if none. */
static const char *closing(const char *p, const char *end)
{
	int depth = 0;

	for (; p < end; p++) {
		if (*p == '(')
			depth++;
		else if (*p == ')' && --depth == 0)
			return p;
	}
	return NULL;
}

int torch_schema__parse(const char *text, size_t len, struct torch_schema *s)
{
	static const char arrow[] = ") -> ";
	const char *end = text + len, *p = text, *close;
	size_t n;

	memset(s, 0, sizeof(*s));
	n = ident_len(p, end);
	if (!n)
		return -EINVAL;
	p += n;
	while (end - p > 2 && p[0] == ':' && p[1] == ':') {
		s->prefixed = true;
		n = ident_len(p + 2, end);
		if (!n)
			return -EINVAL;
		p += 2 + n;
	}
	s->name = (struct text_span){text, (size_t)(p - text)};
	if (p < end && *p == '.') {
		n = ident_len(p + 1, end);
		s->overload = (struct text_span){p + 1, n};
		p += 1 + n;
	}
	if (p == end || *p != '(')
		return -EINVAL;
	close = closing(p, end);
	if (!close || (size_t)(end - close) < sizeof(arrow) - 1 ||
	    memcmp(close, arrow, sizeof(arrow) - 1))
		return -EINVAL;
	s->args = (struct text_span){p + 1, (size_t)(close - p - 1)};
	s->returns.p = close + sizeof(arrow) - 1;
	s->returns.len = (size_t)(end - s->returns.p);
	return s->returns.len ? 0 : -EINVAL;
}

/* Takes the next item of a comma-separated list. Brackets group, blanks are trimmed. False at the
 * end. */
static bool next_item(struct text_span *list, struct text_span *item)
{
	const char *p = list->p, *end = p + list->len;
	int depth = 0;

	while (p < end && *p == ' ')
		p++;
	if (p == end)
		return false;
	item->p = p;
	for (; p < end; p++) {
		if (*p == '(' || *p == '[')
			depth++;
		else if (*p == ')' || *p == ']')
			depth--;
		else if (*p == ',' && depth <= 0)
			break;
	}
	item->len = (size_t)(p - item->p);
	while (item->len && item->p[item->len - 1] == ' ')
		item->len--;
	if (p < end)
		p++;
	*list = (struct text_span){p, (size_t)(end - p)};
	return true;
}

static const struct schema_type *type_by_name(const char *p, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(schema_types); i++)
		if (strlen(schema_types[i].name) == len && !memcmp(schema_types[i].name, p, len))
			return &schema_types[i];
	return NULL;
}

/* Parses "Tensor(a!)?[3] name=default": the type's name, then alias set, '?' and '[N]' in any
 * order. */
static struct schema_arg parse_arg(struct text_span item)
{
	const char *p = item.p, *end = p + item.len, *close;
	size_t n = ident_len(p, end);
	struct schema_arg arg = {.type = type_by_name(p, n)};

	for (p += n; p < end && *p != ' '; p++) {
		switch (*p) {
		case '(': /* an alias set does not change how the argument is passed */
			close = closing(p, end);
			p = close ? close : end - 1;
			break;
		case '?':
			arg.opt = true;
			break;
		case '[':
			arg.opt_element = arg.opt;
			arg.opt = false;
			arg.is_list = true;
			while (p + 1 < end && isdigit((unsigned char)p[1]) && arg.list_size < 1000)
				arg.list_size = arg.list_size * 10 + (unsigned int)(*++p - '0');
			break;
		case ']':
			break;
		default:
			arg.type = NULL;
			return arg;
		}
	}
	return arg;
}

/* "*": the arguments after it are passed by keyword. */
static bool is_marker(struct text_span item)
{
	return item.len == 1 && item.p[0] == '*';
}

static bool is_tensor(const struct schema_arg *arg)
{
	return arg->type == &schema_types[0] && !arg->is_list;
}

/* For an argument that is no tensor. A type that is passed by address without need is not read. */
static uint8_t number_kind(const struct schema_arg *arg, const char *mangled)
{
	const struct reading *r = &arg->type->reading;
	uint8_t kind = arg->opt ? r->opt : r->value;

	if (arg->opt_element)
		return PT_ARG_NONE;
	if (arg->is_list && arg->type->mangled == 'b')
		kind = arg->list_size && arg->list_size < 8 && !arg->opt
			       ? (uint8_t)(PT_ARG_BOOLS | arg->list_size << PT_ARG_CNT_SHIFT)
			       : PT_ARG_NONE;
	else if (arg->is_list)
		kind = arg->opt ? r->opt_list : r->list;
	if (kind == PT_ARG_SCALAR || kind == PT_ARG_OPT_SCALAR)
		return kind;
	return mangled && strchr("ROP", *mangled) ? PT_ARG_NONE : kind;
}

/* An enum pt_arg_kind; `mangled` as below. Kineto does not count a list of optional tensors as
 * tensors. */
static uint8_t arg_kind(const struct schema_arg *arg, const char *mangled)
{
	if (is_tensor(arg))
		return arg->opt ? PT_ARG_OPT_TENSOR : PT_ARG_TENSOR;
	if (arg->type != &schema_types[0])
		return number_kind(arg, mangled);
	if (arg->opt || arg->opt_element)
		return PT_ARG_NONE;
	return mangled && *mangled == 'R' ? PT_ARG_TENSORS_REF : PT_ARG_TENSORS;
}

/* `mangled` is the parameter's type, NULL if it is unknown. */
static struct passing arg_passing(const struct schema_arg *arg, const char *mangled,
				  bool own_optional)
{
	/* lists of structured kernels are const IListRef<Tensor> &; most others are passed by
	 * value */
	if (mangled && (*mangled == 'R' || *mangled == 'O' || *mangled == 'P'))
		return (struct passing){.ints = 1};
	if (!arg->is_list)
		return arg->opt ? arg->type->opt : arg->type->value;
	if (arg->opt) /* optional<ArrayRef<T>> is pointer, length and flag (no flag in
			 c10::optional) */
		return own_optional ? (struct passing){.ints = 2} : (struct passing){.stack = 3};
	if (arg->opt_element) /* c10::List<optional<T>> const & */
		return (struct passing){.ints = 1};
	if (arg->type->mangled == 'b' && arg->list_size) { /* std::array<bool, N> by value */
		uint8_t words = (uint8_t)((arg->list_size + 7) / 8);

		return words <= 2 ? (struct passing){.ints = words}
				  : (struct passing){.stack = words};
	}
	return (struct passing){.ints = 2}; /* ArrayRef<T> is pointer and length */
}

/* The results, without the parentheses around several. */
static struct text_span results(struct text_span returns)
{
	if (!returns.len || returns.p[0] != '(')
		return returns;
	returns.p++;
	returns.len--;
	if (returns.len && returns.p[returns.len - 1] == ')')
		returns.len--;
	return returns;
}

/* Is the result returned in the caller's memory? Numbers and references are returned in registers.
 * A tuple is never trivially copyable in libstdc++. */
static bool returns_in_memory(struct text_span returns)
{
	struct text_span list = results(returns);
	struct schema_arg arg;

	if (!next_item(&list, &returns))
		return false; /* "()" is void */
	if (next_item(&list, &(struct text_span){NULL, 0}))
		return true;
	arg = parse_arg(returns);
	if (!arg.type || arg.is_list || arg.opt)
		return true;
	/* "Tensor(a!)" is a Tensor &, which is one of the arguments */
	if (memchr(returns.p, '!', returns.len))
		return false;
	return !arg.type->in_register;
}

/* Does a member of a tuple have 8 bytes? */
static bool is_word(struct schema_arg arg)
{
	static const char *const words[] = {"Tensor", "int", "float", "SymInt"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (arg.type && !strcmp(arg.type->name, words[i]))
			return !arg.is_list && !arg.opt;
	return false;
}

/*
 * What rdi leads to after the call, as PT_RESULT_*. It is the returned tensor or vector, or the
 * first argument if that is returned. Of a tuple it is the first member, which libstdc++ puts last.
 */
static uint8_t result_at_rdi(const struct torch_schema *s, uint32_t *offset)
{
	struct text_span list = results(s->returns), args = s->args, first, item;
	bool in_memory = returns_in_memory(s->returns);
	struct schema_arg arg;

	*offset = 0;
	if (!next_item(&list, &first))
		return 0;
	arg = parse_arg(first);
	if (arg.type != &schema_types[0] || arg.opt || arg.opt_element)
		return 0;
	/* Nothing for a tuple of addresses, or for an address that is not the first argument's. */
	if (memchr(first.p, '!', first.len) &&
	    (in_memory || !next_item(&args, &item) || !memchr(item.p, '!', item.len)))
		return 0;
	for (; next_item(&list, &item); *offset += 8)
		if (!is_word(parse_arg(item)))
			return 0;
	return arg.is_list ? PT_RESULT_TENSORS : PT_RESULT_TENSOR;
}

/* Registers and stack words that are taken so far. */
struct arg_cursor {
	unsigned int ints, sses, stack;
};

enum { INT_REGS = 6, SSE_REGS = 8 };

/* Slot of the argument's first integer eightbyte. An argument that does not fit into the remaining
 * registers is wholly on the stack. Later, smaller arguments may still use registers. */
static unsigned int take_slot(struct arg_cursor *c, struct passing how)
{
	unsigned int slot = INT_REGS + c->stack;

	if (how.stack || c->ints + how.ints > INT_REGS || c->sses + how.sses > SSE_REGS) {
		c->stack += how.ints + how.sses + how.stack;
		return slot;
	}
	slot = c->ints;
	c->ints += how.ints;
	c->sses += how.sses;
	return slot;
}

void torch_schema__plan(const struct torch_schema *s, const char *mangled_params, bool own_optional,
			struct torch_arg_plan *plan)
{
	const char *mangled = mangled_params;
	struct text_span list = s->args, item;
	struct arg_cursor cursor = {0};

	memset(plan, 0, sizeof(*plan));
	plan->complete = true;
	plan->sret = returns_in_memory(s->returns);
	plan->result = result_at_rdi(s, &plan->result_offset);
	cursor.ints = plan->sret;
	while (next_item(&list, &item)) {
		struct schema_arg arg;
		unsigned int slot;
		uint8_t kind;

		if (is_marker(item))
			continue;
		arg = parse_arg(item);
		plan->complete = plan->complete && arg.type;
		if (!plan->complete || plan->arg_cnt == UINT8_MAX)
			break;
		slot = take_slot(&cursor, arg_passing(&arg, mangled, own_optional));
		kind = arg_kind(&arg, mangled);
		if (mangled)
			mangled = itanium__skip_type(mangled);
		if (kind && plan->read_cnt < PT_MAX_ARGS && slot + 2 <= UINT8_MAX) {
			plan->slot[plan->read_cnt] = (uint8_t)slot;
			plan->kind[plan->read_cnt] = kind;
			plan->index[plan->read_cnt++] = plan->arg_cnt;
		}
		plan->arg_cnt++;
	}
}

/* Could this be the mangled type of the argument? */
static bool arg_fits(const struct schema_arg *arg, struct text_span mangled)
{
	bool is_list_object = memmem(mangled.p, mangled.len, "4ListI", 6);

	if (!arg->type)
		return true;
	if (arg->is_list && !arg->opt) /* lists of optionals are a c10::List, others are not */
		return arg->opt_element ? *mangled.p == 'R' : !is_list_object;
	if (arg->type->mangled && !arg->opt)
		return *mangled.p == arg->type->mangled;
	return !islower((unsigned char)*mangled.p);
}

bool torch_schema__fits(const struct torch_schema *s, const char *mangled_params)
{
	struct text_span list = s->args, item;
	const char *p = mangled_params;

	if (!strcmp(p, "v"))
		p++;
	while (next_item(&list, &item)) {
		struct schema_arg arg = parse_arg(item);
		const char *type = p;

		if (is_marker(item))
			continue;
		p = itanium__skip_type(p);
		if (!p || !arg_fits(&arg, (struct text_span){type, (size_t)(p - type)}))
			return false;
	}
	return !*p;
}

// SPDX-License-Identifier: BSD-2-Clause
/* Notes the calls of hooked functions: thread and times. Nothing here locks, allocates or enters
 * the kernel, except in a thread's first call of a window. */
#include "cupti_shim/trampoline.h"
#include "cupti_shim/shim.h"
#include "cupti_shim/old_glibc.h"
#include <pthread.h>
#include <unwind.h>

/* Most nested calls of a thread that are recorded; deeper ones are not. */
#define OPEN_MAX 32

#define TYPE_OF_OBJECT 8 /* offset in an object of Python */
#define NO_NUMBER      UINT16_MAX

/* By entry, in the order of first use. */
static struct hooked_function {
	void *original;
	uint32_t kind;
	uint32_t number; /* number in the latest file */
	uint8_t object, outermost;
	uint16_t object_at;
	uint32_t name_at;
} functions[SHIM_FUNCTIONS];
static uint32_t function_cnt;

/* Values from the file. A late thread may read them while the next file is taken over. So use
 * READ() and WRITE() for each field, and for functions[].number. */
static struct {
	uint64_t (*next_node)(void); /* NULL: unknown */
	uint64_t python_node;
	uint32_t node_seq, node_object;
} layout;

/* The open calls of a thread, by ring. Two threads may end a call: its own, and the one that stops
 * the window. The one that takes out `begin` writes the record. Only the thread itself writes the
 * other fields, while `begin` is taken out. */
struct inside {
	_Alignas(64) uint64_t node_begin; /* 0: none */
	uint64_t node, type;
	uintptr_t node_sp;
	uint16_t node_api;
	uint8_t node_flags;
	uint32_t depth;
	struct level {
		uint64_t begin; /* 0: no record */
		uint64_t type;
		uint64_t name;	 /* key of its name; SHIM_NO_NODE: none */
		uint64_t before; /* number of the next node at its begin */
		uintptr_t sp;
		uint16_t api;
	} levels[OPEN_MAX];
};
static struct inside insides[SHIM_RINGS];

struct thread {
	uint32_t connection;
	int ring; /* of that connection */
};
static __thread struct thread self;

/* Calls on_thread_end() for threads that have noted a call. */
static pthread_key_t ends;
static bool has_ends;

/* See calls.c. */
static struct thread *own_thread(void)
{
	struct thread *t = &self;

	__asm__("" : "+r"(t));
	return t;
}

static uint64_t take(uint64_t *begin)
{
	return __atomic_exchange_n(begin, 0, __ATOMIC_ACQ_REL);
}

/* Takes a call of another thread, whose begin was read before. False: that thread took it
 * meanwhile, and may have begun another call. */
static bool take_this(uint64_t *begin, uint64_t begin_ns)
{
	return begin_ns && __atomic_compare_exchange_n(begin, &begin_ns, 0, false, __ATOMIC_ACQ_REL,
						       __ATOMIC_RELAXED);
}

static struct inside *inside_of(struct thread *t)
{
	uint32_t connection = 0;
	int ring = calls__ring(&connection);
	struct inside *in = ring < 0 ? NULL : &insides[ring];

	if (!in || (t->connection == connection && t->ring == ring))
		return in;
	/* Older calls have their records, or belong to no file. */
	*t = (struct thread){connection, ring};
	take(&in->node_begin);
	for (uint32_t i = 0; i < OPEN_MAX; i++)
		take(&in->levels[i].begin);
	in->depth = 0;
	if (has_ends)
		pthread_setspecific(ends, t);
	return in;
}

/* ---- nodes, of which each lasts until the next ---- */

static struct shim_call node_call(const struct inside *in, uint64_t begin_ns, uint64_t end_ns)
{
	return (struct shim_call){.begin_ns = begin_ns,
				  .end_ns = end_ns,
				  .api = READ(in->node_api),
				  .domain = SHIM_FUNCTION,
				  .flags = READ(in->node_flags),
				  .node = READ(in->node),
				  .type = READ(in->type)};
}

/* Ends the node at now_ns if it has returned, that is if its frame is not above the stack pointer.
 * Adds `flags` to its call. */
static void end_node(struct inside *in, int ring, uintptr_t sp, uint64_t now_ns, uint8_t flags)
{
	uint64_t begin_ns;
	struct shim_call call;

	if (!__atomic_load_n(&in->node_begin, __ATOMIC_RELAXED) || in->node_sp > sp)
		return;
	begin_ns = take(&in->node_begin);
	if (!begin_ns)
		return;
	call = node_call(in, begin_ns, now_ns);
	call.flags |= flags;
	calls__put(ring, &call);
}

/* No later node ends the thread's last one. */
static void on_thread_end(void *thread)
{
	const struct thread *t = thread;

	if (calls__is_current(t->connection))
		end_node(&insides[t->ring], t->ring, UINTPTR_MAX, shim_now(), 0);
}

static void describe_node(struct inside *in, uint64_t node)
{
	const uint64_t python_node = READ(layout.python_node);
	const uint32_t node_seq = READ(layout.node_seq);
	uint64_t type = word_at(node, 0), object;
	const bool is_object = python_node && type == python_node;

	if (is_object) {
		object = word_at(node, READ(layout.node_object));
		type = object ? word_at(object, TYPE_OF_OBJECT) : 0;
	}
	WRITE(in->node_flags, is_object ? SHIM_CALL_OBJECT : 0);
	WRITE(in->type, type);
	WRITE(in->node, node_seq ? word_at(node, node_seq) : SHIM_NO_NODE);
}

static void describe_part(struct inside *in)
{
	WRITE(in->node_flags, 0);
	WRITE(in->type, 0);
	WRITE(in->node, SHIM_NO_NODE);
}

static void note_node(const struct hooked_function *f, const uint64_t *registers, uintptr_t sp)
{
	const bool is_part = f->kind == SHIM_FUNCTION_PART;
	struct thread *t = own_thread();
	struct inside *in = inside_of(t);
	uint64_t now_ns;

	if (!in)
		return;
	now_ns = shim_now();
	end_node(in, t->ring, sp, now_ns, 0);
	/* A node that runs as a part of another is not in the graph. */
	if (__atomic_load_n(&in->node_begin, __ATOMIC_RELAXED))
		return;
	if (is_part)
		describe_part(in);
	else
		describe_node(in, registers[1]);
	in->node_sp = sp;
	WRITE(in->node_api, (uint16_t)READ(f->number));
	__atomic_store_n(&in->node_begin, now_ns, __ATOMIC_RELEASE);
}

/* ---- calls that return to us ---- */

static struct shim_call level_call(const struct level *l, uint64_t begin_ns, uint64_t end_ns)
{
	return (struct shim_call){.begin_ns = begin_ns,
				  .end_ns = end_ns,
				  .api = READ(l->api),
				  .domain = SHIM_FUNCTION,
				  .node = READ(l->name),
				  .type = READ(l->type)};
}

/* Ends the innermost call. */
static void leave_level(struct inside *in, int ring, uint64_t now_ns, uint8_t flags)
{
	struct level *l = &in->levels[--in->depth];
	const uint64_t begin_ns = take(&l->begin);
	struct shim_call call;

	if (!begin_ns)
		return;
	call = level_call(l, begin_ns, now_ns);
	call.flags = flags;
	calls__put(ring, &call);
}

/* Ends calls whose frames lie below the stack pointer: a jump (longjmp) left them. */
static void leave_dead(struct inside *in, int ring, uintptr_t sp, uint64_t now_ns)
{
	while (in->depth && in->levels[in->depth - 1].sp < sp)
		leave_level(in, ring, now_ns, SHIM_CALL_LEFT);
}

int trampoline__on_unwind(int version, int actions, uint64_t class, void *exception, void *context)
{
	struct thread *t = own_thread();
	struct inside *in;
	uint64_t now_ns;

	(void)version;
	(void)class;
	(void)exception;
	(void)context;
	if (!(actions & _UA_CLEANUP_PHASE) || !calls__is_current(t->connection))
		return _URC_CONTINUE_UNWIND;
	in = &insides[t->ring];
	if (!in->depth)
		return _URC_CONTINUE_UNWIND; /* the call began before this connection */
	now_ns = shim_now();
	end_node(in, t->ring, in->levels[in->depth - 1].sp, now_ns, 0);
	leave_level(in, t->ring, now_ns, 0);
	return _URC_CONTINUE_UNWIND;
}

/* Is the innermost open call one of another function with a known type? */
static bool is_inner(const struct inside *in, const struct hooked_function *f)
{
	return in->depth && in->levels[in->depth - 1].type &&
	       in->levels[in->depth - 1].api != (uint16_t)READ(f->number);
}

/* Does the thread have no open call? */
static bool is_idle(struct inside *in)
{
	return !in->depth && !__atomic_load_n(&in->node_begin, __ATOMIC_RELAXED);
}

static uint64_t type_of(const struct hooked_function *f, const uint64_t *registers)
{
	return f->object ? word_at(registers[f->object - 1], f->object_at) : 0;
}

static bool begin_call(const struct hooked_function *f, const uint64_t *registers, uintptr_t sp)
{
	uint64_t (*next_node)(void) = READ(layout.next_node);
	struct thread *t = own_thread();
	struct inside *in = inside_of(t);
	struct level *l;
	uint64_t now_ns;

	if (!in)
		return false;
	now_ns = f->kind == SHIM_FUNCTION_ENCLOSING && is_idle(in) ? 0 : shim_now();
	end_node(in, t->ring, sp, now_ns, 0);
	leave_dead(in, t->ring, sp + 1, now_ns); /* also a frame at exactly that address */
	if (in->depth == OPEN_MAX || (f->outermost && is_inner(in, f)))
		return false;
	l = &in->levels[in->depth++];
	l->sp = sp;
	if (f->kind == SHIM_FUNCTION_ENCLOSING)
		return true;
	WRITE(l->api, (uint16_t)READ(f->number));
	if (f->name_at) {
		WRITE(l->name, names__own(registers[f->object - 1] + f->name_at));
		WRITE(l->type, names__callers(registers, sp));
	} else {
		WRITE(l->name, SHIM_NO_NODE);
		WRITE(l->type, type_of(f, registers));
	}
	l->before = next_node ? next_node() : 0;
	__atomic_store_n(&l->begin, now_ns, __ATOMIC_RELEASE);
	return true;
}

struct way trampoline__enter(uint32_t function, const uint64_t *registers, uintptr_t sp)
{
	const struct hooked_function *f = &functions[function];
	struct way way = {f->original, 0};

	if (f->kind == SHIM_FUNCTION_NODE || f->kind == SHIM_FUNCTION_PART)
		note_node(f, registers, sp);
	else if (begin_call(f, registers, sp))
		way.through = 1 + (f->kind == SHIM_FUNCTION_RETURNING ? SHIM_STACK_WORDS : 0);
	return way;
}

void trampoline__leave(uint32_t function, uintptr_t sp)
{
	const bool is_enclosing = functions[function].kind == SHIM_FUNCTION_ENCLOSING;
	uint64_t (*next_node)(void) = READ(layout.next_node);
	const uint64_t end_ns = shim_now();
	struct thread *t = own_thread();
	struct shim_call call;
	uint64_t begin_ns;
	struct inside *in;
	struct level *l;

	if (!calls__is_current(t->connection))
		return;
	in = &insides[t->ring];
	end_node(in, t->ring, sp, end_ns, is_enclosing ? SHIM_CALL_RETURNED : 0);
	leave_dead(in, t->ring, sp, end_ns);
	if (!in->depth || in->levels[in->depth - 1].sp != sp)
		return; /* the call began before this connection */
	l = &in->levels[--in->depth];
	begin_ns = take(&l->begin);
	if (!begin_ns)
		return;
	call = level_call(l, begin_ns, end_ns);
	if (next_node && next_node() > l->before)
		call.node = next_node() - 1;
	calls__put(t->ring, &call);
}

/* ---- all of them ---- */

void *trampoline__original(uint32_t function)
{
	return functions[function].original;
}

bool trampoline__is_method(uint32_t function)
{
	const uint32_t kind = functions[function].kind;

	return kind == SHIM_FUNCTION_CALL || kind == SHIM_FUNCTION_ENCLOSING;
}

/* Index of the function, known or new. SHIM_FUNCTIONS: there is no room. */
static uint32_t function_index(const struct shim_function *wanted)
{
	void *const address = (void *)(uintptr_t)wanted->address;
	struct hooked_function *f;

	for (uint32_t i = 0; i < function_cnt; i++)
		if (functions[i].original == address)
			return functions[i].kind == wanted->kind ? i : SHIM_FUNCTIONS;
	if (function_cnt == SHIM_FUNCTIONS)
		return SHIM_FUNCTIONS;
	f = &functions[function_cnt];
	*f = (struct hooked_function){.original = address,
				      .kind = wanted->kind,
				      .number = NO_NUMBER,
				      .object = wanted->object,
				      .outermost = wanted->outermost,
				      .object_at = wanted->object_at,
				      .name_at = wanted->name_at};
	return function_cnt++;
}

void trampoline__begin(struct shim_control *c, uint32_t *index)
{
	const struct shim_function *wanted = shim_functions(c);

	WRITE(layout.next_node, (uint64_t (*)(void))(uintptr_t)c->node_number);
	WRITE(layout.python_node, c->python_node);
	WRITE(layout.node_seq, c->node_seq);
	WRITE(layout.node_object, c->node_object);
	names__begin(c);
	/* Functions of an earlier file get no number. A thread may still be on its way there. */
	for (uint32_t i = 0; i < function_cnt; i++)
		WRITE(functions[i].number, NO_NUMBER);
	for (uint32_t i = 0; i < c->function_cnt; i++) {
		index[i] = wanted[i].kind ? function_index(&wanted[i]) : SHIM_FUNCTIONS;
		if (index[i] < SHIM_FUNCTIONS)
			WRITE(functions[index[i]].number, i);
	}
	has_ends = has_ends || !pthread_key_create(&ends, on_thread_end);
}

static void put_open(struct shim_control *c, size_t ring, const struct shim_call *call)
{
	const struct shim_open_call out = {
		.h = {SHIM_REC_CALL, sizeof(out)},
		.call = *call,
		.ring = (uint32_t)ring,
		.tid = __atomic_load_n(&c->rings[ring].tid, __ATOMIC_RELAXED),
	};

	records__put(c, &out.h);
}

/* The innermost first. */
static void put_inside(struct shim_control *c, size_t ring)
{
	struct inside *in = &insides[ring];
	struct shim_call call;
	uint64_t begin_ns;

	for (uint32_t i = OPEN_MAX; i-- > 0;) {
		begin_ns = __atomic_load_n(&in->levels[i].begin, __ATOMIC_ACQUIRE);
		call = level_call(&in->levels[i], begin_ns, shim_now());
		if (take_this(&in->levels[i].begin, begin_ns))
			put_open(c, ring, &call);
	}
	begin_ns = __atomic_load_n(&in->node_begin, __ATOMIC_ACQUIRE);
	call = node_call(in, begin_ns, shim_now());
	if (take_this(&in->node_begin, begin_ns))
		put_open(c, ring, &call);
}

void trampoline__put_open(struct shim_control *c)
{
	for (size_t ring = 0; ring < SHIM_RINGS; ring++)
		put_inside(c, ring);
}

/* Two clock reads, and the rest as measured by bench/overhead in jobs of 126 and 144 calls per
 * step: 135 to 160 ns for each in total. Most of that is cache misses of the job afterwards. */
uint64_t trampoline__cost_ns(void)
{
	enum { TIMES = 256, REST_NS = 100 };
	const uint64_t begin = shim_now();

	for (int i = 1; i < 2 * TIMES; i++)
		shim_now();
	return (shim_now() - begin) / TIMES + REST_NS;
}

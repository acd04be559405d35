/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of a running CPython interpreter, read from outside: modules by name, and what modules
 * and classes define. What changes at that moment may or may not be found. Nothing is written.
 */
#ifndef PROFTRACE_PYTHON_OBJECTS_H
#define PROFTRACE_PYTHON_OBJECTS_H

#include "target/python/python_layout.h"

struct python_objects {
	const struct target *t;
	struct python_layout layout;
	uint64_t thread_at; /* address of the pointer to the running thread's state */
	uint64_t dict, str, module, function, code; /* addresses of these types */
};

/* 0, -ENOENT: there is no interpreter with symbols; -ENOTSUP: its version's objects are unknown. */
int python_objects__open(struct target *t, struct python_objects *o);

/* Address of a module's dict, by the module's full name. 0: there is none. */
uint64_t python_objects__module(const struct python_objects *o, const char *name);

/* The value of an ASCII key in a dict, 0 if there is none. *key (may be NULL): the str object of
 * the key. */
uint64_t python_objects__item(const struct python_objects *o, uint64_t dict, const char *name,
			      uint64_t *key);

/* The dict of a class. 0: it cannot be read. */
uint64_t python_objects__class_dict(const struct python_objects *o, uint64_t class);

/* The code object of a Python function. 0: the object is not a Python function. */
uint64_t python_objects__code(const struct python_objects *o, uint64_t function);

/* The str object of a name in a code object, such as an attribute. There is only one object for
 * each such name. 0: the code does not use it. */
uint64_t python_objects__name(const struct python_objects *o, uint64_t code, const char *name);

/* Address of a code object's first instruction. 0: it cannot be read. */
uint64_t python_objects__first_instruction(const struct python_objects *o, uint64_t code);

/* Reads a code object's current instructions. Returns the number of bytes. 0: they cannot be read,
 * or are more than `size`. */
size_t python_objects__instructions(const struct python_objects *o, uint64_t code, uint8_t *buf,
				    size_t size);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of a CPython interpreter, read from outside while it runs: modules by name, what they and
 * their classes define. What changes meanwhile is found or not found; nothing is written.
 */
#ifndef PROFTRACE_PYTHON_OBJECTS_H
#define PROFTRACE_PYTHON_OBJECTS_H

#include "target/python/python_layout.h"

struct python_objects {
	const struct target *t;
	struct python_layout layout;
	uint64_t thread_at; /* address of a pointer to the thread state that runs */
	uint64_t dict, str, module, function, code; /* of the types of that name */
};

/* 0, -ENOENT: it has no interpreter with symbols; -ENOTSUP: of a version whose objects are not
 * known. */
int python_objects__open(struct target *t, struct python_objects *o);

/* Address of a module's dict by its full name; 0: not there. */
uint64_t python_objects__module(const struct python_objects *o, const char *name);

/* What a dict has under a key of ASCII text, 0 if nothing. *key (NULL allowed): the str object that
 * is the key. */
uint64_t python_objects__item(const struct python_objects *o, uint64_t dict, const char *name,
			      uint64_t *key);

/* The dict of a class; 0: cannot be read. */
uint64_t python_objects__class_dict(const struct python_objects *o, uint64_t class);

/* The code object of a Python function. 0: the object is not a Python function. */
uint64_t python_objects__code(const struct python_objects *o, uint64_t function);

/* The str object of a name that a code object uses, an attribute's say: there is but one of each
 * such name. 0: it does not use it. */
uint64_t python_objects__name(const struct python_objects *o, uint64_t code, const char *name);

/* Address of a code object's first instruction; 0: cannot be read. */
uint64_t python_objects__first_instruction(const struct python_objects *o, uint64_t code);

/* The instructions of a code object as they stand now: how many bytes, 0: they cannot be read, or
 * are more than `size`. */
size_t python_objects__instructions(const struct python_objects *o, uint64_t code, uint8_t *buf,
				    size_t size);

#endif

/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Names longer than struct pt_name. Each text is kept once, under the hash of the whole text. The
 * loader reads it and may remove it. Shared by both sides.
 */
#ifndef PROFTRACE_LONG_NAMES_H
#define PROFTRACE_LONG_NAMES_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PT_WHOLE_NAME	4096 /* bytes of a name that are kept, without NUL */
#define PT_WHOLE_DOMAIN 3840 /* the same for the domain before it */
#define PT_LONG_TEXT	8064 /* room for both, or for as many bytes of wide characters */
#define PT_LONG_NAMES	4096 /* most texts that wait for the loader */

/* Keys that are no hashes. */
enum pt_name_key {
	PT_KEY_NONE = 0,   /* the name is short */
	PT_KEY_UNREAD = 1, /* its text could not be read a second time */
	PT_KEY_FULL = 2,   /* there was no room */
	PT_KEY_FIRST = 8,
};

struct pt_long_name {
	__u32 domain_len; /* bytes of the domain, which comes first; 0: there is none */
	__u32 len;	  /* bytes of the name */
	__u8 kind;	  /* bytes per character, as in a str object; 0: UTF-8 */
	__u8 is_cut;	  /* the name is longer */
	__u8 is_read;	  /* the text has been read */
	__u8 pad[5];
	char text[PT_LONG_TEXT];
};

#endif

// SPDX-License-Identifier: BSD-2-Clause
#include "target/usdt.h"
#include "common/util.h"
#include <elf.h>
#include <string.h>

#define NOTE_TYPE 3
#define OWNER	  "stapsdt"

/* Three addresses, then three texts. */
struct note_words {
	uint64_t pc, base, semaphore;
};

static size_t align4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Returns the text at *p, and moves *p after its end. NULL: it does not end. */
static const char *take_text(const uint8_t **p, const uint8_t *end)
{
	const char *text = (const char *)*p;
	const uint8_t *nul = memchr(*p, '\0', (size_t)(end - *p));

	if (!nul)
		return NULL;
	*p = nul + 1;
	return text;
}

static bool decode(const uint8_t *desc, size_t len, uint64_t notes_base, struct usdt_probe *out)
{
	const uint8_t *p = desc + sizeof(struct note_words), *end = desc + len;
	struct note_words words;
	uint64_t moved;

	if (len < sizeof(words))
		return false;
	memcpy(&words, desc, sizeof(words));
	out->provider = take_text(&p, end);
	out->name = out->provider ? take_text(&p, end) : NULL;
	out->args = out->name ? take_text(&p, end) : NULL;
	if (!out->args || !*out->provider || !*out->name || !words.pc)
		return false;
	moved = notes_base && words.base ? notes_base - words.base : 0;
	out->vaddr = words.pc + moved;
	out->semaphore = words.semaphore ? words.semaphore + moved : 0;
	return true;
}

int usdt__each(const uint8_t *notes, size_t len, uint64_t notes_base,
	       int (*cb)(const struct usdt_probe *p, void *ctx), void *ctx)
{
	size_t at = 0;

	while (len - at >= sizeof(Elf64_Nhdr)) {
		struct usdt_probe probe;
		Elf64_Nhdr h;
		size_t name_at = at + sizeof(h), desc_at, end;
		int err;

		memcpy(&h, notes + at, sizeof(h));
		if (h.n_namesz > len || h.n_descsz > len)
			return 0;
		desc_at = name_at + align4(h.n_namesz);
		end = desc_at + align4(h.n_descsz);
		if (desc_at > len || h.n_descsz > len - desc_at)
			return 0;
		if (h.n_type == NOTE_TYPE && h.n_namesz == sizeof(OWNER) &&
		    !memcmp(notes + name_at, OWNER, sizeof(OWNER)) &&
		    decode(notes + desc_at, h.n_descsz, notes_base, &probe)) {
			err = cb(&probe, ctx);
			if (err)
				return err;
		}
		if (end >= len)
			return 0;
		at = end;
	}
	return 0;
}

int usdt__each_of(struct elf_file *elf, int (*cb)(const struct usdt_probe *p, void *ctx), void *ctx)
{
	uint64_t base = 0;
	size_t len, base_len;
	const uint8_t *notes = elf_file__section(elf, ".note.stapsdt", NULL, &len);

	if (!notes)
		return 0;
	if (!elf_file__section(elf, ".stapsdt.base", &base, &base_len))
		base = 0;
	return usdt__each(notes, len, base, cb, ctx);
}

bool usdt__register(const char *args, unsigned int idx, uint8_t *slot)
{
	static const char *const registers[] = {"%rdi", "%rsi", "%rdx", "%rcx", "%r8", "%r9"};

	while (idx-- && args) {
		args = strchr(args, ' ');
		if (args)
			args++;
	}
	if (!args || (strncmp(args, "8@", 2) != 0 && strncmp(args, "-8@", 3) != 0))
		return false;
	args = strchr(args, '@') + 1;
	for (size_t i = 0; i < ARRAY_SIZE(registers); i++) {
		if (strcspn(args, " ") != strlen(registers[i]) ||
		    strncmp(args, registers[i], strlen(registers[i])) != 0)
			continue;
		*slot = (uint8_t)i;
		return true;
	}
	return false;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "section.h"

#include <string.h>

static void flush(struct rec_sink *s)
{
	if (!s->failed && s->used)
		s->failed = s->flush(s);
	s->used = 0;
}

static void put_byte(struct rec_sink *s, unsigned char byte)
{
	if (s->used == s->size)
		flush(s);
	if (!s->failed)
		s->buffer[s->used++] = byte;
}

/* This numbers are written in LEB128. */
static void put_number(struct rec_sink *s, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(s, (unsigned char)(value | 0x80));
	put_byte(s, (unsigned char)value);
}

static void put_text(struct rec_sink *s, const char *text)
{
	size_t n = strlen(text);

	put_number(s, n);
	for (size_t i = 0; i < n; i++)
		put_byte(s, (unsigned char)text[i]);
}

void rec_head_write(struct rec_sink *s, const struct rec_head *head)
{
	for (const char *c = "CPLEVENT"; *c; c++)
		put_byte(s, (unsigned char)*c);
	put_number(s, 1); /* version */
	put_number(s, (uint64_t)head->ranks);
	put_text(s, head->application);
	put_text(s, head->mpi);
	put_text(s, head->command);
	put_text(s, head->date);
	put_number(s, head->functions);
	for (uint32_t i = 0; i < head->functions; i++)
		put_text(s, head->function[i]);
	flush(s);
}

static void put_amount(struct rec_sink *s, uint32_t kind,
                       const struct rec_amount *a)
{
	put_number(s, kind);
	put_number(s, a->count);
	put_number(s, a->bytes);
	put_number(s, a->compute);
	put_number(s, a->duration);
}

/* The rows are in no order, since sorting would need memory. */
static void put_table(struct rec_sink *s, const struct rec_table *t)
{
	size_t capacity = t->peer ? t->capacity : (size_t)t->ranks;
	uint64_t rows = 0;

	for (size_t i = 0; t->cell && i < capacity; i++)
		rows += t->cell[i].messages > 0;
	put_number(s, rows);
	for (size_t i = 0; t->cell && i < capacity && rows; i++) {
		if (!t->cell[i].messages)
			continue;
		put_number(s, t->peer ? (uint64_t)t->peer[i] : i);
		put_number(s, t->cell[i].bytes);
		put_number(s, t->cell[i].messages);
		rows--;
	}
}

static void put_kinds(struct rec_sink *s, const struct rec_kinds *k)
{
	put_number(s, k->n);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct rec_kind *kind = &k->kind[i];
		const struct rec_kind_message *m = k->message + kind->first;

		put_number(s, kind->function);
		put_number(s, kind->communicator);
		put_number(s, (uint64_t)(kind->source + 1));
		put_number(s, kind->bytes);
		put_number(s, kind->events);
		put_number(s, kind->n);
		for (uint32_t j = 0; j < kind->n; j++) {
			put_number(s, (uint64_t)m[j].peer << 1 | m[j].inward);
			put_number(s, m[j].bytes);
			put_number(s, m[j].messages);
		}
	}
}

/* An event's number is its kind + 1; 0 begins a loop. */
static void put_node(struct rec_sink *s, const struct rec_fold *f,
                     const struct rec_node *node)
{
	if (node->event != REC_FOLD_NONE) {
		put_amount(s, node->event + 1, &node->amount);
		return;
	}
	put_number(s, 0);
	put_number(s, node->entries);
	put_number(s, node->rounds);
	put_number(s, node->length);
	for (uint32_t c = node->first; c != REC_FOLD_NONE;) {
		const struct rec_node *child = rec_fold_node(f, c);

		put_node(s, f, child);
		c = child->next;
	}
}

static void put_unordered(struct rec_sink *s, const struct rec_kinds *k)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n; i++)
		n += k->kind[i].unordered.count > 0;
	put_number(s, n);
	for (uint32_t i = 0; i < k->n; i++)
		if (k->kind[i].unordered.count)
			put_amount(s, i, &k->kind[i].unordered);
}

static void put_events(struct rec_sink *s, const struct rec_events *e)
{
	put_number(s, e->n_communicators);
	for (uint32_t i = 0; i < e->n_communicators; i++) {
		put_number(s, e->communicator[i].hash);
		put_number(s, e->communicator[i].size);
	}
	put_kinds(s, &e->kinds);
	put_unordered(s, &e->kinds);
	put_number(s, rec_fold_length(e->fold));
	for (uint32_t i = 0; i < rec_fold_length(e->fold); i++)
		put_node(s, e->fold, rec_fold_top(e->fold, i));
}

void rec_section_write(struct rec_sink *s, const struct rec_section *section)
{
	put_number(s, (uint64_t)section->rank);
	put_number(s, section->time);
	put_number(s, section->mpi_time);
	put_number(s, section->lost);
	put_number(s, (uint64_t)(section->ended + 1));
	put_table(s, section->out);
	put_table(s, section->in);
	put_number(s, section->events != NULL);
	if (section->events)
		put_events(s, section->events);
	flush(s);
}

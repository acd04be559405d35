// SPDX-License-Identifier: BSD-2-Clause
/* The data of small collectives, in the types that control flow depends on. */
#include "board.h"
#include <nccl.h>
#include <string.h>

/* Some versions' headers do not have these for C. */
enum { BFLOAT16 = 9, FLOAT8_E4M3, FLOAT8_E5M2 };

size_t nccl_type_bytes(int type)
{
	switch (type) {
	case ncclInt8:
	case ncclUint8:
	case FLOAT8_E4M3:
	case FLOAT8_E5M2:
		return 1;
	case ncclFloat16:
	case BFLOAT16:
		return 2;
	case ncclInt32:
	case ncclUint32:
	case ncclFloat32:
		return 4;
	default:
		return 8;
	}
}

static const uint8_t *contribution(const struct communicator *comm, const struct part *p, int rank)
{
	return comm->board->collective[p->number % SLOTS][rank].data;
}

#define COMBINE(a, b)                                                                              \
	(p->reduction == ncclProd  ? (a) * (b)                                                     \
	 : p->reduction == ncclMax ? ((a) > (b) ? (a) : (b))                                       \
	 : p->reduction == ncclMin ? ((a) < (b) ? (a) : (b))                                       \
				   : (a) + (b))

#define REDUCE_AS(name, type)                                                                      \
	static void name(const struct communicator *comm, const struct part *p, size_t from)       \
	{                                                                                          \
		for (size_t i = 0; i < p->cnt; i++) {                                              \
			type sum = ((const type *)contribution(comm, p, 0))[from + i];             \
                                                                                                   \
			for (int rank = 1; rank < comm->size; rank++) {                            \
				type next = ((const type *)contribution(comm, p, rank))[from + i]; \
				sum = COMBINE(sum, next);                                          \
			}                                                                          \
			((type *)p->dst)[i] =                                                      \
				p->reduction == ncclAvg ? sum / (type)comm->size : sum;            \
		}                                                                                  \
	}
REDUCE_AS(reduce_f32, float)
REDUCE_AS(reduce_f64, double)
REDUCE_AS(reduce_i32, int32_t)
REDUCE_AS(reduce_i64, int64_t)
REDUCE_AS(reduce_u8, uint8_t)

static void reduce(const struct communicator *comm, const struct part *p, size_t from)
{
	switch (p->type) {
	case ncclFloat32:
		reduce_f32(comm, p, from);
		break;
	case ncclFloat64:
		reduce_f64(comm, p, from);
		break;
	case ncclInt32:
		reduce_i32(comm, p, from);
		break;
	case ncclInt64:
		reduce_i64(comm, p, from);
		break;
	case ncclUint8:
		reduce_u8(comm, p, from);
		break;
	default:
		break;
	}
}

void part_apply(const struct communicator *comm, const struct part *p)
{
	size_t all = p->bytes * (size_t)comm->size;
	uint8_t *dst = p->dst;

	if (!dst ||
	    (p->kind == REDUCE_SCATTER || p->kind == ALL_TO_ALL ? all : p->bytes) > DATA_BYTES)
		return;
	switch (p->kind) {
	case ALL_REDUCE:
		reduce(comm, p, 0);
		break;
	case REDUCE:
		if (comm->rank == p->root)
			reduce(comm, p, 0);
		break;
	case REDUCE_SCATTER:
		reduce(comm, p, p->cnt * (size_t)comm->rank);
		break;
	case BROADCAST:
		memcpy(dst, contribution(comm, p, p->root), p->bytes);
		break;
	case ALL_GATHER:
		for (int rank = 0; rank < comm->size; rank++)
			memcpy(dst + (size_t)rank * p->bytes, contribution(comm, p, rank),
			       p->bytes);
		break;
	case ALL_TO_ALL:
		for (int rank = 0; rank < comm->size; rank++)
			memcpy(dst + (size_t)rank * p->bytes,
			       contribution(comm, p, rank) + (size_t)comm->rank * p->bytes,
			       p->bytes);
		break;
	case RECV:
		memcpy(dst, comm->board->sent[p->peer][comm->rank].data, p->bytes);
		break;
	case SEND:
		break;
	}
}

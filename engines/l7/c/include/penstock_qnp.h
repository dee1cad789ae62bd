/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of QNP over UDP, for C: the Rust crate penstock-qnp behind a static library (docs/l7.md, "Clients and
 * servers"). Any number of threads may use an endpoint at once; one thread uses a message at a time.
 *
 *   cargo build --release --package penstock-qnp-c
 *   cc -I engines/l7/c/include client.c target/release/libpenstock_qnp_c.a -lpthread -ldl -lm
 *
 * Functions that return int return 0 or one of the negative numbers below; qnp_error() has the sentence.
 */
#ifndef PENSTOCK_QNP_H
#define PENSTOCK_QNP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The time is over. A message that was sent may have arrived all the same. */
#define QNP_TIMEOUT (-1)
/* The endpoint is closed. */
#define QNP_CLOSED (-2)
/* Another fault, for example an address that cannot be read, a message that is too long, or one of the socket. */
#define QNP_FAULT (-3)

/* A call that waits without an end. */
#define QNP_FOREVER UINT32_MAX

typedef struct qnp_endpoint qnp_endpoint;
typedef struct qnp_message qnp_message;

/* The sentence of the last fault on this thread, until the next call of a function that returns int. */
const char *qnp_error(void);

/*
 * Opens a UDP socket at an address: "0.0.0.0:7000", "[::]:0". If acknowledge is 0, messages are acknowledged by their
 * replies only.
 */
int qnp_open(const char *address, int acknowledge, qnp_endpoint **endpoint);
/* Ends all calls on other threads within 50 ms, with QNP_CLOSED. */
void qnp_close(qnp_endpoint *endpoint);
/* Frees an endpoint that no thread uses; NULL is allowed. */
void qnp_free(qnp_endpoint *endpoint);

/* A message without fields. */
qnp_message *qnp_message_new(uint8_t application, uint8_t type);
/* NULL is allowed. */
void qnp_message_free(qnp_message *message);
uint8_t qnp_message_type(const qnp_message *message);
/* Adds a field by which cards dispatch, or another one, and copies its value. */
void qnp_dispatch(qnp_message *message, uint8_t number, const void *value, size_t bytes);
void qnp_field(qnp_message *message, uint8_t number, const void *value, size_t bytes);
/* The first field with this number, until the message is freed or changed; NULL if the message has no such field. */
const void *qnp_get(const qnp_message *message, uint8_t number, size_t *bytes);

/* Sends a message and waits for its acknowledgement. `to` is an address with its port: "10.0.0.2:7000". */
int qnp_send(qnp_endpoint *endpoint, const char *to, const qnp_message *message, uint32_t timeout_ms);
/* Sends a message and waits for its answer, which the caller frees. */
int qnp_call(qnp_endpoint *endpoint, const char *to, const qnp_message *message, uint32_t timeout_ms,
             qnp_message **answer);
/* Waits for the next message, which the caller frees. */
int qnp_recv(qnp_endpoint *endpoint, uint32_t timeout_ms, qnp_message **received);
/*
 * Answers a message that qnp_recv returned. The endpoint sends the reply again if the message arrives again. A reply to
 * a message that is a reply itself does nothing and returns 0: two servers that reply to all they receive would do so
 * without an end. Nor is it an error if the reply cannot be sent to this destination: it is lost.
 */
int qnp_reply(qnp_endpoint *endpoint, const qnp_message *received, const qnp_message *reply);

/* For generated message types (`penstock compile l7 FILE --bindings c`). */

/* Bytes of a field, or of text, which has no zero at its end; data is NULL if there is no such field. */
typedef struct {
  const void *data;
  size_t bytes;
} qnp_bytes;

/* An integer; is_set is 0 if there is no such field. */
typedef struct {
  int is_set;
  uint64_t value;
} qnp_number;

/* Adds the lowest bytes of a number with qnp_dispatch or qnp_field, if it is set. */
static inline void qnp_put_number(qnp_message *message, void (*put)(qnp_message *, uint8_t, const void *, size_t),
                                  uint8_t field, qnp_number number, unsigned bytes) {
  uint8_t value[8];
  for (unsigned at = 0; at < bytes; at++) value[at] = (uint8_t)(number.value >> (8 * (bytes - 1 - at)));
  if (number.is_set) put(message, field, value, bytes);
}

/* Reads a number; QNP_FAULT if the field has another length. */
static inline int qnp_get_number(const qnp_message *message, uint8_t field, unsigned bytes, qnp_number *number) {
  size_t length;
  const uint8_t *value = (const uint8_t *)qnp_get(message, field, &length);
  number->is_set = value != NULL;
  number->value = 0;
  if (!value) return 0;
  if (length != bytes) return QNP_FAULT;
  for (unsigned at = 0; at < bytes; at++) number->value = number->value << 8 | value[at];
  return 0;
}

#ifdef __cplusplus
}
#endif

#endif

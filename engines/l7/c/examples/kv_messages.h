/* Written by `penstock compile l7 kv.l7 --bindings c`; change kv.l7. */
/* Message types of kv.l7. In encode and decode, a field without data or value is not there. */
#pragma once

#include <penstock_qnp.h>

/* Number of this application, and its UDP port */
#define APPLICATION_KV 1
#define PORT_KV 7000

/* Messages of type 1 */
struct Put {
  qnp_bytes key; /* field 1, bytes, by which cards dispatch */
  qnp_number sender; /* field 2, uint32 */
  qnp_number number; /* field 3, uint32 */
  qnp_bytes value; /* field 4, bytes */
};

/* The message, for this application; the caller frees it. */
static inline qnp_message *Put_encode(const struct Put *from, uint8_t application) {
  qnp_message *message = qnp_message_new(application, 1);
  (void)from;
  if (from->key.data) qnp_dispatch(message, 1, from->key.data, from->key.bytes);
  qnp_put_number(message, qnp_field, 2, from->sender, 4);
  qnp_put_number(message, qnp_field, 3, from->number, 4);
  if (from->value.data) qnp_field(message, 4, from->value.data, from->value.bytes);
  return message;
}

/* Reads the fields, which point into the message; QNP_FAULT if it is of another type or kind. */
static inline int Put_decode(struct Put *to, const qnp_message *message) {
  if (qnp_message_type(message) != 1) return QNP_FAULT;
  (void)to;
  to->key.data = qnp_get(message, 1, &to->key.bytes);
  if (qnp_get_number(message, 2, 4, &to->sender) != 0) return QNP_FAULT;
  if (qnp_get_number(message, 3, 4, &to->number) != 0) return QNP_FAULT;
  to->value.data = qnp_get(message, 4, &to->value.bytes);
  return 0;
}

/* Messages of type 2 */
struct Get {
  qnp_bytes key; /* field 1, bytes, by which cards dispatch */
};

/* The message, for this application; the caller frees it. */
static inline qnp_message *Get_encode(const struct Get *from, uint8_t application) {
  qnp_message *message = qnp_message_new(application, 2);
  (void)from;
  if (from->key.data) qnp_dispatch(message, 1, from->key.data, from->key.bytes);
  return message;
}

/* Reads the fields, which point into the message; QNP_FAULT if it is of another type or kind. */
static inline int Get_decode(struct Get *to, const qnp_message *message) {
  if (qnp_message_type(message) != 2) return QNP_FAULT;
  (void)to;
  to->key.data = qnp_get(message, 1, &to->key.bytes);
  return 0;
}

/* Messages of type 3 */
struct Reply {
  qnp_bytes value; /* field 4, bytes */
};

/* The message, for this application; the caller frees it. */
static inline qnp_message *Reply_encode(const struct Reply *from, uint8_t application) {
  qnp_message *message = qnp_message_new(application, 3);
  (void)from;
  if (from->value.data) qnp_field(message, 4, from->value.data, from->value.bytes);
  return message;
}

/* Reads the fields, which point into the message; QNP_FAULT if it is of another type or kind. */
static inline int Reply_decode(struct Reply *to, const qnp_message *message) {
  if (qnp_message_type(message) != 3) return QNP_FAULT;
  (void)to;
  to->value.data = qnp_get(message, 4, &to->value.bytes);
  return 0;
}

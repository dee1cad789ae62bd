/* Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0 */
/*
 * A client of the key-value service of engines/l7/lib/examples/kv, in C, and a server whose store is memory:
 *
 *   kv put ADDRESS KEY VALUE | get ADDRESS KEY | serve ADDRESS
 *
 * The message types are those of engines/l7/programs/kv.l7. The server prints sender, number and key of each put.
 */
#include "kv_messages.h"

#include <penstock_qnp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(void) {
  fprintf(stderr, "error: %s\n", qnp_error());
  return 1;
}

/* Sends a message and prints the value in its reply; frees the message. */
static int ask(const char *to, qnp_message *message) {
  qnp_endpoint *endpoint;
  qnp_message *answer;
  struct Reply reply;
  if (qnp_open("0.0.0.0:0", 1, &endpoint) != 0) return failed();
  int result = qnp_call(endpoint, to, message, 5000, &answer);
  qnp_message_free(message);
  qnp_free(endpoint);
  if (result != 0) return failed();
  if (Reply_decode(&reply, answer) == 0 && reply.value.data) {
    printf("%.*s\n", (int)reply.value.bytes, (const char *)reply.value.data);
  }
  qnp_message_free(answer);
  return 0;
}

static int put(const char *to, const char *key, const char *value) {
  struct Put message = {.key = {key, strlen(key)}, .value = {value, strlen(value)}};
  return ask(to, Put_encode(&message, APPLICATION_KV));
}

static int get(const char *to, const char *key) {
  struct Get message = {.key = {key, strlen(key)}};
  return ask(to, Get_encode(&message, APPLICATION_KV));
}

struct pair {
  char key[64];
  char *value;
  size_t bytes;
};

static struct pair *find(struct pair *pairs, size_t count, const char *key) {
  for (size_t at = 0; at < count; at++) {
    if (strcmp(pairs[at].key, key) == 0) return &pairs[at];
  }
  return NULL;
}

static int serve(const char *at) {
  static struct pair pairs[4096];
  size_t count = 0;
  qnp_endpoint *endpoint;
  qnp_message *received;
  if (qnp_open(at, 0, &endpoint) != 0) return failed();
  puts("ready");
  fflush(stdout);
  for (;;) {
    if (qnp_recv(endpoint, QNP_FOREVER, &received) != 0) return failed();
    struct Put put;
    struct Get get;
    struct Reply answer = {.value = {NULL, 0}};
    char key[64];
    if (Put_decode(&put, received) == 0 && put.key.data && put.value.data) {
      snprintf(key, sizeof key, "%.*s", (int)put.key.bytes, (const char *)put.key.data);
      struct pair *pair = find(pairs, count, key);
      if (!pair && count < sizeof pairs / sizeof *pairs) {
        pair = &pairs[count++];
        strcpy(pair->key, key);
      }
      if (pair) {
        free(pair->value);
        pair->value = malloc(put.value.bytes + 1);
        if (!pair->value) return 1;
        memcpy(pair->value, put.value.data, put.value.bytes);
        pair->bytes = put.value.bytes;
      }
      printf("%u %u %s\n", (unsigned)put.sender.value, (unsigned)put.number.value, key);
      fflush(stdout);
    } else if (Get_decode(&get, received) == 0 && get.key.data) {
      snprintf(key, sizeof key, "%.*s", (int)get.key.bytes, (const char *)get.key.data);
      struct pair *pair = find(pairs, count, key);
      if (pair) answer.value = (qnp_bytes){pair->value, pair->bytes};
    }
    qnp_message *reply = Reply_encode(&answer, APPLICATION_KV);
    if (qnp_reply(endpoint, received, reply) != 0) return failed();
    qnp_message_free(reply);
    qnp_message_free(received);
  }
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "put") == 0) return put(argv[2], argv[3], argv[4]);
  if (argc == 4 && strcmp(argv[1], "get") == 0) return get(argv[2], argv[3]);
  if (argc == 3 && strcmp(argv[1], "serve") == 0) return serve(argv[2]);
  fputs("usage: kv put ADDRESS KEY VALUE | get ADDRESS KEY | serve ADDRESS\n", stderr);
  return 2;
}

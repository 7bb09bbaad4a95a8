/* Heads of responses, line by line as libcurl gives them. A head has some ten lines, and each comes twice (see
   CURLOPT_HEADER in EasyHandle.swift): what most of them ask for is done here. */
#include "CCurlShim.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 512, KEPT_SIZE = 4096 };

static bool append(hs_head *head, const char *line, size_t length) {
  size_t wanted = head->count + length;
  if (wanted > head->capacity) {
    size_t capacity = head->capacity ? head->capacity * 2 : FIRST_SIZE;
    if (capacity < wanted) capacity = wanted;
    char *grown = realloc(head->fields, capacity);
    if (!grown) return false;
    head->fields = grown;
    head->capacity = capacity;
  }
  memcpy(head->fields + head->count, line, length);
  head->count = wanted;
  return true;
}

/* The first byte of a line that goes on with the one before is a blank. */
static bool is_field(const char *line, size_t length) {
  return length > 2 && line[0] > ' ' && line[length - 2] == '\r' && line[length - 1] == '\n';
}

static size_t receive_line(char *line, size_t size, size_t number, void *context) {
  hs_head *head = context;
  size_t length = size * number;
  if (!head->collects || !is_field(line, length)) return head->take_line(line, size, number, head->context);
  head->last = *head->now;
  return append(head, line, length) ? length : 0;
}

static size_t receive_body(char *bytes, size_t size, size_t number, void *context) {
  hs_head *head = context;
  size_t length = size * number;
  if (head->expects_lines && length > 0 && *bytes != ' ' && *bytes != '\t') return length;
  return head->take_body(bytes, size, number, head->context);
}

void hs_easy_set_receiver(CURL *easy, hs_head *head) {
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_line);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, head);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, head);
}

void hs_head_clear(hs_head *head) {
  head->collects = false;
  head->count = 0;
  if (head->capacity <= KEPT_SIZE) return;
  free(head->fields);
  head->fields = NULL;
  head->capacity = 0;
}

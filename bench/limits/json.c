/* jansson alone: json decode|encode FILE TIMES
 *
 * Each line of the file is a document. Decodes all so many times; or decodes them once and encodes them so many times. */
#define _GNU_SOURCE
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file) exit(1);
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*length + 1);
  if (!text || fread(text, 1, *length, file) != *length) exit(1);
  text[*length] = 0;
  fclose(file);
  return text;
}

static json_t *decode(const char *text, size_t length) {
  json_t *document = json_loadb(text, length, JSON_DECODE_ANY, NULL);
  if (!document) exit(1);
  return document;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int times = atoi(arguments[3]), is_encode = strcmp(arguments[1], "encode") == 0;
  size_t length;
  char *text = read_file(arguments[2], &length), *end = text + length;
  for (int round = 0; round < (is_encode ? 1 : times); round++) {
    for (char *line = text; line < end;) {
      char *stop = memchr(line, '\n', (size_t)(end - line));
      if (!stop) stop = end;
      json_t *document = decode(line, (size_t)(stop - line));
      for (int i = 0; is_encode && i < times; i++) {
        char *encoded = json_dumps(document, JSON_COMPACT | JSON_ENCODE_ANY);
        if (!encoded) return 1;
        free(encoded);
      }
      json_decref(document);
      line = stop + 1;
    }
  }
  return 0;
}

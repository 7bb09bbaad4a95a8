/* libxml2 alone: links sax|tree FILE TIMES
 *
 * Parses a page so many times and counts the links in it: by SAX handlers, or by making a tree and going through it. */
#include <libxml/HTMLparser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long links;

static void start_element(void *context, const xmlChar *name, const xmlChar **attributes) {
  (void)context;
  if (!attributes || strcmp((const char *)name, "a") != 0) return;
  for (; *attributes; attributes += 2) links += strcmp((const char *)*attributes, "href") == 0;
}

static void count_links(xmlNode *node) {
  for (; node; node = node->next) {
    if (node->type != XML_ELEMENT_NODE) continue;
    if (strcmp((const char *)node->name, "a") == 0) links += xmlHasProp(node, (const xmlChar *)"href") != NULL;
    count_links(node->children);
  }
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int is_sax = strcmp(arguments[1], "sax") == 0, times = atoi(arguments[3]);
  FILE *file = fopen(arguments[2], "rb");
  if (!file) return 1;
  static char text[16 << 20];
  int length = (int)fread(text, 1, sizeof text, file);
  fclose(file);
  const int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET;
  for (int i = 0; i < times; i++) {
    if (is_sax) {
      htmlSAXHandler handler;
      memset(&handler, 0, sizeof handler);
      handler.startElement = start_element;
      htmlParserCtxtPtr parser = htmlCreatePushParserCtxt(&handler, NULL, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
      htmlCtxtUseOptions(parser, options);
      htmlParseChunk(parser, text, length, 1);
      htmlFreeParserCtxt(parser);
    } else {
      htmlDocPtr document = htmlReadMemory(text, length, NULL, "UTF-8", options);
      count_links(xmlDocGetRootElement(document));
      xmlFreeDoc(document);
    }
  }
  return links > 0 ? 0 : 1;
}

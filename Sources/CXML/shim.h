#include <libxml/HTMLparser.h>
#include <libxml/HTMLtree.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/SAX2.h>
#include <libxml/tree.h>
#include <libxml/uri.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlsave.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

// Frees what libxml2 allocated. `xmlFree` is a variable, which Swift 6 will not read, and which cannot be had late
// (see CLateLibraries).
static inline void cxml_free(void *memory) {
    xmlFreeFunc release = NULL;
    xmlMemGet(&release, NULL, NULL, NULL);
    release(memory);
}

// Nothing of libxml2 may reach standard error. Its plain messages go to a variadic function, which Swift cannot write;
// each thread has its own pair of handlers, hence the defaults for later threads.
static void cxml_ignore(void *context, const char *format, ...) {
    (void)context;
    (void)format;
}
static void cxml_ignore_structured(void *context, xmlErrorPtr error) {
    (void)context;
    (void)error;
}
static inline void cxml_silence(void) {
    xmlThrDefSetGenericErrorFunc(NULL, cxml_ignore);
    xmlThrDefSetStructuredErrorFunc(NULL, cxml_ignore_structured);
    xmlSetGenericErrorFunc(NULL, cxml_ignore);
    xmlSetStructuredErrorFunc(NULL, cxml_ignore_structured);
}

#include "CTLSShim.h"

#include <openssl/bio.h>
#include <openssl/x509_vfy.h>
#include <stddef.h>

typedef struct {
  htls_problem *problems;
  int capacity;
  int count;
} collection;

/* The verifier calls back on the same thread, before it returns. */
static _Thread_local collection *collecting;

static void note(int code, int depth) {
  collection *into = collecting;
  if (!into) return;
  for (int i = 0; i < into->count && i < into->capacity; i++) {
    if (into->problems[i].code == code && into->problems[i].depth == depth) return;
  }
  if (into->count < into->capacity) into->problems[into->count] = (htls_problem){code, depth};
  into->count++;
}

static int note_and_go_on(int fine, X509_STORE_CTX *store) {
  if (!fine) note(X509_STORE_CTX_get_error(store), X509_STORE_CTX_get_error_depth(store));
  return 1;
}

int htls_verify(X509_STORE_CTX *store, htls_problem *problems, int capacity) {
  collection found = {problems, capacity, 0};
  collection *outer = collecting;
  collecting = &found;
  X509_STORE_CTX_set_verify_cb(store, note_and_go_on);
  int result = X509_verify_cert(store);
  if (result <= 0 && !found.count) {
    int code = X509_STORE_CTX_get_error(store);
    note(code == X509_V_OK ? X509_V_ERR_UNSPECIFIED : code, 0);
  }
  collecting = outer;
  return found.count;
}

void htls_request_status(SSL_CTX *context, int (*callback)(SSL *, void *), void *argument) {
  SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
  SSL_CTX_set_tlsext_status_cb(context, callback);
  SSL_CTX_set_tlsext_status_arg(context, argument);
}

long htls_status_response(SSL *ssl, const unsigned char **response) {
  *response = NULL;
  long length = SSL_get_tlsext_status_ocsp_resp(ssl, response);
  return *response ? length : -1;
}

int htls_minimum_version(SSL_CTX *context) { return (int)SSL_CTX_get_min_proto_version(context); }

int htls_set_minimum_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

int htls_use_chain(SSL *ssl, STACK_OF(X509) *chain) { return (int)SSL_set1_chain(ssl, chain); }

int htls_print_name(BIO *into, const X509_NAME *name) {
  return X509_NAME_print_ex(into, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

long htls_memory(BIO *memory, const char **bytes) { return BIO_get_mem_data(memory, (char **)bytes); }

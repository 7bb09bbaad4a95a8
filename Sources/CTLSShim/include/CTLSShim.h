#ifndef CTLSSHIM_H
#define CTLSSHIM_H

#include <openssl/ssl.h>

/* OpenSSL's macros and the one loop over its verifier that Swift cannot say. No policy here. */

/* What the verifier found wrong (X509_V_ERR_...), and where in the chain: 0 is the peer's own certificate. */
typedef struct {
  int32_t code;
  int32_t depth;
} htls_problem;

/* Verifies the chain, goes on after each fault, and notes them all (as many as there is room for). Returns their
   number: at least 1 unless the chain is good. */
int htls_verify(X509_STORE_CTX *store, htls_problem *problems, int capacity);

/* Has the server asked for a stapled OCSP response. `callback` is called when its first flight is whole, whether there
   is a response or not; 1 goes on, 0 ends the handshake. */
void htls_request_status(SSL_CTX *context, int (*callback)(SSL *ssl, void *argument), void *argument);
/* The stapled response, which belongs to the connection; -1 where there is none. */
long htls_status_response(SSL *ssl, const unsigned char **response);

/* The lowest protocol version (TLS1_2_VERSION...), 0 where there is no limit. */
int htls_minimum_version(SSL_CTX *context);
int htls_set_minimum_version(SSL_CTX *context, int version);

/* The certificates to be sent behind the connection's own. */
int htls_use_chain(SSL *ssl, STACK_OF(X509) *chain);

/* Prints a distinguished name by RFC 4514, in UTF-8. */
int htls_print_name(BIO *into, const X509_NAME *name);

/* The bytes of a memory BIO, which belong to it. */
long htls_memory(BIO *memory, const char **bytes);

#endif

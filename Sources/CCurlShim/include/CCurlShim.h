#ifndef CCURLSHIM_H
#define CCURLSHIM_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/file.h>

/* Typed doors to libcurl's variadic functions, which Swift cannot call. No policy here. */

CURLcode hs_easy_set_long(CURL *easy, CURLoption option, long value);
CURLcode hs_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value);
CURLcode hs_easy_set_string(CURL *easy, CURLoption option, const char *value);
CURLcode hs_easy_set_pointer(CURL *easy, CURLoption option, void *value);

/* For CURLOPT_WRITEFUNCTION, _HEADERFUNCTION and _READFUNCTION, which have one shape. */
typedef size_t (*hs_data_callback)(char *data, size_t size, size_t count, void *context);
CURLcode hs_easy_set_data_callback(CURL *easy, CURLoption option, hs_data_callback callback);

/* What comes of a response's head. Most of it needs nobody's attention until the head is whole. */
typedef struct {
  /* What libcurl gives the body's callback are lines of a head. */
  bool expects_lines;
  /* Fields are collected here, each line with its end; else they go to `take_line`, as status lines, empty lines and
     folded ones always do. */
  bool collects;
  char *fields;
  size_t count, capacity;
  /* The time, and when the last field came. */
  const double *now;
  double last;
  void *context;
  hs_data_callback take_line, take_body;
} hs_head;
/* Sets the callbacks for heads and bodies; `take_line` and `take_body` get `context`. */
void hs_easy_set_receiver(CURL *easy, hs_head *head);
/* Forgets the fields. */
void hs_head_clear(hs_head *head);

CURLcode hs_easy_set_seek_callback(CURL *easy, curl_seek_callback callback);
CURLcode hs_easy_set_socket_callbacks(CURL *easy, curl_opensocket_callback open_callback, void *open_context,
                                      curl_closesocket_callback close_callback, void *close_context);
CURLcode hs_easy_set_prerequest_callback(CURL *easy, curl_prereq_callback callback);

CURLcode hs_easy_set_tls_callback(CURL *easy, curl_ssl_ctx_callback callback, void *context);
CURLcode hs_easy_set_debug_callback(CURL *easy, curl_debug_callback callback);

/* curl_global_init, with an allocator of our own (memory.c). */
CURLcode hs_global_init(void);
/* The calling thread runs transfers: what they free is kept for the next ones. */
void hs_keep_memory(void);
/* Gives back the memory of the whole pages in what libcurl's buffer has delivered, and nobody reads again. */
void hs_release_pages(const void *start, size_t count);
/* Gives back what malloc has and nobody uses. */
void hs_trim_memory(void);

/* HTTP/2 streams begin with a window of so many bytes (windows.c). Once; false where that cannot be had. */
bool hs_narrow_streams(int32_t window);
/* The window of each stream that goes on after a pause, from now on. */
void hs_set_stream_window(int32_t window);

CURLcode hs_easy_get_long(CURL *easy, CURLINFO info, long *value);
CURLcode hs_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value);
CURLcode hs_easy_get_string(CURL *easy, CURLINFO info, const char **value);
/* CURLINFO_ACTIVESOCKET. */
CURLcode hs_easy_get_socket(CURL *easy, curl_socket_t *value);

/* What libcurl knows of a request that is over. Times are microseconds since its start; a reused connection has none
   for its making. */
typedef struct {
  bool reused;
  long http_version;
  curl_off_t lookup_us, connect_us, secure_us, request_us, response_us, total_us;
  long request_size, header_size;
  /* Texts of the handle's, which change with its next request. */
  const char *local_address, *remote_address;
  long local_port, remote_port;
} hs_facts;
void hs_easy_get_facts(CURL *easy, hs_facts *facts);

/* The SSL object of the handle's connection, or NULL. Only while it has one. */
void *hs_easy_get_ssl(CURL *easy);

/* Version and cipher of the handle's TLS connection, as static texts of the TLS library; both NULL when there is
   none. Only from within a callback of the handle, while it has a connection. */
void hs_easy_get_tls(CURL *easy, const char **version, const char **cipher);

/* An international host name (UTF-8) in its ASCII form (IDNA 2008), by the library libcurl itself uses, but
   whatever the locale is. NULL where that cannot be done; else to be given to free(). */
char *hs_host_to_ascii(const char *host);

CURLMcode hs_multi_set_callbacks(CURLM *multi, curl_socket_callback socket_callback,
                                 curl_multi_timer_callback timer_callback, void *context);
CURLMcode hs_multi_set_long(CURLM *multi, CURLMoption option, long value);

/* Whether the GSSAPI library that libcurl has loaded finds credentials of the user's (a Kerberos ticket). */
bool hs_has_kerberos_ticket(void);

/* The result of a CURLMSG_DONE message; its union is opaque to Swift. */
CURLcode hs_message_result(const CURLMsg *message);

/* A socket as libcurl's own default would open it, without inheritance by child processes. */
int hs_open_socket(const struct curl_sockaddr *address);

/* Asks the resolver for a name's SRV records: the length of the whole answer, or -1. Blocks. */
int hs_query_service(const char *name, unsigned char *answer, int capacity);

/* fallocate, which the headers that Swift sees leave out: room on the disk for so many bytes of a file. 0 or errno. */
int hs_allocate(int descriptor, int64_t length);

/* environ, a variable that Swift 6 does not trust. */
char *const *hs_environment(void);

/* Marks what a socket sends: the type-of-service byte of its packets, and their place in the machine's own queue. */
void hs_mark_socket(int descriptor, int type_of_service, int priority);

/* A socket that becomes readable when an interface, an address or a route changes (rtnetlink); -1 where there is none
   to be had. */
int hs_open_network_watch(void);
/* Reads away what it has. */
void hs_drain_network_watch(int descriptor);
/* Whether an interface beyond loopback is up and has an address that reaches further than its link. */
bool hs_has_network(void);
/* Whether a new connection to the same peer would leave from another address of this machine. */
bool hs_has_other_route(int descriptor);

/* epoll, whose packed struct Swift does not import. */
typedef struct {
  int32_t descriptor;
  uint32_t events;
} hs_ready;
#define HS_READABLE 1u
#define HS_WRITABLE 2u
#define HS_FAILED 4u
int hs_epoll_create(void);
int hs_epoll_add(int poller, int descriptor, uint32_t events);
int hs_epoll_modify(int poller, int descriptor, uint32_t events);
int hs_epoll_remove(int poller, int descriptor);
int hs_epoll_wait(int poller, hs_ready *ready, int capacity, int timeout_ms);

#endif

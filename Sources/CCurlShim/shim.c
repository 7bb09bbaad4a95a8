#define _GNU_SOURCE
#include "CCurlShim.h"

#include <arpa/nameser.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <resolv.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

CURLcode hs_easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode hs_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode hs_easy_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode hs_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

CURLcode hs_easy_set_data_callback(CURL *easy, CURLoption option, hs_data_callback callback) {
  return curl_easy_setopt(easy, option, callback);
}

CURLcode hs_easy_set_seek_callback(CURL *easy, curl_seek_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, callback);
}

CURLcode hs_easy_set_socket_callbacks(CURL *easy, curl_opensocket_callback open_callback, void *open_context,
                                      curl_closesocket_callback close_callback, void *close_context) {
  CURLcode result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_callback);
  if (!result) result = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, close_callback);
  if (!result) result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, open_context);
  if (!result) result = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, close_context);
  return result;
}

CURLcode hs_easy_set_prerequest_callback(CURL *easy, curl_prereq_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

CURLcode hs_easy_set_tls_callback(CURL *easy, curl_ssl_ctx_callback callback, void *context) {
  CURLcode result = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
  return result ? result : curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context);
}

CURLcode hs_easy_set_debug_callback(CURL *easy, curl_debug_callback callback) {
  return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}

CURLcode hs_easy_get_long(CURL *easy, CURLINFO info, long *value) {
  return curl_easy_getinfo(easy, info, value);
}

CURLcode hs_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
  return curl_easy_getinfo(easy, info, value);
}

CURLcode hs_easy_get_string(CURL *easy, CURLINFO info, const char **value) {
  return curl_easy_getinfo(easy, info, value);
}

CURLcode hs_easy_get_socket(CURL *easy, curl_socket_t *value) {
  return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, value);
}

void hs_easy_get_facts(CURL *easy, hs_facts *facts) {
  long connects = 0;
  curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
  facts->reused = connects == 0;
  if (!facts->reused) {
    curl_easy_getinfo(easy, CURLINFO_NAMELOOKUP_TIME_T, &facts->lookup_us);
    curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &facts->connect_us);
    curl_easy_getinfo(easy, CURLINFO_APPCONNECT_TIME_T, &facts->secure_us);
  }
  curl_easy_getinfo(easy, CURLINFO_HTTP_VERSION, &facts->http_version);
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &facts->request_us);
  curl_easy_getinfo(easy, CURLINFO_STARTTRANSFER_TIME_T, &facts->response_us);
  curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &facts->total_us);
  curl_easy_getinfo(easy, CURLINFO_REQUEST_SIZE, &facts->request_size);
  curl_easy_getinfo(easy, CURLINFO_HEADER_SIZE, &facts->header_size);
  curl_easy_getinfo(easy, CURLINFO_LOCAL_IP, &facts->local_address);
  curl_easy_getinfo(easy, CURLINFO_LOCAL_PORT, &facts->local_port);
  curl_easy_getinfo(easy, CURLINFO_PRIMARY_IP, &facts->remote_address);
  curl_easy_getinfo(easy, CURLINFO_PRIMARY_PORT, &facts->remote_port);
}

void *hs_easy_get_ssl(CURL *easy) {
  struct curl_tlssessioninfo *info = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) || !info) return NULL;
  return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
}

typedef const char *(*ssl_text)(const void *);
typedef const void *(*ssl_cipher)(const void *);

/* OpenSSL comes with libcurl; its two functions are looked up, so that nothing is linked for them. */
void hs_easy_get_tls(CURL *easy, const char **version, const char **cipher) {
  static ssl_text get_version, get_name;
  static ssl_cipher get_cipher;
  static bool searched;
  struct curl_tlssessioninfo *info = NULL;
  *version = *cipher = NULL;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) || !info || !info->internals) return;
  if (info->backend != CURLSSLBACKEND_OPENSSL) return;
  if (!searched) {
    searched = true;
    get_version = (ssl_text)dlsym(RTLD_DEFAULT, "SSL_get_version");
    get_cipher = (ssl_cipher)dlsym(RTLD_DEFAULT, "SSL_get_current_cipher");
    get_name = (ssl_text)dlsym(RTLD_DEFAULT, "SSL_CIPHER_standard_name");
  }
  if (get_version) *version = get_version(info->internals);
  if (get_cipher && get_name) {
    const void *current = get_cipher(info->internals);
    if (current) *cipher = get_name(current);
  }
}

char *const *hs_environment(void) { return environ; }

char *hs_host_to_ascii(const char *host) {
  int (*lookup)(const uint8_t *, uint8_t **, int);
  void (*release)(void *);
  *(void **)&lookup = dlsym(RTLD_DEFAULT, "idn2_lookup_u8");
  *(void **)&release = dlsym(RTLD_DEFAULT, "idn2_free");
  uint8_t *name = NULL;
  /* IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL */
  if (!lookup || !release || lookup((const uint8_t *)host, &name, 1 | 8)) return NULL;
  char *copy = strdup((const char *)name);
  release(name);
  return copy;
}

CURLMcode hs_multi_set_callbacks(CURLM *multi, curl_socket_callback socket_callback,
                                 curl_multi_timer_callback timer_callback, void *context) {
  CURLMcode result = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket_callback);
  if (!result) result = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
  if (!result) result = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer_callback);
  if (!result) result = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
  return result;
}

CURLMcode hs_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

CURLcode hs_message_result(const CURLMsg *message) { return message->data.result; }

int hs_open_socket(const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

int hs_query_service(const char *name, unsigned char *answer, int capacity) {
  return res_query(name, ns_c_in, ns_t_srv, answer, capacity);
}

int hs_allocate(int descriptor, int64_t length) {
  return fallocate(descriptor, 0, 0, length) == 0 ? 0 : errno;
}

void hs_mark_socket(int descriptor, int type_of_service, int priority) {
  int domain = AF_INET;
  socklen_t size = sizeof domain;
  getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size);
  if (domain == AF_INET6) setsockopt(descriptor, IPPROTO_IPV6, IPV6_TCLASS, &type_of_service, sizeof type_of_service);
  /* Also for IPv4 addresses in IPv6 form. It sets a priority too, and so comes first. */
  if (domain != AF_UNIX) setsockopt(descriptor, IPPROTO_IP, IP_TOS, &type_of_service, sizeof type_of_service);
  setsockopt(descriptor, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority);
}

int hs_open_network_watch(void) {
  int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  if (descriptor < 0) return -1;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK};
  address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE;
  if (bind(descriptor, (struct sockaddr *)&address, sizeof address)) {
    close(descriptor);
    return -1;
  }
  return descriptor;
}

void hs_drain_network_watch(int descriptor) {
  char buffer[8192];
  /* ENOBUFS says that messages were lost, which is a message too. */
  while (recv(descriptor, buffer, sizeof buffer, 0) > 0 || errno == EINTR || errno == ENOBUFS) {}
}

bool hs_has_other_route(int descriptor) {
  struct sockaddr_storage peer, now, fresh;
  socklen_t peer_length = sizeof peer, now_length = sizeof now, fresh_length = sizeof fresh;
  if (getpeername(descriptor, (struct sockaddr *)&peer, &peer_length)) return false;
  if (getsockname(descriptor, (struct sockaddr *)&now, &now_length)) return false;
  int probe = socket(peer.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  /* Nothing is sent: the kernel only chooses the way. */
  bool is_routed = !connect(probe, (struct sockaddr *)&peer, peer_length) &&
                   !getsockname(probe, (struct sockaddr *)&fresh, &fresh_length);
  close(probe);
  if (!is_routed) return false;
  if (peer.ss_family == AF_INET)
    return ((struct sockaddr_in *)&now)->sin_addr.s_addr != ((struct sockaddr_in *)&fresh)->sin_addr.s_addr;
  if (peer.ss_family != AF_INET6) return false;
  return memcmp(&((struct sockaddr_in6 *)&now)->sin6_addr, &((struct sockaddr_in6 *)&fresh)->sin6_addr,
                sizeof(struct in6_addr)) != 0;
}

bool hs_has_network(void) {
  struct ifaddrs *list = NULL;
  bool found = false;
  if (getifaddrs(&list)) return true;
  for (struct ifaddrs *one = list; one && !found; one = one->ifa_next) {
    if (!one->ifa_addr || one->ifa_flags & IFF_LOOPBACK || !(one->ifa_flags & IFF_UP)) continue;
    if (one->ifa_addr->sa_family == AF_INET) found = true;
    if (one->ifa_addr->sa_family == AF_INET6)
      found = !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)one->ifa_addr)->sin6_addr);
  }
  freeifaddrs(list);
  return found;
}

static struct epoll_event event_for(int descriptor, uint32_t events) {
  struct epoll_event event = {0};
  if (events & HS_READABLE) event.events |= EPOLLIN;
  if (events & HS_WRITABLE) event.events |= EPOLLOUT;
  event.data.fd = descriptor;
  return event;
}

int hs_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int hs_epoll_add(int poller, int descriptor, uint32_t events) {
  struct epoll_event event = event_for(descriptor, events);
  return epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

int hs_epoll_modify(int poller, int descriptor, uint32_t events) {
  struct epoll_event event = event_for(descriptor, events);
  return epoll_ctl(poller, EPOLL_CTL_MOD, descriptor, &event);
}

int hs_epoll_remove(int poller, int descriptor) {
  struct epoll_event event = {0};
  return epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, &event);
}

int hs_epoll_wait(int poller, hs_ready *ready, int capacity, int timeout_ms) {
  struct epoll_event events[256];
  if (capacity > 256) capacity = 256;
  int count = epoll_wait(poller, events, capacity, timeout_ms);
  if (count < 0) return errno == EINTR ? 0 : -1;
  for (int i = 0; i < count; i++) {
    uint32_t seen = 0;
    if (events[i].events & EPOLLIN) seen |= HS_READABLE;
    if (events[i].events & EPOLLOUT) seen |= HS_WRITABLE;
    if (events[i].events & (EPOLLERR | EPOLLHUP)) seen |= HS_FAILED;
    ready[i].descriptor = events[i].data.fd;
    ready[i].events = seen;
  }
  return count;
}

/* GSSAPI (RFC 2744 §5.2), as far as it is needed, without its headers: libcurl brings the library along. */
typedef uint32_t (*gss_acquire_cred_function)(uint32_t *minor, void *name, uint32_t lifetime, void *mechanisms, int usage,
                                              void **credential, void **actual_mechanisms, uint32_t *actual_lifetime);
typedef uint32_t (*gss_release_cred_function)(uint32_t *minor, void **credential);
enum { GSS_INITIATE = 1 };

bool hs_has_kerberos_ticket(void) {
  gss_acquire_cred_function acquire = (gss_acquire_cred_function)dlsym(RTLD_DEFAULT, "gss_acquire_cred");
  gss_release_cred_function release = (gss_release_cred_function)dlsym(RTLD_DEFAULT, "gss_release_cred");
  if (!acquire || !release) return false;
  uint32_t minor = 0;
  void *credential = NULL;
  if (acquire(&minor, NULL, UINT32_MAX, NULL, GSS_INITIATE, &credential, NULL, NULL) != 0) return false;
  release(&minor, &credential);
  return true;
}

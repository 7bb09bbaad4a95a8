/* What the same work costs a plain C program on the same libcurl: requests URL REQUESTS AT_ONCE [CA_FILE [VERSION]]
 *
 * GETs the URL so many times, so many at once, each handle used again as it is; VERSION 2 is HTTP/2, the requests sharing
 * connections. With no requests it only makes libcurl ready. It sends the fields that the product sends, so that both have
 * the same to say. Exit status 1 when a response is not 200 or too few bytes came. */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

static size_t count_bytes(char *data, size_t size, size_t number, void *total) {
  (void)data;
  *(size_t *)total += size * number;
  return size * number;
}

static struct curl_slist *fields;

static CURL *make_handle(const char *url, size_t *total, const char *authorities, int is_http2) {
  CURL *easy = curl_easy_init();
  if (!easy) exit(1);
  curl_easy_setopt(easy, CURLOPT_URL, url);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count_bytes);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, total);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  if (authorities) curl_easy_setopt(easy, CURLOPT_CAINFO, authorities);
  if (!is_http2) curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  if (is_http2) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
  return easy;
}

static void check(const CURLMsg *message) {
  long status = 0;
  curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
  if (message->data.result == CURLE_OK && status == 200) return;
  fprintf(stderr, "requests: %s, status %ld\n", curl_easy_strerror(message->data.result), status);
  exit(1);
}

int main(int count, char **arguments) {
  if (count < 4) return 2;
  const char *authorities = count > 4 ? arguments[4] : NULL;
  int is_http2 = count > 5 && arguments[5][0] == '2';
  int wanted = atoi(arguments[2]), at_once = atoi(arguments[3]), begun = 0, done = 0;
  size_t total = 0;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (wanted == 0) return 0;
  fields = curl_slist_append(fields, "User-Agent: httpscript/0.1.0");
  fields = curl_slist_append(fields, "Accept-Encoding: gzip, deflate, br, zstd");
  CURLM *multi = curl_multi_init();
  for (; begun < at_once && begun < wanted; begun++)
    curl_multi_add_handle(multi, make_handle(arguments[1], &total, authorities, is_http2));
  while (done < wanted) {
    int running = 0, left = 0;
    curl_multi_perform(multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
      CURL *easy = message->easy_handle;
      check(message);
      done++;
      curl_multi_remove_handle(multi, easy);
      if (begun++ < wanted) curl_multi_add_handle(multi, easy);
    }
    if (done < wanted) curl_multi_poll(multi, NULL, 0, 1000, NULL);
  }
  return total >= (size_t)wanted ? 0 : 1;
}

/* One large transfer on libcurl, as fast as it goes: transfer get|put URL FILE
 *
 * A download is written as it comes, without stdio; the buffers are those that were found to be best. */
#include <curl/curl.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t write_all(char *data, size_t size, size_t number, void *file) {
  size_t length = size * number;
  for (size_t done = 0; done < length;) {
    ssize_t written = write(*(int *)file, data + done, length - done);
    if (written <= 0) return 0;
    done += (size_t)written;
  }
  return length;
}

static size_t read_some(char *buffer, size_t size, size_t number, void *file) {
  ssize_t got = read(*(int *)file, buffer, size * number);
  return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  int is_put = strcmp(arguments[1], "put") == 0;
  int file = is_put ? open(arguments[3], O_RDONLY) : open(arguments[3], O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return 1;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL *easy = curl_easy_init();
  curl_easy_setopt(easy, CURLOPT_URL, arguments[2]);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  if (is_put) {
    struct stat status;
    fstat(file, &status);
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 65536L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, read_some);
    curl_easy_setopt(easy, CURLOPT_READDATA, &file);
  } else {
    curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 262144L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write_all);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &file);
  }
  long status = 0;
  CURLcode result = curl_easy_perform(easy);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  close(file);
  if (result == CURLE_OK && status / 100 == 2) return 0;
  fprintf(stderr, "transfer: %s, status %ld\n", curl_easy_strerror(result), status);
  return 1;
}

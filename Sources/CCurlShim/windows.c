/* How much a server may send of an HTTP/2 stream before it is asked for more.

   libcurl hard-wires 32 MiB for each stream and has no option for it. While a transfer is paused and other streams of
   its connection are read, it keeps all of that in memory. So two of the functions that it calls in nghttp2 are replaced
   in its table of imports by the two here, which make the window small at first, and after a pause what the transfer
   wants. Where the table is not as expected, all stays as it was. */
#define _GNU_SOURCE
#include "CCurlShim.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* nghttp2_settings_entry, and the number of SETTINGS_INITIAL_WINDOW_SIZE. */
typedef struct {
  int32_t number;
  uint32_t value;
} setting;
enum { INITIAL_WINDOW_SIZE = 4, MOST_SETTINGS = 16 };

static int (*submit_settings)(void *session, uint8_t flags, const setting *list, size_t count);
static int (*set_window)(void *session, uint8_t flags, int32_t stream, int32_t size);

static int32_t usual_window, next_window;

static int submit_narrow_settings(void *session, uint8_t flags, const setting *list, size_t count) {
  setting changed[MOST_SETTINGS];
  if (count > MOST_SETTINGS) return submit_settings(session, flags, list, count);
  for (size_t i = 0; i < count; i++) {
    changed[i] = list[i];
    if (list[i].number == INITIAL_WINDOW_SIZE && list[i].value > (uint32_t)usual_window)
      changed[i].value = (uint32_t)usual_window;
  }
  return submit_settings(session, flags, changed, count);
}

/* libcurl sets a stream's window to 0 when it pauses, and back afterwards. Stream 0 is the connection. */
static int set_wanted_window(void *session, uint8_t flags, int32_t stream, int32_t size) {
  if (stream != 0 && size > next_window) size = next_window;
  return set_window(session, flags, stream, size);
}

static bool replace(void **slot, void *function) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  void *start = (void *)((uintptr_t)slot & ~(page - 1));
  if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return false;
  *slot = function;
  mprotect(start, page, PROT_READ);
  return true;
}

/* The place in a library's table of imports that leads to a function; NULL when it has none. */
static void **import_of(const struct link_map *library, const char *name) {
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  const ElfW(Rela) *imports = NULL;
  size_t size = 0, is_rela = 0;
  for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
    case DT_SYMTAB: symbols = (const void *)entry->d_un.d_ptr; break;
    case DT_STRTAB: names = (const void *)entry->d_un.d_ptr; break;
    case DT_JMPREL: imports = (const void *)entry->d_un.d_ptr; break;
    case DT_PLTRELSZ: size = entry->d_un.d_val; break;
    case DT_PLTREL: is_rela = entry->d_un.d_val == DT_RELA; break;
    default: break;
    }
  }
  if (!symbols || !names || !imports || !is_rela) return NULL;
  for (size_t i = 0; i < size / sizeof *imports; i++) {
    /* ELF64_R_SYM: there is no 32-bit Swift. */
    const ElfW(Sym) *symbol = symbols + (imports[i].r_info >> 32);
    if (strcmp(names + symbol->st_name, name) == 0) return (void **)(library->l_addr + imports[i].r_offset);
  }
  return NULL;
}

bool hs_narrow_streams(int32_t window) {
  usual_window = next_window = window;
  void *library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD);
  struct link_map *map = NULL;
  if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return false;
  void **settings_slot = import_of(map, "nghttp2_submit_settings");
  void **window_slot = import_of(map, "nghttp2_session_set_local_window_size");
  if (!settings_slot || !window_slot || submit_settings) return false;
  *(void **)&submit_settings = dlsym(library, "nghttp2_submit_settings");
  *(void **)&set_window = dlsym(library, "nghttp2_session_set_local_window_size");
  /* In this order: a window that begins large must still be set back after a pause. */
  return submit_settings && set_window && replace(window_slot, (void *)set_wanted_window) &&
         replace(settings_slot, (void *)submit_narrow_settings);
}

void hs_set_stream_window(int32_t window) { next_window = window; }

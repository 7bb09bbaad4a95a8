#include "Stdlib.h"
#include <string.h>

// Clang knows #embed in every C mode but calls it an extension before C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char m_http[] = {
#embed "http.lua"
};
static const char m_errors[] = {
#embed "http/errors.lua"
};
static const char m_fibers[] = {
#embed "http/fibers.lua"
};
static const char m_headers[] = {
#embed "http/headers.lua"
};
static const char m_metrics[] = {
#embed "http/metrics.lua"
};
static const char m_options[] = {
#embed "http/options.lua"
};
static const char m_request[] = {
#embed "http/request.lua"
};
static const char m_response[] = {
#embed "http/response.lua"
};
static const char m_session[] = {
#embed "http/session.lua"
};
static const char m_task[] = {
#embed "http/task.lua"
};
static const char m_url[] = {
#embed "http/url.lua"
};
static const char m_charset[] = {
#embed "http/charset.lua"
};
static const char m_crawl[] = {
#embed "http/crawl.lua"
};
static const char m_crawl_frontier[] = {
#embed "http/crawl_frontier.lua"
};
static const char m_crawl_links[] = {
#embed "http/crawl_links.lua"
};
static const char m_css[] = {
#embed "http/css.lua"
};
static const char m_css_parser[] = {
#embed "http/css_parser.lua"
};
static const char m_css_pseudo[] = {
#embed "http/css_pseudo.lua"
};
static const char m_ext_value[] = {
#embed "http/ext_value.lua"
};
static const char m_filename[] = {
#embed "http/filename.lua"
};
static const char m_links[] = {
#embed "http/links.lua"
};
static const char m_mime[] = {
#embed "http/mime.lua"
};
static const char m_multipart[] = {
#embed "http/multipart.lua"
};
static const char m_retry[] = {
#embed "http/retry.lua"
};
static const char m_robots[] = {
#embed "http/robots.lua"
};

typedef struct module {
    const char *name;
    const char *text;
    size_t length;
} module;

#define ENTRY(name, identifier) {name, identifier, sizeof identifier}

static const module modules[] = {
    ENTRY("http", m_http),
    ENTRY("http.errors", m_errors),
    ENTRY("http.fibers", m_fibers),
    ENTRY("http.headers", m_headers),
    ENTRY("http.metrics", m_metrics),
    ENTRY("http.options", m_options),
    ENTRY("http.request", m_request),
    ENTRY("http.response", m_response),
    ENTRY("http.session", m_session),
    ENTRY("http.task", m_task),
    ENTRY("http.charset", m_charset),
    ENTRY("http.crawl", m_crawl),
    ENTRY("http.crawl_frontier", m_crawl_frontier),
    ENTRY("http.crawl_links", m_crawl_links),
    ENTRY("http.css", m_css),
    ENTRY("http.css_parser", m_css_parser),
    ENTRY("http.css_pseudo", m_css_pseudo),
    ENTRY("http.ext_value", m_ext_value),
    ENTRY("http.filename", m_filename),
    ENTRY("http.links", m_links),
    ENTRY("http.mime", m_mime),
    ENTRY("http.multipart", m_multipart),
    ENTRY("http.retry", m_retry),
    ENTRY("http.robots", m_robots),
    ENTRY("http.url", m_url),
};

size_t stdlib_count(void) { return sizeof modules / sizeof modules[0]; }
const char *stdlib_name(size_t index) { return modules[index].name; }

bool stdlib_find(const char *name, const char **text, size_t *length) {
    for (size_t i = 0; i < stdlib_count(); i++) {
        if (strcmp(modules[i].name, name) != 0) continue;
        *text = modules[i].text;
        *length = modules[i].length;
        return true;
    }
    return false;
}

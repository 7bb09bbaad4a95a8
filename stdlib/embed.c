#include "Stdlib.h"
#include <string.h>

// Clang knows #embed in every C mode but calls it an extension before C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char m_http[] = {
#embed "http.lua"
};
static const char m_http_active[] = {
#embed "http/active.lua"
};
static const char m_http_call[] = {
#embed "http/call.lua"
};
static const char m_http_charset[] = {
#embed "http/charset.lua"
};
static const char m_http_configuration[] = {
#embed "http/configuration.lua"
};
static const char m_http_crawl[] = {
#embed "http/crawl.lua"
};
static const char m_http_crawl_fetch[] = {
#embed "http/crawl_fetch.lua"
};
static const char m_http_crawl_frontier[] = {
#embed "http/crawl_frontier.lua"
};
static const char m_http_crawl_links[] = {
#embed "http/crawl_links.lua"
};
static const char m_http_css[] = {
#embed "http/css.lua"
};
static const char m_http_css_parser[] = {
#embed "http/css_parser.lua"
};
static const char m_http_css_pseudo[] = {
#embed "http/css_pseudo.lua"
};
static const char m_http_dates[] = {
#embed "http/dates.lua"
};
static const char m_http_dialogue[] = {
#embed "http/dialogue.lua"
};
static const char m_http_dom[] = {
#embed "http/dom.lua"
};
static const char m_http_errors[] = {
#embed "http/errors.lua"
};
static const char m_http_events[] = {
#embed "http/events.lua"
};
static const char m_http_ext_value[] = {
#embed "http/ext_value.lua"
};
static const char m_http_fibers[] = {
#embed "http/fibers.lua"
};
static const char m_http_filename[] = {
#embed "http/filename.lua"
};
static const char m_http_headers[] = {
#embed "http/headers.lua"
};
static const char m_http_html[] = {
#embed "http/html.lua"
};
static const char m_http_inspect[] = {
#embed "http/inspect.lua"
};
static const char m_http_lazy[] = {
#embed "http/lazy.lua"
};
static const char m_http_links[] = {
#embed "http/links.lua"
};
static const char m_http_map[] = {
#embed "http/map.lua"
};
static const char m_http_metrics[] = {
#embed "http/metrics.lua"
};
static const char m_http_mime[] = {
#embed "http/mime.lua"
};
static const char m_http_multipart[] = {
#embed "http/multipart.lua"
};
static const char m_http_options[] = {
#embed "http/options.lua"
};
static const char m_http_request[] = {
#embed "http/request.lua"
};
static const char m_http_response[] = {
#embed "http/response.lua"
};
static const char m_http_retry[] = {
#embed "http/retry.lua"
};
static const char m_http_robots[] = {
#embed "http/robots.lua"
};
static const char m_http_scopes[] = {
#embed "http/scopes.lua"
};
static const char m_http_session[] = {
#embed "http/session.lua"
};
static const char m_http_settings[] = {
#embed "http/settings.lua"
};
static const char m_http_steps[] = {
#embed "http/steps.lua"
};
static const char m_http_task[] = {
#embed "http/task.lua"
};
static const char m_http_terminal[] = {
#embed "http/terminal.lua"
};
static const char m_http_url[] = {
#embed "http/url.lua"
};
static const char m_http_verbs[] = {
#embed "http/verbs.lua"
};
static const char m_http_xml[] = {
#embed "http/xml.lua"
};
static const char m_json[] = {
#embed "json.lua"
};

typedef struct module {
    const char *name;
    const char *text;
    size_t length;
} module;

#define ENTRY(name, identifier) {name, identifier, sizeof identifier}

static const module modules[] = {
    ENTRY("http", m_http),
    ENTRY("http.active", m_http_active),
    ENTRY("http.call", m_http_call),
    ENTRY("http.charset", m_http_charset),
    ENTRY("http.configuration", m_http_configuration),
    ENTRY("http.crawl", m_http_crawl),
    ENTRY("http.crawl_fetch", m_http_crawl_fetch),
    ENTRY("http.crawl_frontier", m_http_crawl_frontier),
    ENTRY("http.crawl_links", m_http_crawl_links),
    ENTRY("http.css", m_http_css),
    ENTRY("http.css_parser", m_http_css_parser),
    ENTRY("http.css_pseudo", m_http_css_pseudo),
    ENTRY("http.dates", m_http_dates),
    ENTRY("http.dialogue", m_http_dialogue),
    ENTRY("http.dom", m_http_dom),
    ENTRY("http.errors", m_http_errors),
    ENTRY("http.events", m_http_events),
    ENTRY("http.ext_value", m_http_ext_value),
    ENTRY("http.fibers", m_http_fibers),
    ENTRY("http.filename", m_http_filename),
    ENTRY("http.headers", m_http_headers),
    ENTRY("http.html", m_http_html),
    ENTRY("http.inspect", m_http_inspect),
    ENTRY("http.lazy", m_http_lazy),
    ENTRY("http.links", m_http_links),
    ENTRY("http.map", m_http_map),
    ENTRY("http.metrics", m_http_metrics),
    ENTRY("http.mime", m_http_mime),
    ENTRY("http.multipart", m_http_multipart),
    ENTRY("http.options", m_http_options),
    ENTRY("http.request", m_http_request),
    ENTRY("http.response", m_http_response),
    ENTRY("http.retry", m_http_retry),
    ENTRY("http.robots", m_http_robots),
    ENTRY("http.scopes", m_http_scopes),
    ENTRY("http.session", m_http_session),
    ENTRY("http.settings", m_http_settings),
    ENTRY("http.steps", m_http_steps),
    ENTRY("http.task", m_http_task),
    ENTRY("http.terminal", m_http_terminal),
    ENTRY("http.url", m_http_url),
    ENTRY("http.verbs", m_http_verbs),
    ENTRY("http.xml", m_http_xml),
    ENTRY("json", m_json),
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

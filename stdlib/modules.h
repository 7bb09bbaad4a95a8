// Made by scripts/embed.

// Clang knows #embed in every C mode but calls it an extension before C23.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char m_http[] = {
#embed "http.lua"
};
static const char m_http_active[] = {
#embed "http/active.lua"
};
static const char m_http_auth[] = {
#embed "http/auth.lua"
};
static const char m_http_background[] = {
#embed "http/background.lua"
};
static const char m_http_become[] = {
#embed "http/become.lua"
};
static const char m_http_cache[] = {
#embed "http/cache.lua"
};
static const char m_http_cached_response[] = {
#embed "http/cached_response.lua"
};
static const char m_http_call[] = {
#embed "http/call.lua"
};
static const char m_http_challenge[] = {
#embed "http/challenge.lua"
};
static const char m_http_channel[] = {
#embed "http/channel.lua"
};
static const char m_http_charset[] = {
#embed "http/charset.lua"
};
static const char m_http_checksum[] = {
#embed "http/checksum.lua"
};
static const char m_http_configuration[] = {
#embed "http/configuration.lua"
};
static const char m_http_cookie_files[] = {
#embed "http/cookie_files.lua"
};
static const char m_http_cookies[] = {
#embed "http/cookies.lua"
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
static const char m_http_credential[] = {
#embed "http/credential.lua"
};
static const char m_http_credential_storage[] = {
#embed "http/credential_storage.lua"
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
static const char m_http_delegate[] = {
#embed "http/delegate.lua"
};
static const char m_http_dialogue[] = {
#embed "http/dialogue.lua"
};
static const char m_http_digest[] = {
#embed "http/digest.lua"
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
static const char m_http_leftovers[] = {
#embed "http/leftovers.lua"
};
static const char m_http_links[] = {
#embed "http/links.lua"
};
static const char m_http_loads[] = {
#embed "http/loads.lua"
};
static const char m_http_map[] = {
#embed "http/map.lua"
};
static const char m_http_metalink[] = {
#embed "http/metalink.lua"
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
static const char m_http_notifications[] = {
#embed "http/notifications.lua"
};
static const char m_http_operation[] = {
#embed "http/operation.lua"
};
static const char m_http_operation_storage[] = {
#embed "http/operation_storage.lua"
};
static const char m_http_operation_transfer[] = {
#embed "http/operation_transfer.lua"
};
static const char m_http_options[] = {
#embed "http/options.lua"
};
static const char m_http_packing[] = {
#embed "http/packing.lua"
};
static const char m_http_progress[] = {
#embed "http/progress.lua"
};
static const char m_http_progress_text[] = {
#embed "http/progress_text.lua"
};
static const char m_http_request[] = {
#embed "http/request.lua"
};
static const char m_http_response[] = {
#embed "http/response.lua"
};
static const char m_http_resume_data[] = {
#embed "http/resume_data.lua"
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
static const char m_http_security[] = {
#embed "http/security.lua"
};
static const char m_http_segments[] = {
#embed "http/segments.lua"
};
static const char m_http_segments_journal[] = {
#embed "http/segments_journal.lua"
};
static const char m_http_serializer[] = {
#embed "http/serializer.lua"
};
static const char m_http_serializer_query[] = {
#embed "http/serializer_query.lua"
};
static const char m_http_server_trust[] = {
#embed "http/server_trust.lua"
};
static const char m_http_session[] = {
#embed "http/session.lua"
};
static const char m_http_settings[] = {
#embed "http/settings.lua"
};
static const char m_http_sigv4[] = {
#embed "http/sigv4.lua"
};
static const char m_http_steps[] = {
#embed "http/steps.lua"
};
static const char m_http_stream[] = {
#embed "http/stream.lua"
};
static const char m_http_task[] = {
#embed "http/task.lua"
};
static const char m_http_task_classes[] = {
#embed "http/task_classes.lua"
};
static const char m_http_task_end[] = {
#embed "http/task_end.lua"
};
static const char m_http_task_events[] = {
#embed "http/task_events.lua"
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
static const char m_http_web_socket[] = {
#embed "http/web_socket.lua"
};
static const char m_http_with_timeout[] = {
#embed "http/with_timeout.lua"
};
static const char m_http_xml[] = {
#embed "http/xml.lua"
};
static const char m_json[] = {
#embed "json.lua"
};

static const module modules[] = {
    {"http", m_http, sizeof m_http},
    {"http.active", m_http_active, sizeof m_http_active},
    {"http.auth", m_http_auth, sizeof m_http_auth},
    {"http.background", m_http_background, sizeof m_http_background},
    {"http.become", m_http_become, sizeof m_http_become},
    {"http.cache", m_http_cache, sizeof m_http_cache},
    {"http.cached_response", m_http_cached_response, sizeof m_http_cached_response},
    {"http.call", m_http_call, sizeof m_http_call},
    {"http.challenge", m_http_challenge, sizeof m_http_challenge},
    {"http.channel", m_http_channel, sizeof m_http_channel},
    {"http.charset", m_http_charset, sizeof m_http_charset},
    {"http.checksum", m_http_checksum, sizeof m_http_checksum},
    {"http.configuration", m_http_configuration, sizeof m_http_configuration},
    {"http.cookie_files", m_http_cookie_files, sizeof m_http_cookie_files},
    {"http.cookies", m_http_cookies, sizeof m_http_cookies},
    {"http.crawl", m_http_crawl, sizeof m_http_crawl},
    {"http.crawl_fetch", m_http_crawl_fetch, sizeof m_http_crawl_fetch},
    {"http.crawl_frontier", m_http_crawl_frontier, sizeof m_http_crawl_frontier},
    {"http.crawl_links", m_http_crawl_links, sizeof m_http_crawl_links},
    {"http.credential", m_http_credential, sizeof m_http_credential},
    {"http.credential_storage", m_http_credential_storage, sizeof m_http_credential_storage},
    {"http.css", m_http_css, sizeof m_http_css},
    {"http.css_parser", m_http_css_parser, sizeof m_http_css_parser},
    {"http.css_pseudo", m_http_css_pseudo, sizeof m_http_css_pseudo},
    {"http.dates", m_http_dates, sizeof m_http_dates},
    {"http.delegate", m_http_delegate, sizeof m_http_delegate},
    {"http.dialogue", m_http_dialogue, sizeof m_http_dialogue},
    {"http.digest", m_http_digest, sizeof m_http_digest},
    {"http.dom", m_http_dom, sizeof m_http_dom},
    {"http.errors", m_http_errors, sizeof m_http_errors},
    {"http.events", m_http_events, sizeof m_http_events},
    {"http.ext_value", m_http_ext_value, sizeof m_http_ext_value},
    {"http.fibers", m_http_fibers, sizeof m_http_fibers},
    {"http.filename", m_http_filename, sizeof m_http_filename},
    {"http.headers", m_http_headers, sizeof m_http_headers},
    {"http.html", m_http_html, sizeof m_http_html},
    {"http.inspect", m_http_inspect, sizeof m_http_inspect},
    {"http.lazy", m_http_lazy, sizeof m_http_lazy},
    {"http.leftovers", m_http_leftovers, sizeof m_http_leftovers},
    {"http.links", m_http_links, sizeof m_http_links},
    {"http.loads", m_http_loads, sizeof m_http_loads},
    {"http.map", m_http_map, sizeof m_http_map},
    {"http.metalink", m_http_metalink, sizeof m_http_metalink},
    {"http.metrics", m_http_metrics, sizeof m_http_metrics},
    {"http.mime", m_http_mime, sizeof m_http_mime},
    {"http.multipart", m_http_multipart, sizeof m_http_multipart},
    {"http.notifications", m_http_notifications, sizeof m_http_notifications},
    {"http.operation", m_http_operation, sizeof m_http_operation},
    {"http.operation_storage", m_http_operation_storage, sizeof m_http_operation_storage},
    {"http.operation_transfer", m_http_operation_transfer, sizeof m_http_operation_transfer},
    {"http.options", m_http_options, sizeof m_http_options},
    {"http.packing", m_http_packing, sizeof m_http_packing},
    {"http.progress", m_http_progress, sizeof m_http_progress},
    {"http.progress_text", m_http_progress_text, sizeof m_http_progress_text},
    {"http.request", m_http_request, sizeof m_http_request},
    {"http.response", m_http_response, sizeof m_http_response},
    {"http.resume_data", m_http_resume_data, sizeof m_http_resume_data},
    {"http.retry", m_http_retry, sizeof m_http_retry},
    {"http.robots", m_http_robots, sizeof m_http_robots},
    {"http.scopes", m_http_scopes, sizeof m_http_scopes},
    {"http.security", m_http_security, sizeof m_http_security},
    {"http.segments", m_http_segments, sizeof m_http_segments},
    {"http.segments_journal", m_http_segments_journal, sizeof m_http_segments_journal},
    {"http.serializer", m_http_serializer, sizeof m_http_serializer},
    {"http.serializer_query", m_http_serializer_query, sizeof m_http_serializer_query},
    {"http.server_trust", m_http_server_trust, sizeof m_http_server_trust},
    {"http.session", m_http_session, sizeof m_http_session},
    {"http.settings", m_http_settings, sizeof m_http_settings},
    {"http.sigv4", m_http_sigv4, sizeof m_http_sigv4},
    {"http.steps", m_http_steps, sizeof m_http_steps},
    {"http.stream", m_http_stream, sizeof m_http_stream},
    {"http.task", m_http_task, sizeof m_http_task},
    {"http.task_classes", m_http_task_classes, sizeof m_http_task_classes},
    {"http.task_end", m_http_task_end, sizeof m_http_task_end},
    {"http.task_events", m_http_task_events, sizeof m_http_task_events},
    {"http.terminal", m_http_terminal, sizeof m_http_terminal},
    {"http.url", m_http_url, sizeof m_http_url},
    {"http.verbs", m_http_verbs, sizeof m_http_verbs},
    {"http.web_socket", m_http_web_socket, sizeof m_http_web_socket},
    {"http.with_timeout", m_http_with_timeout, sizeof m_http_with_timeout},
    {"http.xml", m_http_xml, sizeof m_http_xml},
    {"json", m_json, sizeof m_json},
};

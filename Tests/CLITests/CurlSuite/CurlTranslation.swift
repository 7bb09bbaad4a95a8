import Foundation
import TestSupport

/// A curl command as the steps the Lua driver takes, or the rule by which it is left out.
struct CurlTranslation {
  /// Why a command is left out.
  struct Skip: Error {
    let rule: String
  }

  /// Options that say what to do with an answer, not what to ask: they change no request.
  private static let local: Set<String> = [
    "output", "output-dir", "dump-header", "remote-name", "remote-header-name", "write-out", "include", "silent",
    "show-error", "no-progress-meter", "no-include", "no-clobber", "clobber", "remove-on-error", "stderr",
    "create-dirs", "junk-session-cookies", "fail", "fail-with-body", "no-remote-name", "progress-bar", "ipv4", "proto",
    "http1.1", "basic", "no-basic", "expect100-timeout", "etag-save",
  ]

  /// Options of things that this suite does not cover, by the rule that says so.
  private static let skipped: [String: String] = [
    "config": "curl's configuration files", "netrc": "netrc sent unasked", "netrc-file": "netrc sent unasked",
    "netrc-optional": "netrc sent unasked", "proxy-ntlm": "a scheme for the proxy said beforehand",
    "libcurl": "curl's code generator", "http0.9": "HTTP/0.9", "no-http0.9": "HTTP/0.9",
    "connect-to": "--connect-to", "request-target": "--request-target", "socks5": "SOCKS",
    "location-trusted": "--location-trusted", "ignore-content-length": "--ignore-content-length",
    "variable": "curl's variables", "expand-data": "curl's variables", "fail-early": "curl's own exit rules",
    "tls-max": "TLS", "proxy-tlsv1": "TLS", "form": "forms that fail in the tool", "post301": "--post301",
    "post302": "--post302",
  ]

  let one: CurlCase

  /// The steps, one for each transfer.
  func steps() throws -> [JSONValue] {
    if one.hasServerCommand { throw Skip(rule: "server commands") }
    if one.errorCode == 2 { throw Skip(rule: "curl's own usage errors") }
    if one.errorCode == 23 || one.number == 369 { throw Skip(rule: "curl's output files") }
    let operations = CurlOption.operations(one.command)
    let options = operations.flatMap(\.options)
    for option in options { if let rule = Self.skipped[option.name] { throw Skip(rule: rule) } }
    if !one.environment.isEmpty, options.contains(where: { ["proxy", "noproxy"].contains($0.name) }) {
      throw Skip(rule: "proxy options mixed with the environment's")
    }
    if one.hasConfigurationHome { throw Skip(rule: "curl's configuration files") }
    return try operations.flatMap { operation in try operation.urls.map { try step($0, operation.options) } }
  }

  /// What curl's cookie engine begins with, as files' bytes in hexadecimal; nil where it is not asked for.
  func cookies() throws -> JSONValue? {
    let options = CurlOption.operations(one.command).flatMap(\.options)
    let names = options.filter { $0.name == "cookie" && !$0.value.contains("=") }.map(\.value)
    guard !names.isEmpty || options.contains(where: { $0.name == "cookie-jar" }) else { return nil }
    if options.contains(where: { $0.name == "header" && $0.value.lowercased().hasPrefix("host:") }) {
      throw Skip(rule: "cookies for the host of a Host field set by hand")
    }
    let files = one.files.filter { names.contains($0.name) }
    let junk = options.contains { $0.name == "junk-session-cookies" }
    return .object(["files": .array(files.map { .string(hexadecimal($0.content)) }), "junk": .bool(junk)])
  }

  private func step(_ url: String, _ options: [CurlOption]) throws -> JSONValue {
    var step = CurlStep(url: try target(url), files: one.files, input: one.standardInput)
    for option in options where !Self.local.contains(option.name) { try step.apply(option) }
    if let resume = options.first(where: { $0.name == "continue-at" }) { step.goOn(resume.value, options) }
    if !step.retry.isEmpty, !step.data.isEmpty { throw Skip(rule: "a retry of what is not idempotent") }
    if step.scheme == "digest", step.user == nil { step.takeUserFromURL() }
    if one.number == 82 { throw Skip(rule: "Basic for a proxy and nothing else") }
    return step.json(follows: options.contains { $0.name == "location" })
  }

  private func target(_ url: String) throws -> String {
    if url.contains(where: { "{[".contains($0) }) { throw Skip(rule: "URL globbing") }
    if ["ftp:", "telnet:", "file:"].contains(where: url.hasPrefix) { throw Skip(rule: "other protocols") }
    return url.contains("://") || url.hasPrefix("http:/") ? url : "http://" + url
  }
}

/// One transfer under construction.
private struct CurlStep {
  let files: [(name: String, content: String)]
  let input: String
  var url: String
  var headers: [(String, String)] = []
  var members: [String: JSONValue] = [:]
  var data: [String] = []
  var user: String?
  var scheme = "basic"
  var proxy: String?
  var proxyUser: String?
  /// The proxy's credentials are for its challenges only.
  var asksProxy = false
  var configuration: [String: JSONValue] = [:]
  var retry: [String: JSONValue] = [:]
  /// Fields that curl adds unless the command has its own.
  var defaults: [(String, String)] = []

  init(url: String, files: [(name: String, content: String)], input: String) {
    self.url = url
    self.files = files
    self.input = input
  }

  mutating func apply(_ option: CurlOption) throws {
    let value = option.value
    switch option.name {
    case "header": header(value)
    case "user-agent": headers.append(("User-Agent", value))
    case "referer":
      if value.hasSuffix(";auto") { throw CurlTranslation.Skip(rule: "--referer ;auto") }
      headers.append(("Referer", value))
    case "range": headers.append(("Range", "bytes=" + value))
    case "cookie":
      if value.contains("=") { headers.append(("Cookie", value)) }
    case "cookie-jar": break
    case "time-cond": members["if_modified_since"] = .string(value)
    case "data", "data-binary", "data-urlencode", "json", "upload-file": try body(option)
    case "request": members["method"] = .string(value)
    case "head": members["method"] = .string("HEAD")
    case "max-redirs": members["redirects"] = .number(Double(value) ?? 0)
    case "max-filesize": members["max_body"] = .number(Double(value) ?? 0)
    case "max-time": members["resource_timeout"] = .number(Double(value) ?? 0)
    case "location", "continue-at": break
    case "etag-compare":
      let tag = files.first { $0.name == value }?.content.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
      headers.append(("If-None-Match", tag.isEmpty ? "\"\"" : tag))
    case "http1.0": configuration["http_version"] = .string("1.0")
    case "retry": retry["limit"] = .number(min(Double(value) ?? 0, 5))
    case "retry-max-time": retry["max_elapsed"] = .number(Double(value) ?? 0)
    case "retry-all-errors": break
    case "url-query": url += (url.contains("?") ? "&" : "?") + value
    default: try connect(option)
    }
  }

  /// The rest of a file, from an offset or, for "-", from the end of what is there on.
  mutating func goOn(_ offset: String, _ options: [CurlOption]) {
    let output = options.first { $0.name == "output" }?.value
    let length = files.first { $0.name == output }.map { latin1Bytes($0.content).count } ?? 0
    headers.append(("Range", "bytes=\(offset == "-" ? "\(length)" : offset)-"))
  }

  private mutating func connect(_ option: CurlOption) throws {
    let value = option.value
    switch option.name {
    case "user": user = value
    case "digest": scheme = "digest"
    case "anyauth": scheme = "any"
    case "ntlm": scheme = "ntlm"
    case "proxy-anyauth": asksProxy = true
    case "oauth2-bearer": members["auth"] = .object(["bearer": .string(value)])
    case "proxy":
      guard !value.isEmpty else { throw CurlTranslation.Skip(rule: "an empty --proxy") }
      proxy = value.contains("://") ? value : "http://" + value
    case "proxy-user": proxyUser = value
    case "noproxy": configuration["no_proxy"] = .string(value)
    case "resolve": try resolve(value)
    default: throw CurlTranslation.Skip(rule: "--" + option.name)
    }
  }

  /// Credentials in a URL are Basic for us; curl has them wait for the scheme the command names.
  mutating func takeUserFromURL() {
    guard let match = url.firstMatch(of: /^(\w+:\/\/)([^@\/]*)@/) else { return }
    user = String(match.2).removingPercentEncoding
    url.replaceSubrange(match.range, with: match.1)
  }

  private mutating func header(_ line: String) {
    if let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      if !value.isEmpty { headers.append((String(line[..<colon]), String(value))) }
    } else if line.hasSuffix(";") {
      headers.append((String(line.dropLast()), ""))
    }
  }

  private mutating func resolve(_ value: String) throws {
    let parts = value.split(separator: ":", maxSplits: 2).map(String.init)
    guard parts.count == 3, parts[0] != "*", Int(parts[1]) != nil else {
      throw CurlTranslation.Skip(rule: "--resolve with a pattern or a mistake")
    }
    configuration["resolve"] = .object(["\(parts[0]):\(parts[1])": .string(parts[2])])
  }

  private mutating func body(_ option: CurlOption) throws {
    switch option.name {
    case "upload-file":
      if option.value == "-" { members["reader"] = .bool(true) }
      data.append(try content(option.value == "-" ? "-" : option.value))
      members["method"] = members["method"] ?? .string("PUT")
    case "json":
      data.append(option.value.hasPrefix("@") ? try content(String(option.value.dropFirst())) : option.value)
      defaults = [("Content-Type", "application/json"), ("Accept", "application/json")]
    case "data-urlencode": data.append(try encoded(option.value))
    default:
      let isFile = option.value.hasPrefix("@")
      let text = isFile ? try content(String(option.value.dropFirst())) : option.value
      let lines = text.components(separatedBy: CharacterSet.newlines)
      data.append(isFile && option.name == "data" ? lines.joined() : text)
    }
    if option.name != "upload-file", members["method"] == nil { members["method"] = .string("POST") }
    if option.name.hasPrefix("data") { defaults = [("Content-Type", "application/x-www-form-urlencoded")] }
  }

  private func content(_ name: String) throws -> String {
    if name == "-" { return input }
    guard let file = files.first(where: { $0.name == name }) else {
      throw CurlTranslation.Skip(rule: "a file the data does not have")
    }
    return file.content
  }

  private func encoded(_ value: String) throws -> String {
    guard let mark = value.firstIndex(where: { "=@".contains($0) }) else { return escaped(value) }
    let name = value[..<mark]
    let rest = String(value[value.index(after: mark)...])
    let text = escaped(value[mark] == "@" ? try content(rest) : rest)
    return name.isEmpty ? text : "\(name)=\(text)"
  }

  private func escaped(_ text: String) -> String {
    let safe = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
    return (text.addingPercentEncoding(withAllowedCharacters: safe) ?? text).replacingOccurrences(of: "%20", with: "+")
  }

  /// The step as the driver reads it; bytes travel in hexadecimal.
  func json(follows: Bool) -> JSONValue {
    var step = members
    let missing = defaults.filter { field in !headers.contains { $0.0.lowercased() == field.0.lowercased() } }
    let fields = headers + missing
    step["url"] = .string(url)
    if !retry.isEmpty { step["retry"] = .object(retry) }
    step["headers"] = .array(fields.map { .array([.string(hexadecimal($0.0)), .string(hexadecimal($0.1))]) })
    if members["method"] != nil, !data.isEmpty { step["body"] = .string(hexadecimal(data.joined(separator: "&"))) }
    if !follows {
      step["redirects"] = .bool(false)
    } else if step["redirects"] == nil {
      step["redirects"] = .number(50)
    }
    if let user {
      let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      step["auth"] = .object([
        "user": .string(parts[0]), "password": .string(parts.count > 1 ? parts[1] : ""), "scheme": .string(scheme),
      ])
    }
    // curl begins each transfer without what it has learnt in the last one.
    step["fresh"] = .bool(scheme != "basic")
    if asksProxy, let proxyUser { step["proxy_user"] = .string(proxyUser) }
    step["configuration"] = .object(finishedConfiguration())
    return .object(step)
  }

  private func finishedConfiguration() -> [String: JSONValue] {
    var configuration = configuration
    let noProxy = configuration.removeValue(forKey: "no_proxy")
    guard var address = proxy else { return configuration }
    if let proxyUser, !asksProxy {
      let parts = proxyUser.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "" }
      address = address.replacingOccurrences(of: "://", with: "://\(parts.joined(separator: ":"))@")
    }
    var member: [String: JSONValue] = ["url": .string(address)]
    member["no_proxy"] = noProxy
    configuration["connection_proxy"] = .object(member)
    return configuration
  }

}

/// Bytes as JSON can carry them.
private func hexadecimal(_ text: String) -> String {
  latin1Bytes(text).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

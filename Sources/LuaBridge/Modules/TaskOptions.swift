import SessionCore

/// The options of a task that are seldom given, by name: what stands in no position of its own in `core.start`.
/// The Lua side (`settings.options`) has checked their types; numbers come as decimal text, booleans as "1" and "0".
enum TaskOptions {
  /// - Returns: false for a name or a value that is not understood.
  static func apply(_ block: UnsafeRawBufferPointer, to task: TaskRequest) -> Bool {
    let texts = block.split(separator: 0, omittingEmptySubsequences: false)
    for index in stride(from: 0, to: texts.count - 1, by: 2) {
      let name = String(decoding: texts[index], as: UTF8.self)
      guard set(name, String(decoding: texts[index + 1], as: UTF8.self), on: task) else { return false }
    }
    return true
  }

  /// Lines: offset, count, total, validator; then the path.
  private static func window(_ text: String) -> PartWindow? {
    let lines = text.split(separator: "\n", maxSplits: 4, omittingEmptySubsequences: false)
    guard lines.count == 5, let offset = Int(lines[0]), let count = Int(lines[1]), let total = Int(lines[2]) else {
      return nil
    }
    return PartWindow(
      path: String(lines[4]), offset: offset, count: count, total: total, validator: String(lines[3]))
  }

  /// Bytes a second to receive and to send, 0 for no limit.
  private static func rateLimit(_ text: String) -> RateLimit? {
    let numbers = text.split(separator: " ").map { Double($0) }
    guard numbers.count == 2, let receive = numbers[0], let send = numbers[1] else { return nil }
    return RateLimit(receive: receive > 0 ? receive : nil, send: send > 0 ? send : nil)
  }

  private static func set(_ name: String, _ value: String, on task: TaskRequest) -> Bool {
    switch name {
    case "web_socket": return setWebSocket(value, on: task)
    case "checksum":
      guard let checksum = ExpectedDigest(value) else { return false }
      task.checksum = checksum
    case "checksum_source": task.checksumSource = value
    case "collected_statuses": task.collectedStatuses = Set(value.split(separator: " ").compactMap { Int($0) })
    case "window":
      guard let window = window(value) else { return false }
      task.destination = .window(window)
    case "background_stem": task.backgroundFile = BackgroundFile(stem: value)
    case "rate_limit":
      guard let limit = rateLimit(value) else { return false }
      task.rateLimit = limit
    case "cache_policy":
      guard let policy = CachePolicy(rawValue: value) else { return false }
      task.cachePolicy = policy
    case "network_service_type":
      guard let type = ServiceType(name: value) else { return false }
      task.serviceType = type
    case "http_should_use_pipelining": task.usesPipelining = value == "1"
    case "http_should_handle_cookies": task.handlesCookies = value == "1"
    case "main_document_url": task.mainDocumentURL = value
    default: return false
    }
    return true
  }

  /// The longest message, and the protocols with commas between them.
  private static func setWebSocket(_ value: String, on task: TaskRequest) -> Bool {
    let parts = value.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, let maximum = Int(parts[0]) else { return false }
    let protocols = parts[1].split(separator: ",").map(String.init)
    task.webSocketRequest = WebSocketRequest(protocols: protocols, maximumMessage: maximum)
    return true
  }
}

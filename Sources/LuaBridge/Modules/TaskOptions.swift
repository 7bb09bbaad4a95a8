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

  private static func set(_ name: String, _ value: String, on task: TaskRequest) -> Bool {
    switch name {
    case "http_should_handle_cookies": task.handlesCookies = value == "1"
    case "main_document_url": task.mainDocumentURL = value
    default: return false
    }
    return true
  }
}

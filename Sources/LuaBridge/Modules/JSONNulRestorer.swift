import CJansson

/// Puts U+0000 back where a document has the noncharacter that `JSONRewriter` put in its place.
struct JSONNulRestorer {
  private let placeholder: [UInt8]

  /// - Parameter lastByte: the noncharacter's last byte.
  init(_ lastByte: UInt8) { placeholder = [0xEF, 0xB7, lastByte] }

  /// As deep as jansson parses, so bounded.
  func restore(_ node: UnsafeMutablePointer<json_t>) {
    switch node.pointee.type {
    case JSON_STRING: restoreString(node)
    case JSON_ARRAY:
      for index in 0..<json_array_size(node) {
        if let element = json_array_get(node, index) { restore(element) }
      }
    case JSON_OBJECT: restoreMembers(node)
    default: break
    }
  }

  private func restoreString(_ node: UnsafeMutablePointer<json_t>) {
    let bytes = UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
    guard let restored = restored(bytes) else { return }
    restored.withUnsafeBufferPointer { _ = json_string_setn_nocheck(node, $0.baseAddress, $0.count) }
  }

  private func restoreMembers(_ object: UnsafeMutablePointer<json_t>) {
    var renamed: [(old: [CChar], new: [CChar])] = []
    var member = json_object_iter(object)
    while let current = member {
      let name = UnsafeRawBufferPointer(
        start: json_object_iter_key(current), count: json_object_iter_key_len(current))
      if let new = restored(name) { renamed.append((name.map { CChar(bitPattern: $0) }, new)) }
      if let value = json_object_iter_value(current) { restore(value) }
      member = json_object_iter_next(object, current)
    }
    for (old, new) in renamed { rename(old, new, in: object) }
  }

  private func rename(_ old: [CChar], _ new: [CChar], in object: UnsafeMutablePointer<json_t>) {
    guard let value = json_object_getn(object, old, old.count) else { return }
    json_incref(value)
    json_object_deln(object, old, old.count)
    json_object_setn_new_nocheck(object, new, new.count, value)
  }

  /// nil when nothing needs to be put back.
  private func restored(_ bytes: UnsafeRawBufferPointer) -> [CChar]? {
    var result: [CChar] = []
    var found = false
    var at = 0
    while at < bytes.count {
      let isPlaceholder = bytes[at...].starts(with: placeholder)
      found = found || isPlaceholder
      result.append(isPlaceholder ? 0 : CChar(bitPattern: bytes[at]))
      at += isPlaceholder ? 3 : 1
    }
    return found ? result : nil
  }
}

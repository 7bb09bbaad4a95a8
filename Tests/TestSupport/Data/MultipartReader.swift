import Foundation

/// An independent, strict reader of multipart/form-data (RFC 7578).
public enum MultipartReader {
  /// One part.
  public struct Part: Sendable {
    /// Fields, names in lower case.
    public let fields: [String: String]
    /// The bytes between the empty line and the next boundary.
    public let data: [UInt8]
    /// The `name` parameter as sent, percent escapes included.
    public let name: String?
    /// The `filename` parameter as sent.
    public let filename: String?
  }

  /// The parts of a request's body; nil when it is not well formed.
  public static func parts(of request: ReceivedRequest) -> [Part]? {
    guard let type = request["Content-Type"], type.hasPrefix("multipart/form-data"),
      let boundary = parameter("boundary", of: type)
    else { return nil }
    return parts(of: request.body, boundary: boundary)
  }

  static func parts(of body: [UInt8], boundary: String) -> [Part]? {
    let line = Array("--\(boundary)".utf8)
    guard body.starts(with: line) else { return nil }
    var rest = body[line.count...]
    var parts: [Part] = []
    while rest.starts(with: [13, 10]) {
      rest = rest.dropFirst(2)
      guard let end = rest.firstRange(of: [13, 10] + line), let part = part(rest[..<end.lowerBound]) else {
        return nil
      }
      parts.append(part)
      rest = rest[end.upperBound...]
    }
    return rest.starts(with: Array("--".utf8)) ? parts : nil
  }

  private static func part(_ bytes: ArraySlice<UInt8>) -> Part? {
    guard let end = bytes.firstRange(of: [13, 10, 13, 10]) else { return nil }
    var fields: [String: String] = [:]
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    for line in head.components(separatedBy: "\r\n") {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields[line[..<colon].lowercased()] = String(value)
    }
    guard let disposition = fields["content-disposition"], disposition.hasPrefix("form-data") else { return nil }
    return Part(
      fields: fields, data: Array(bytes[end.upperBound...]), name: parameter("name", of: disposition),
      filename: parameter("filename", of: disposition))
  }

  /// A parameter's value: quoted up to the next quote, as browsers read and write it, or bare.
  static func parameter(_ name: String, of value: String) -> String? {
    guard let start = value.range(of: "; \(name)=") else { return nil }
    let rest = value[start.upperBound...]
    if rest.hasPrefix("\"") { return String(rest.dropFirst().prefix { $0 != "\"" }) }
    return String(rest.prefix { $0 != ";" })
  }
}

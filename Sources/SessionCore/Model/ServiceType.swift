import CCurlShim

/// `NSURLRequest.NetworkServiceType`: what the traffic is for. It marks the packets (RFC 4594, RFC 8622: a DSCP), which
/// networks may or may not heed, and gives them their place in this machine's own queue.
public enum ServiceType: UInt8, Sendable {
  case standard, background, responsiveData, avStreaming, responsiveAV, video, callSignaling, voice

  /// By the name scripts use; nil for none.
  public init?(name: String) {
    switch name {
    case "default": self = .standard
    case "background": self = .background
    case "responsive_data": self = .responsiveData
    case "av_streaming": self = .avStreaming
    case "responsive_av": self = .responsiveAV
    case "video": self = .video
    case "call_signaling": self = .callSignaling
    case "voice", "voip": self = .voice
    default: return nil
    }
  }

  /// Marks what a new connection sends.
  func mark(_ descriptor: Int32) {
    if self != .standard, descriptor >= 0 { hs_mark_socket(descriptor, codePoint << 2, priority) }
  }

  /// Differentiated services code point.
  var codePoint: Int32 {
    switch self {
    case .standard: return 0
    case .background: return 8  // CS1
    case .responsiveData: return 18  // AF21
    case .avStreaming: return 26  // AF31
    case .responsiveAV: return 32  // CS4
    case .video: return 34  // AF41
    case .callSignaling: return 40  // CS5
    case .voice: return 46  // EF
    }
  }

  /// `SO_PRIORITY`: 6 is the most that needs no privilege.
  var priority: Int32 {
    switch self {
    case .standard: return 0
    case .background: return 2
    case .responsiveData: return 4
    case .avStreaming, .responsiveAV, .video: return 5
    case .callSignaling, .voice: return 6
    }
  }
}

/// A URL request: `URLRequest` without the parts that belong to the session.
public struct Request {
  /// The method as it goes on the wire; upper case is the caller's matter. A token (RFC 9110 §9.1).
  public var method: String
  /// The URL as text; may contain a fragment, non-ASCII host (IDN) and user and password, which become Basic
  /// credentials and are sent nowhere else.
  public var url: String
  /// In order; names may repeat. Names are tokens and values without CR, LF, NUL: anything else fails the task
  /// with `bad_url` before a connection is made.
  public var headers: [HeaderField]
  public var body: RequestBody

  public init(
    method: String = "GET", url: String, headers: [HeaderField] = [], body: RequestBody = .none
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// There is a body, be it empty.
  public var hasBody: Bool { if case .none = body { false } else { true } }
}

/// One field line. An empty value is sent as an empty field.
public struct HeaderField: Equatable, Sendable {
  public var name: String
  /// As it goes on the wire, byte for byte; not always UTF-8 (RFC 9110 §5.5 allows any byte from 0x80 on).
  public var value: [UInt8]

  public init(_ name: String, _ value: String) { self.init(name, bytes: Array(value.utf8)) }

  public init(_ name: String, bytes: [UInt8]) {
    self.name = name
    value = bytes
  }

  /// Field lines, each ended by CRLF.
  public static func block(_ fields: [HeaderField]) -> Bytes { MessageFields(fields).block }
}

/// Where a request body comes from. All but `.reader` can be sent again from the start.
public enum RequestBody {
  /// No body. PUT, POST and PATCH then say `Content-Length: 0` (RFC 9110 §8.6).
  case none
  case data(Bytes)
  /// A file, opened when the task starts; its size then is the Content-Length.
  case file(path: String)
  /// Several pieces after one another (a multipart form): the length is their sum; files are streamed.
  case parts([BodyPart])
  /// There is one, but not here yet: `Event.needsBodyStream` asks for it before anything is sent.
  case stream
  /// Pieces asked for one at a time by `Event.needsBodyChunk`. `length == nil`: chunked on HTTP/1.1.
  case reader(length: Int?)
}

public enum BodyPart {
  case data(Bytes)
  case file(path: String)
}

/// Everything the core needs to know of one task. It is handed over by reference, and must not be changed once the task
/// has been started.
public final class TaskRequest {
  public var request: Request
  /// Which events the layer above has handlers for. For the others the core does the default and sends no event.
  public var interest: Interest = []
  public var destination: Destination = .memory
  /// Seconds without progress, while the task has or makes a connection (never while queued, suspended or waiting
  /// for a handler). `nil`: the session's.
  public var requestTimeout: Double?
  /// Seconds in all, from the first start, redirects included. `nil`: the session's.
  public var resourceTimeout: Double?
  public var authentication: Authentication = .none
  /// How many redirects are followed; more is `http_too_many_redirects`. `nil`: none, the 3xx is the response.
  public var redirectLimit: Int? = 20
  public var expectContinue: ExpectContinue = .automatic
  /// Ask for and undo content codings. Off: the bytes as they come.
  public var decompress = true
  /// More body bytes (decoded) than this is `data_length_exceeds_maximum`.
  public var maximumBody: Int?
  /// The task is to open a WebSocket: a 101 that does makes it one, anything else that is final ends it.
  public var webSocketRequest: WebSocketRequest?
  /// What the digest of the body must be, as the caller gets it; anything else is `checksum_mismatch`. Content codings are
  /// then not asked for.
  public var checksum: ExpectedDigest?
  /// Who says so, as the error tells it.
  public var checksumSource = "the option checksum"
  /// A body of a response with one of these statuses does not go to a `Destination.consumer` or `.file`, not to a device
  /// or pipe either, but is collected as for `.memory`: the caller will ask again.
  public var collectedStatuses: Set<Int> = []
  public var rateLimit: RateLimit?
  /// The task in whose handler this one was begun, which may be what that handler waits for.
  public var lender: TaskID?
  /// Where a download has its file when it goes on in later processes. `nil`: with those that end with this one.
  public var backgroundFile: BackgroundFile?
  /// `nil`: the session's.
  public var cachePolicy: CachePolicy?
  /// 0…1, `URLSessionTask.priority`: order in the queue for a host, and the weight of its stream in HTTP/2.
  public var priority: Double = 0.5
  /// `.standard`: the session's.
  public var serviceType = ServiceType.standard
  /// `nil`: the session's.
  public var usesPipelining: Bool?
  /// `URLRequest.httpShouldHandleCookies`: send the stored cookies, and keep those that come.
  public var handlesCookies = true
  /// `URLRequest.mainDocumentURL`, for the cookie accept policy. `nil`: each request is its own main document.
  public var mainDocumentURL: String?

  public init(_ request: Request) { self.request = request }
}

/// Bytes of bodies a second, as transferred; nil is no limit.
public struct RateLimit: Equatable, Sendable {
  public var receive: Double?
  public var send: Double?

  public init(receive: Double? = nil, send: Double? = nil) {
    self.receive = receive
    self.send = send
  }
}

public struct Interest: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }
  public static let redirect = Interest(rawValue: 1)
  public static let informational = Interest(rawValue: 2)
  public static let response = Interest(rawValue: 4)
  public static let sentBodyData = Interest(rawValue: 8)
  public static let newBody = Interest(rawValue: 16)
  public static let progress = Interest(rawValue: 32)
  /// Challenges of schemes that authenticate a request.
  public static let challenge = Interest(rawValue: 64)
  /// Those that concern a connection (`ProtectionSpace.isConnectionLevel`).
  public static let connectionChallenge = Interest(rawValue: 128)
  public static let cache = Interest(rawValue: 256)
  /// A 401 that names no scheme: asked about as one of the scheme "default".
  public static let bareChallenge = Interest(rawValue: 512)
}

/// Where the response body goes.
public enum Destination {
  /// Collected and given with the completion.
  case memory
  /// Given piece by piece as `Event.data`, with back-pressure.
  case consumer
  /// To a file: written beside `path` under a temporary name and renamed when whole and synced; an existing
  /// file stays as it was until then. A device or pipe is written directly. The response of a redirect never
  /// reaches it, nor does any but a 2xx (an error page, a 304): that one's body is collected as for `.memory`.
  case file(path: String)
  /// To a file of a download task, in the process's own directory of the session's container. Whatever the final
  /// response is, its body goes there; `Event.finishedDownloading` tells where it is. `resuming`: what
  /// `Event.resumeData` gave; the request must then be the one it names (`ResumeData.url` and `.headers`).
  case download(resuming: Bytes?)
  /// A part of a file into its place. The request must be for that range, under the condition of its validator; any
  /// other answer is `bad_server_response`, but for an error page, which is collected as for `.memory`. The completion's
  /// body is the SHA-256 of the part, in hexadecimal.
  case window(PartWindow)
}

public enum ExpectContinue: Sendable {
  /// For bodies over 1 MiB or of unknown length, on HTTP/1.1, with a wait of one second.
  case automatic
  case always
  case never
}

/// The plain `auth` options. (Challenges answered by handlers come on top of this.)
public enum Authentication {
  case none
  /// Sent with the first request, and again on redirects within the origin.
  case basic(user: Octets, password: Octets)
  /// A scheme that libcurl does. Digest: the server is asked first, without the body; two requests in all.
  case scheme(AuthScheme, user: Octets, password: Octets)
  /// The strongest of Digest, NTLM and Basic that the server offers.
  case any(user: Octets, password: Octets)
  /// `Authorization: Bearer …` within the origin.
  case bearer(token: Octets)

  public static func digest(user: Octets, password: Octets) -> Authentication {
    .scheme(.digest, user: user, password: password)
  }
}

/// What holds for all tasks of a session (the part of `URLSessionConfiguration` that the core acts on).
public struct SessionConfiguration {
  public var timeoutForRequest: Double = 60
  public var timeoutForResource: Double = 7 * 24 * 3600
  public var maximumConnectionsPerHost = 6
  /// Fields added to each request that does not have one of that name.
  public var additionalHeaders: [HeaderField] = []
  /// `nil`: `httpscript/<version>`.
  public var userAgent: String?
  public var proxy: ProxyConfiguration = .environment
  public var httpVersion: HTTPVersionPolicy = .automatic
  /// "host:port" to address (`CURLOPT_RESOLVE`).
  public var resolve: [(String, String)] = []
  public var interface: String?
  public var unixSocket: String?
  /// Certificates to trust in place of the system's: a file of them in PEM, or a directory as `openssl rehash` makes it.
  public var caFile: String?
  /// The directory in which download tasks keep their files. `nil`: that of the system for temporary files.
  public var sharedContainer: String?
  /// What all tasks together may move.
  public var rateLimit = RateLimit()
  public var tlsMinimum: TLSVersion?
  public var tlsMaximum: TLSVersion?
  public var securityPolicies = SecurityPolicies()
  public var transportSecurity = TransportSecurity()
  /// Shown to servers that ask for one.
  public var clientCertificate: ClientCertificate?
  /// Where cookies are kept; `nil`: they are neither kept nor sent.
  public var cookieStorage: CookieStorage?
  /// Where credentials are kept; `nil`: none are, beyond a task.
  public var credentialStorage: CredentialStorage? = CredentialStorage()
  /// Where the hosts are kept that want https only; `nil`: nobody is asked to.
  public var hstsStorage: HSTSStorage?
  /// Where origins can be had as well (Alt-Svc); `nil`: that is of no interest.
  public var alternativeServices: AlternativeServiceStorage?
  /// `URLSessionConfiguration.httpShouldSetCookies`: send stored cookies with requests.
  public var shouldSetCookies = true
  /// When cookies are kept. (The storage has a policy too: both must allow it.)
  public var cookieAcceptPolicy = CookieAcceptPolicy.onlyFromMainDocumentDomain
  /// The layer above may make requests itself (`Event.needsLoader`).
  public var asksForLoaders = false
  /// `file:` URLs are read.
  public var allowsFileURLs = false
  public var cachePolicy = CachePolicy.useProtocolCachePolicy
  /// `nil`: nothing is stored.
  public var cache: ResponseCache?
  /// What the traffic is for, unless the request says it.
  public var serviceType = ServiceType.standard
  /// A request that cannot be made for want of a network waits until there is one.
  public var waitsForConnectivity = false
  /// Idle connections are kept for a day and probed, rather than for two minutes.
  public var keepsIdleConnections = false
  /// Requests wait for a connection that is being made, if they may share it (HTTP/2), rather than making their own.
  public var usesPipelining = false
  /// Text of each request and response on standard error, secrets masked (`-v`).
  public var trace = false

  public init() {}
}

public enum ProxyConfiguration {
  /// `http_proxy`, `https_proxy`, `all_proxy`, `no_proxy` as curl reads them; read once per session.
  case environment
  case none
  /// Proxies for `http:` and `https:` URLs, "" for none, with a scheme that says what they speak (`http`, `https`,
  /// `socks4`, `socks4a`, `socks5`, `socks5h`).
  case proxies(http: String, https: String, noProxy: String)

  /// One for both.
  public static func url(_ url: String, noProxy: String) -> ProxyConfiguration {
    .proxies(http: url, https: url, noProxy: noProxy)
  }
}

public enum HTTPVersionPolicy: Sendable {
  /// HTTP/2 over TLS where ALPN gives it, else HTTP/1.1.
  case automatic
  case http1_0
  case http1_1
  case http2
  /// HTTP/2 in clear text without upgrade.
  case http2PriorKnowledge
}

public enum TLSVersion: Sendable {
  case v1_0, v1_1, v1_2, v1_3
}

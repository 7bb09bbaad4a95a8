/// Loads that are not libcurl's: who makes a request, and how its response comes in.
extension Transfer {
  /// How much of a body one transfer takes in a turn of the loop.
  private static let turnBudget = 256 * 1024

  // MARK: Who makes the request

  /// The load of a URL whose scheme needs no connection. False when there is none, or the task ended with that.
  func findLoad(_ problem: TaskError) -> Bool {
    let scheme = URLParts.leadingScheme(request.url).map { String($0) } ?? ""
    if HeaderText.equalNames(scheme, "data") { return takeLoad(dataLoad()) }
    guard HeaderText.equalNames(scheme, "file") else { return takeLoad(.failure(problem)) }
    guard session.configuration.allowsFileURLs else {
      let message = "file: URLs are read only where the configuration has allows_file_urls"
      return takeLoad(.failure(TaskError(.unsupportedURL, message, aboutURL: request.url)))
    }
    return takeLoad(FileLoad.make(request).map { $0 as LocalLoad })
  }

  private func takeLoad(_ found: Result<LocalLoad, TaskError>) -> Bool {
    switch found {
    case .success(let load):
      beginWith(load)
      return true
    case .failure(let problem):
      fail(problem)
      return false
    }
  }

  private func dataLoad() -> Result<LocalLoad, TaskError> {
    switch DataURL.parse(request.url) {
    case .failure(let problem): return .failure(TaskError(.badURL, problem.message))
    case .success(let data):
      let head = LocalHead(headers: [
        HeaderField("Content-Type", data.mediaType), HeaderField("Content-Length", String(data.content.count)),
      ])
      let isWanted = !HeaderText.equalNames(request.method, "HEAD")
      let content = isWanted ? data.content.withUnsafeBytes { Bytes(copying: $0) } : Bytes()
      return .success(MemoryLoad(head, content, fetchType: .unknown, isJudged: false))
    }
  }

  /// From now on the response of this request comes from there.
  func beginWith(_ load: LocalLoad) {
    self.load = load
    host = nil
    urlCredentials = nil
    url = shownURL
  }

  /// The URL without user and password, of any scheme.
  private var shownURL: String {
    guard urlLook.hasUserInformation, URLParts.authorityEnd(request.url) > request.url.startIndex,
      case .success(var parts) = URLParts.parse(request.url)
    else { return request.url }
    parts.user = nil
    parts.password = nil
    return (try? parts.text.get()) ?? request.url
  }

  /// The layer above says who makes the request.
  func receiveLoader(_ loader: Loader) {
    guard machine.state == .askingLoader else { return }
    isLoaderChosen = true
    if loader == .script {
      let load = ScriptedLoad()
      load.tellDrained = { [unowned core, id] in core.outbox.append(.loadDrained(id)) }
      beginWith(load)
    }
    advance(.loaderChosen)
  }

  /// The layer above makes the request, and says how far it has come.
  func receiveLoadStep(_ step: LoadStep) {
    guard let load = load as? ScriptedLoad else { return }
    load.push(step)
    queueLoad()
  }

  // MARK: Its response

  /// The load's turn has come.
  func beginLoad() {
    if let problem = openSink() { return fail(problem) }
    resetForRequest()
    transaction.fetchStart = WallClock.now
    transaction.requestStart = transaction.fetchStart
    lastActivity = core.now
    queueLoad()
  }

  /// Has the load asked for more in this turn of the loop.
  func queueLoad() {
    guard !isLoadQueued, load != nil else { return }
    isLoadQueued = true
    core.loading.append(self)
  }

  /// Takes what the load has, as far as there is room for it.
  func pumpLoad() {
    isLoadQueued = false
    var taken = 0
    while let load, takesFromLoad {
      // What comes after a redirect is of no use; a body that another request follows is not read.
      if machine.state == .draining { return loadEnded() }
      guard taken < Self.turnBudget else { return queueLoad() }
      switch load.next() {
      case .wait: return
      case .response(let head): receiveHead(head, isJudged: load.isJudged)
      case .redirect(let head, let next): receiveRedirect(head, next)
      case .data(let bytes, let range):
        taken += range.count
        receiveLoadData(UnsafeRawBufferPointer(rebasing: bytes.buffer[range]))
      case .finished:
        if !intake.isHeadComplete { error = TaskError(.badServerResponse, "the load ended without a response") }
        return loadEnded()
      case .failed(let problem): error = problem
      }
      if hasFailed { return loadEnded() }
    }
    updateClock()
  }

  private var takesFromLoad: Bool {
    guard !isSuspended else { return false }
    switch machine.state {
    case .draining: return true
    case .transferring: return !sink.refuses()
    default: return false
    }
  }

  private func receiveHead(_ head: LocalHead, isJudged: Bool) {
    takeHead(head)
    if isJudged { return judge() }
    advance(.head(options.interest.contains(.response) ? .finalAsking : .final))
  }

  private func takeHead(_ head: LocalHead) {
    touch()
    transaction.responseStart = WallClock.now
    intake.take(head)
    intake.isFromCache = load?.fetchType == .localCache
    expectsHead = false
    if intake.hasSetCookie, load is ScriptedLoad, isHTTP { takeCookies() }
  }

  /// What a script answers in a server's place sets cookies as the server would; a stored response did so when it came.
  private var isHTTP: Bool {
    guard let scheme = URLParts.leadingScheme(request.url) else { return false }
    return HeaderText.equalNames(String(scheme), "http") || HeaderText.equalNames(String(scheme), "https")
  }

  private func receiveRedirect(_ head: LocalHead, _ next: Request) {
    takeHead(head)
    guard let limit = options.redirectLimit else { return advance(.head(.final)) }
    guard redirects.count < limit else {
      error = TaskError(.httpTooManyRedirects, "more than \(limit) redirects", url: url)
      return
    }
    followUp = FollowUp(request: next, keepsBody: false, crossesOrigin: crossesOrigin(to: next), status: head.status)
    advance(.head(options.interest.contains(.redirect) ? .redirectAsking : .redirect(needsBody: false)))
  }

  private func receiveLoadData(_ bytes: UnsafeRawBufferPointer) {
    touch()
    if bodyMode == .deliver, !hasNoBody { _ = deliver(bytes) }
  }

  private func loadEnded() {
    recordLoad()
    load = nil
    advance(.ended(hasFailed ? .failure : successfulEnding()))
  }

  /// The transaction that the load was.
  func recordLoad() {
    guard let load else { return }
    let result = transaction
    result.method = request.method
    result.url = url
    result.status = intake.status
    result.fetchType = load.fetchType
    result.requestEnd = result.requestStart
    if !result.responseStart.isNaN { result.responseEnd = WallClock.now }
    result.responseBodyBytes = received
    keep(result)
  }
}

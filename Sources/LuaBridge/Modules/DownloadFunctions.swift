import SessionCore

/// The functions of `httpscript.core` about download tasks and their files.
enum DownloadFunctions {
  /// cancel_keeping, keep_download, remove_download, resume_request.
  static func make(_ scheduler: Scheduler) -> [NativeModule.Function] {
    [
      CoreModule.submitting("cancel_keeping", scheduler) { task, _ in .cancelTaskKeeping(task) },
      .init("keep_download") { call in
        guard let part = call.string(1) else { return call.wrongType(1, "string") }
        guard let kept = call.string(2) else { return call.wrongType(2, "string") }
        scheduler.submit(.keepDownload(part: part, kept: kept))
        return .returned
      },
      .init("remove_download") { call in
        guard let path = call.string(1) else { return call.wrongType(1, "string") }
        scheduler.submit(.removeDownload(location: path))
        return .returned
      },
      .init("resume_request", resumeRequest),
    ]
  }

  /// resume_request(blob) -> url, fields (each name and value ended by NUL) | nil for a damaged blob.
  private static func resumeRequest(_ call: HostCall) -> Outcome {
    guard let blob = call.bytes(1) else { return call.wrongType(1, "string") }
    guard let data = try? ResumeData(decoding: Array(blob)) else {
      call.results.appendNil()
      return .returned
    }
    call.results.append(data.url)
    call.results.append(TaskArguments.flat(data.headers))
    return .returned
  }
}

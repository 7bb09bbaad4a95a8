extension TaskError.Code {
  /// A function of the script (a body reader) raised.
  public static let handlerError = Self("handler_error")
}

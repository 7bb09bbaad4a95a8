/// How many Swift objects Lua holds, so that tests can show that none is lost.
public enum LiveObjects {
  nonisolated(unsafe) private static var held = 0

  public static var count: Int { held }
  static func retained() { held += 1 }
  static func released() { held -= 1 }
}

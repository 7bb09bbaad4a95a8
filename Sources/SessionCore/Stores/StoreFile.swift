/// The file of a store that reads and writes it now and then: opened when it is first needed, opened anew when it was
/// damaged or another process has replaced it.
final class StoreFile {
  let place: StorePlace
  private var database: Database?

  init(_ place: StorePlace) { self.place = place }

  /// Works on the file where it is there, or is to be made. What goes wrong is told to the user once.
  /// - Returns: whether the work was done.
  @discardableResult
  func use(making: Bool = false, _ body: (Database) throws(DatabaseProblem) -> Void) -> Bool {
    for attempt in 1...2 {
      if let known = database, !known.isInPlace { database = nil }
      guard database != nil || making || place.exists else { return false }
      database = database ?? place.open()
      do throws(DatabaseProblem) {
        guard let database else { return false }
        try body(database)
        return true
      } catch {
        guard error.isDamage, attempt == 1 else {
          place.warn("cannot be used at the moment (\(error.message))")
          return false
        }
        database = nil
      }
    }
    return false
  }
}

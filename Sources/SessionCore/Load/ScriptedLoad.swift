/// What a protocol class of the layer above says about a load it has taken on (`URLProtocolClient`).
public enum LoadStep {
  case response(LocalHead)
  case data(Bytes)
  /// Another request takes the place of this one; the load is over.
  case redirect(LocalHead, Request)
  case finished
  case failed(TaskError)
  /// Asks for `Event.loadDrained` once all that came before has been taken.
  case tellWhenDrained
}

/// The load of a protocol class: steps come as commands, and wait here until there is room for them.
final class ScriptedLoad: LocalLoad {
  let fetchType = TransactionMetrics.FetchType.unknown
  let isJudged = false
  /// The layer above is to be told that there is room again.
  var tellDrained: () -> Void = {}
  private var queue: [LoadStep] = []
  private var position = 0
  /// A redirect has been taken: nothing comes after it.
  private var isRedirected = false
  /// Of the block at the head of the queue.
  private var offset = 0

  private static let pieceSize = 64 * 1024

  func push(_ step: LoadStep) { queue.append(step) }

  func next() -> LocalStep {
    while position < queue.count {
      switch queue[position] {
      case .tellWhenDrained:
        advance()
        tellDrained()
      case .data(let bytes):
        guard offset < bytes.count else {
          advance()
          continue
        }
        let end = min(bytes.count, offset + Self.pieceSize)
        defer { offset = end }
        return .data(bytes, offset..<end)
      case .response(let head): return take(.response(head))
      case .redirect(let head, let request):
        isRedirected = true
        return take(.redirect(head, request))
      case .finished: return take(.finished)
      case .failed(let error): return take(.failed(error))
      }
    }
    return isRedirected ? .finished : .wait
  }

  private func take(_ step: LocalStep) -> LocalStep {
    advance()
    return step
  }

  private func advance() {
    position += 1
    offset = 0
    if position == queue.count || position > 64 {
      queue.removeFirst(position)
      position = 0
    }
  }
}

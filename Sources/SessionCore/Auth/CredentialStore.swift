/// Where a session's credentials are kept (`URLCredentialStorage`).
///
/// Asked in the middle of a transfer: answers must be quick.
public protocol CredentialStore: AnyObject {
  /// What is used in a space unless a handler says otherwise, and proposed to the handler.
  func defaultCredential(for space: ProtectionSpace) -> Credential?
  /// A handler's credential has been accepted there. Not told of those with persistence `.none`.
  func accepted(_ credential: Credential, in space: ProtectionSpace)
}

/// Which store a session has.
public enum CredentialStorage {
  /// One of its own, in memory.
  case ownMemory
  /// None: nothing is kept beyond the task.
  case none
  case store(CredentialStore)
}

/// Credentials in memory, the last one accepted in each space.
final class CredentialMemory: CredentialStore {
  private var credentials: [ProtectionSpace: Credential] = [:]

  func defaultCredential(for space: ProtectionSpace) -> Credential? { credentials[space] }

  func accepted(_ credential: Credential, in space: ProtectionSpace) { credentials[space] = credential }
}

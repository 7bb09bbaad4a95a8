import Glibc

/// A session bus of its own, that starts no services, and the one Secret Service there may be on it.
public final class SessionBus: Sendable {
  /// Who answers for the keyring.
  public enum Service: Sendable {
    case nobody
    /// GNOME Keyring, unlocked.
    case keyring
    /// One that takes calls and never answers.
    case silent
  }

  /// Its address, for `DBUS_SESSION_BUS_ADDRESS`.
  public let address: String
  private let directory: TemporaryDirectory
  private let programs: [LaunchedProgram]

  /// What makes a process one of the session.
  public var environment: [String: String] { ["DBUS_SESSION_BUS_ADDRESS": address] }

  /// Starts the bus and the service, and waits until both are there.
  public init(_ service: Service) throws {
    directory = try TemporaryDirectory()
    let socket = directory.path + "/bus"
    address = "unix:path=" + socket
    let file = try directory.write("bus.conf", SessionBus.configuration(address))
    let bus = try LaunchedProgram(
      ["dbus-daemon", "--nofork", "--nopidfile", "--config-file=" + file], in: TemporaryDirectory(), ports: [])
    guard SessionBus.appears(socket) else {
      throw LaunchedProgram.NotReady(description: "dbus-daemon makes no \(socket)")
    }
    guard let command = SessionBus.command(service) else {
      programs = [bus]
      return
    }
    programs = [
      bus,
      try LaunchedProgram(
        ["sh", "-c", command], in: TemporaryDirectory(),
        environment: ["DBUS_SESSION_BUS_ADDRESS": address, "XDG_RUNTIME_DIR": directory.path], ports: []),
    ]
    try shell(
      SessionBus.waiting, in: directory, environment: ["DBUS_SESSION_BUS_ADDRESS": address],
      purpose: "a Secret Service")
  }

  private static func command(_ service: Service) -> String? {
    switch service {
    case .nobody: nil
    case .keyring:
      """
      echo password >"$HOME/password"
      exec gnome-keyring-daemon --foreground --unlock --components=secrets --control-directory="$HOME" <"$HOME/password"
      """
    case .silent:
      """
      exec python3 -c 'import dbus, time; bus = dbus.SessionBus(); bus.request_name("org.freedesktop.secrets"); time.sleep(600)'
      """
    }
  }

  private static let waiting = """
    for i in $(seq 400); do
      dbus-send --session --print-reply --reply-timeout=2000 --dest=org.freedesktop.DBus /org/freedesktop/DBus \
        org.freedesktop.DBus.NameHasOwner string:org.freedesktop.secrets | grep -q true && exit 0
      sleep 0.05
    done
    exit 1
    """

  private static func appears(_ path: String) -> Bool {
    for _ in 0..<400 {
      if access(path, F_OK) == 0 { return true }
      poll(nil, 0, 25)
    }
    return false
  }

  private static func configuration(_ address: String) -> String {
    """
    <busconfig>
      <type>session</type>
      <listen>\(address)</listen>
      <auth>EXTERNAL</auth>
      <policy context="default">
        <allow send_destination="*" eavesdrop="true"/>
        <allow eavesdrop="true"/>
        <allow own="*"/>
      </policy>
    </busconfig>

    """
  }
}

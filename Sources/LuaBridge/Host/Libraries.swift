import CJansson
import CLuaShim
import CXML
import SessionCore

/// The libraries in use, for `--version`: those that may be missing only where they are there.
public enum Libraries {
  public static var versions: [(String, String)] {
    let versions = [
      ("Lua", String(cString: clua_lua_version())),
      ("libcurl", Version.libcurl),
      ("TLS", Version.tls),
      ("jansson", String(cString: jansson_version_str())),
      ("libxml2", LIBXML_DOTTED_VERSION),
    ]
    guard let sqlite = Version.sqlite else { return versions }
    return versions + [("SQLite", sqlite)]
  }
}

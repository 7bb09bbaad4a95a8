import LuaBridge
import SessionCore

/// Texts for people.
enum Usage {
  static let help = """
    httpscript: scripts HTTP work in Lua 5.4, with Apple's URLSession on libcurl

    usage: httpscript [options] script.lua [args...]
           httpscript [options] -e 'code' [args...]
           httpscript [options] -              (reads the script from standard input)
           httpscript                          (on a terminal: a dialogue; else as with -)

    options:
      -e, --eval CODE      run CODE
      -v, --verbose        show requests and responses on standard error, secrets masked
          --timeout SECS   end the whole run after SECS seconds, with status 124
      -V, --version        show the versions of httpscript and its libraries
      -h, --help           show this text

    exit status: 0 done; 1 the script failed or cannot be read; 2 wrong use;
                 124 --timeout passed; 128+n ended by signal n

    """

  static var version: String {
    var text = "httpscript \(Version.text)\n"
    for (name, version) in Libraries.versions { text += "\(name) \(version)\n" }
    return text
  }
}

import CArguments
import Glibc
import LuaBridge
import SessionCore

StandardStreams.open()
let status = Program.run(Array(CommandLine.arguments))
if Program.hasExitFunctions { exit(status) }
// Everything has been put away; the libraries' own exit functions (OpenSSL's above all) would only take time.
end_process(status)

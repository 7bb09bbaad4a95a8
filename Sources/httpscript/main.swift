import Glibc
import LuaBridge
import SessionCore

StandardStreams.open()
let status = Program.run(Array(CommandLine.arguments))
exit(status)

import Glibc
import LuaBridge
import SessionCore

let status = Program.run(Array(CommandLine.arguments))
exit(status)

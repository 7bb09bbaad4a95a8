// The command line for Swift's CommandLine (nothing of that is called by name), and the end of the process; see
// arguments.c.

/// Ends the process without the libraries' exit functions; what C's streams hold is written.
_Noreturn void end_process(int status);

// The command line for Swift's CommandLine; see arguments.c. Nothing here is called by name.

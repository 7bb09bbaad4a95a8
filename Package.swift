// swift-tools-version: 6.2
import PackageDescription

/// Release builds of our own targets tolerate no warning; debug builds stay workable while editing.
let strictSwift: [SwiftSetting] = [
  .treatAllWarnings(as: .error, .when(configuration: .release)),
  // The debug build and its tests check exclusive access at run time; a release build has been through them.
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
  // libxml2's headers name each other by this path (as pkg-config says; see the system libraries).
  .unsafeFlags(["-Xcc", "-I/usr/include/libxml2"]),
]
/// What goes into the executable.
let productSwift: [SwiftSetting] =
  strictSwift + [
    // Each function can be left out, or put where it is wanted.
    .unsafeFlags(["-Xfrontend", "-function-sections"], .when(configuration: .release)),
    // Nobody here uses regular expressions or asynchronous functions; their libraries would be linked all the same.
    .unsafeFlags([
      "-Xfrontend", "-disable-implicit-string-processing-module-import",
      "-Xfrontend", "-disable-implicit-concurrency-module-import",
    ]),
  ]
let strictC: [CSetting] = [
  .unsafeFlags(["-Wall", "-Wextra", "-Werror", "-ffunction-sections"], .when(configuration: .release))
]
/// Where libsecret's headers are, and GLib's, one of which is in the architecture's own directory (pkg-config would have
/// the library linked).
let libsecretHeaders: [CSetting] = [
  .unsafeFlags(
    ["/usr/include/libsecret-1", "/usr/include/glib-2.0"].map { "-I" + $0 }
      + ["x86_64", "aarch64"].map { "-I/usr/lib/\($0)-linux-gnu/glib-2.0/include" })
]

let package = Package(
  name: "httpscript",
  products: [
    .executable(name: "httpscript", targets: ["httpscript"])
  ],
  targets: [
    // System libraries. CLuaLink carries Lua's flags and no header: Swift must not see lua.h,
    // because a Lua error may never cross a Swift frame (see DESIGN.md).
    .systemLibrary(
      name: "CLuaLink", pkgConfig: "lua5.4", providers: [.apt(["liblua5.4-dev"])]),

    // Libraries that are loaded when they are first used: nothing here may link them, neither pkg-config nor a module
    // map. A reference that is undefined at the end wants to be listed: `lua5.4 scripts/latelibs`.
    .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CJansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CXML", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CBrotli", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPSL", providers: [.apt(["libpsl-dev"])]),
    .systemLibrary(name: "CWslay", providers: [.apt(["libwslay-dev"])]),

    // Definitions of those libraries' functions, which load the library when they are first called.
    .target(name: "CLateLibraries"),

    // C shims: no policy, only what Swift cannot say.
    .target(name: "CLuaShim", dependencies: ["CLuaLink", "CJansson", "CLateLibraries"], cSettings: strictC),
    .target(name: "CArguments", cSettings: strictC),
    .target(name: "CCurlShim", dependencies: ["CCurl", "CLateLibraries"], cSettings: strictC),
    .target(name: "CTLSShim", dependencies: ["COpenSSL", "CLateLibraries"], cSettings: strictC),
    .target(name: "CKeyringShim", dependencies: ["CLateLibraries"], cSettings: strictC + libsecretHeaders),

    // The Lua standard library, embedded as bytes.
    .target(
      name: "Stdlib", path: "stdlib", exclude: ["meta"], sources: ["embed.c"],
      publicHeadersPath: "include", cSettings: strictC),

    .target(
      name: "SessionCore",
      dependencies: [
        "CCurlShim", "CTLSShim", "CKeyringShim", "CSQLite", "CCurl", "COpenSSL", "CPSL", "CWslay", "CZlib", "CBrotli",
        "CZstd", "CLateLibraries",
      ],
      swiftSettings: productSwift),
    .target(
      name: "LuaBridge",
      dependencies: ["CLuaShim", "SessionCore", "Stdlib", "CJansson", "CXML", "CLateLibraries"],
      swiftSettings: productSwift),
    .executableTarget(
      name: "httpscript", dependencies: ["CArguments", "LuaBridge", "SessionCore"], swiftSettings: productSwift,
      // As little as possible to load at start (see also build_release in scripts/packages.sh).
      linkerSettings: [.unsafeFlags(["-Xclang-linker", "-static-libgcc"], .when(configuration: .release))]),

    // Servers, launchers and data for the tests; the only place besides them that uses Foundation.
    .target(name: "CTestShim", path: "Tests/CTestShim", cSettings: strictC),
    .target(
      name: "TestSupport", dependencies: ["CTestShim"], path: "Tests/TestSupport", swiftSettings: strictSwift),
    .testTarget(name: "CLITests", dependencies: ["TestSupport"], swiftSettings: strictSwift),
    .testTarget(name: "CommandLineTests", dependencies: ["httpscript"], swiftSettings: strictSwift),
    .testTarget(name: "ExampleTests", dependencies: ["TestSupport"], swiftSettings: strictSwift),
    .testTarget(
      name: "SessionCoreTests", dependencies: ["SessionCore", "CCurlShim", "TestSupport"], swiftSettings: strictSwift),
    .testTarget(name: "LuaBridgeTests", dependencies: ["LuaBridge", "CLuaShim"], swiftSettings: strictSwift),
  ],
  swiftLanguageModes: [.v6]
)

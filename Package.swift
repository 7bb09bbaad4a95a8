// swift-tools-version: 6.2
import PackageDescription

/// Release builds of our own targets tolerate no warning; debug builds stay workable while editing.
let strictSwift: [SwiftSetting] = [
  .treatAllWarnings(as: .error, .when(configuration: .release)),
  // The debug build and its tests check exclusive access at run time; a release build has been through them.
  .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]
let strictC: [CSetting] = [
  .unsafeFlags(["-Wall", "-Wextra", "-Werror"], .when(configuration: .release))
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
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
    .systemLibrary(name: "CXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CBrotli", pkgConfig: "libbrotlidec", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"])]),
    .systemLibrary(name: "CWslay", pkgConfig: "libwslay", providers: [.apt(["libwslay-dev"])]),

    // C shims: no policy, only what Swift cannot say.
    .target(name: "CLuaShim", dependencies: ["CLuaLink", "CJansson"], cSettings: strictC),
    .target(name: "CArguments", cSettings: strictC),
    .target(name: "CCurlShim", dependencies: ["CCurl"], cSettings: strictC),

    // The Lua standard library, embedded as bytes.
    .target(
      name: "Stdlib", path: "stdlib", exclude: ["meta"], sources: ["embed.c"],
      publicHeadersPath: "include", cSettings: strictC),

    .target(
      name: "SessionCore",
      dependencies: ["CCurlShim", "CCurl", "CZlib", "CBrotli", "CZstd", "COpenSSL"],
      swiftSettings: strictSwift),
    .target(
      name: "LuaBridge",
      dependencies: ["CLuaShim", "SessionCore", "Stdlib", "CJansson", "CXML"],
      swiftSettings: strictSwift),
    .executableTarget(
      name: "httpscript", dependencies: ["CArguments", "LuaBridge", "SessionCore"], swiftSettings: strictSwift),

    // Servers, launchers and data for the tests; the only place besides them that uses Foundation.
    .target(name: "CTestShim", path: "Tests/CTestShim", cSettings: strictC),
    .target(
      name: "TestSupport", dependencies: ["CTestShim"], path: "Tests/TestSupport", swiftSettings: strictSwift),
    .testTarget(name: "CLITests", dependencies: ["TestSupport"], swiftSettings: strictSwift),
    .testTarget(name: "CommandLineTests", dependencies: ["httpscript"], swiftSettings: strictSwift),
    .testTarget(name: "ExampleTests", dependencies: ["TestSupport"], swiftSettings: strictSwift),
    .testTarget(
      name: "SessionCoreTests", dependencies: ["SessionCore", "CCurlShim", "TestSupport"], swiftSettings: strictSwift),
    .testTarget(name: "LuaBridgeTests", dependencies: ["LuaBridge", "CLuaShim"]),
  ],
  swiftLanguageModes: [.v6]
)

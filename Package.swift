// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

/// A library module; its folder is part of the architecture (see Architecture.md).
func module(
    _ name: String, at path: String, _ dependencies: [Target.Dependency] = []
) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(path)", swiftSettings: settings)
}

/// A plugin: it sees LoadingKit's public API alone, as anyone's would, but for values that the library and plugins read alike
/// (`@_spi(LoadingKitPlugins)`).
func plugin(_ name: String, at path: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(
        name: name, dependencies: ["LoadingKit"] + dependencies, path: "Sources/Plugins/\(path)", packageAccess: false,
        swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport", "LoadingKitLoopbackServer"], path: "Tests/\(name)",
        exclude: exclude, swiftSettings: settings)
}

func sideBySideTests(_ implementation: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "SideBySide\(implementation)Tests",
        dependencies: dependencies + ["TestSupport", "LoadingKitLoopbackServer"],
        path: "Tests/SideBySide/\(implementation)",
        // FoundationNetworking's interface is not written for Swift 6.
        swiftSettings: settings + [.swiftLanguageMode(.v5)])
}

/// A package of its own that is compiled and tested as a part of this one: what a tutorial's reader writes, or what
/// `loadkit new-handler` does. It sees what is public alone.
func readersPackage(_ name: String, at path: String) -> [Target] {
    [
        .target(
            name: name, dependencies: ["LoadingKit"], path: "Tests/\(path)/Sources/\(name)", packageAccess: false),
        .testTarget(
            name: "\(name)Tests", dependencies: [.target(name: name), "LoadingKit", "LoadingKitTesting"],
            path: "Tests/\(path)/Tests/\(name)Tests", packageAccess: false),
    ]
}

/// A program that shows how the library is used. No product has it, so that packages that depend on this one do not build it.
func example(_ name: String, _ plugins: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: "\(name)Example", dependencies: ["LoadingKit"] + plugins, path: "Examples/\(name)", packageAccess: false,
        swiftSettings: settings)
}

let package = Package(
    name: "LoadingKit",
    products: [
        .library(name: "LoadingKit", targets: ["LoadingKit"]),
        .library(name: "LoadingKitHTTP1", targets: ["LoadingKitHTTP1"]),
        .library(name: "LoadingKitHPACK", targets: ["LoadingKitHPACK"]),
        .library(name: "LoadingKitHTTP2", targets: ["LoadingKitHTTP2"]),
        .library(name: "LoadingKitContentCoding", targets: ["LoadingKitContentCoding"]),
        .library(name: "LoadingKitWebSocket", targets: ["LoadingKitWebSocket"]),
        .library(name: "LoadingKitFTP", targets: ["LoadingKitFTP"]),
        .library(name: "LoadingKitLoopbackServer", targets: ["LoadingKitLoopbackServer"]),
        .library(name: "LoadingKitTesting", targets: ["LoadingKitTesting"]),
        .library(name: "LoadingKitForms", targets: ["LoadingKitForms"]),
        .library(name: "LoadingKitEvents", targets: ["LoadingKitEvents"]),
        .library(name: "LoadingKitResilience", targets: ["LoadingKitResilience"]),
        .library(name: "LoadingKitUnixSockets", targets: ["LoadingKitUnixSockets"]),
        .library(name: "LoadingKitArchives", targets: ["LoadingKitArchives"]),
        .library(name: "LoadingKitS3", targets: ["LoadingKitS3"]),
        .library(name: "LoadingKitSystemProxies", targets: ["LoadingKitSystemProxies"]),
        .library(name: "LoadingKitHTTPTypes", targets: ["LoadingKitHTTPTypes"]),
        .library(name: "LoadingKitNegotiate", targets: ["LoadingKitNegotiate"]),
        .library(name: "LoadingKitTelemetry", targets: ["LoadingKitTelemetry"]),
        .executable(name: "loadkit", targets: ["loadkit"]),
        .executable(name: "loadkitd", targets: ["loadkitd"]),
    ],
    traits: [
        .default(enabledTraits: ["Persistence", "Brotli", "Zstd", "Background", "FTP", "NTLM"]),
        .trait(name: "Persistence", description: "Stores on disk, in SQLite. Without it they live in memory."),
        .trait(name: "Brotli", description: "Bodies in the content coding br are offered and decoded."),
        .trait(name: "Zstd", description: "Bodies in the content coding zstd are offered and decoded."),
        .trait(
            name: "Background",
            description: "Background sessions, and the daemon that performs their transfers, with Persistence.",
            enabledTraits: ["Persistence"]),
        .trait(name: "FTP", description: "The handler of ftp: and ftps: URLs."),
        .trait(
            name: "NTLM", description: "The authentication scheme NTLM. Without it such challenges are not answered."),
        // A program that uses LoadingKit alone does not fetch the dependencies of these.
        .trait(
            name: "CommandLineTool", description: "The tool loadkit; fetches swift-argument-parser.",
            enabledTraits: ["Background", "FTP"]),
        .trait(
            name: "Negotiate", description: "The tool's option --negotiate, with the plugin LoadingKitNegotiate."),
        .trait(name: "HTTPTypes", description: "The plugin LoadingKitHTTPTypes; fetches swift-http-types."),
        .trait(
            name: "Telemetry",
            description: "The plugin LoadingKitTelemetry; fetches swift-distributed-tracing and swift-metrics."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.1.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.2.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    ],
    targets: [
        // System libraries and the C functions that Swift cannot express.
        .systemLibrary(
            name: "CLoadingKitOpenSSL", path: "Sources/LoadingKit/System/CLoadingKitOpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .yum(["openssl-devel"])]),
        .systemLibrary(
            name: "CLoadingKitZlib", path: "Sources/LoadingKit/System/CLoadingKitZlib", pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .yum(["zlib-devel"])]),
        .systemLibrary(
            name: "CLoadingKitBrotli", path: "Sources/LoadingKit/System/CLoadingKitBrotli", pkgConfig: "libbrotlidec",
            providers: [.apt(["libbrotli-dev"]), .yum(["brotli-devel"])]),
        .systemLibrary(
            name: "CLoadingKitZstd", path: "Sources/LoadingKit/System/CLoadingKitZstd", pkgConfig: "libzstd",
            providers: [.apt(["libzstd-dev"]), .yum(["libzstd-devel"])]),
        .systemLibrary(
            name: "CLoadingKitPSL", path: "Sources/LoadingKit/System/CLoadingKitPSL", pkgConfig: "libpsl",
            providers: [.apt(["libpsl-dev"]), .yum(["libpsl-devel"])]),
        .systemLibrary(
            name: "CLoadingKitSQLite", path: "Sources/LoadingKit/System/CLoadingKitSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"]), .yum(["sqlite-devel"])]),
        // Of the plugin LoadingKitNegotiate alone.
        .systemLibrary(
            name: "CLoadingKitGSS", path: "Sources/LoadingKit/System/CLoadingKitGSS",
            providers: [.apt(["libkrb5-dev"]), .yum(["krb5-devel"])]),
        .target(
            name: "CLoadingKitShims", path: "Sources/LoadingKit/System/CLoadingKitShims",
            linkerSettings: [.linkedLibrary("resolv")]),
        // Every module that calls OpenSSL depends on this one, directly or through another module.
        .target(
            name: "CLoadingKitOpenSSLStart", dependencies: ["CLoadingKitOpenSSL"],
            path: "Sources/LoadingKit/System/CLoadingKitOpenSSLStart"),

        // Each module may import those above it, never those below or beside it.
        module("LoadingKitPrimitives", at: "LoadingKit/Primitives", ["CLoadingKitShims"]),
        module("LoadingKitHTTP1", at: "Protocols/HTTP1", ["LoadingKitPrimitives", "CLoadingKitShims"]),
        module("LoadingKitHPACK", at: "Protocols/HPACK", ["LoadingKitPrimitives"]),
        module(
            "LoadingKitHTTP2", at: "Protocols/HTTP2", ["LoadingKitPrimitives", "LoadingKitHPACK", "CLoadingKitShims"]),
        module(
            "LoadingKitContentCoding", at: "Protocols/ContentCoding",
            [
                "LoadingKitPrimitives", "CLoadingKitZlib",
                .target(name: "CLoadingKitBrotli", condition: .when(traits: ["Brotli"])),
                .target(name: "CLoadingKitZstd", condition: .when(traits: ["Zstd"])),
            ]),
        module(
            "LoadingKitWebSocket", at: "Protocols/WebSocket",
            ["LoadingKitPrimitives", "CLoadingKitZlib", "CLoadingKitOpenSSL", "CLoadingKitOpenSSLStart"]),
        module("LoadingKitFTP", at: "Protocols/FTP/Codec", ["LoadingKitPrimitives"]),
        module(
            "LoadingKitTransport", at: "LoadingKit/Transport",
            [
                "LoadingKitPrimitives", "CLoadingKitOpenSSL", "CLoadingKitOpenSSLStart", "CLoadingKitShims",
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        module(
            "LoadingKitCore", at: "LoadingKit/Core",
            [
                "LoadingKitTransport", "LoadingKitContentCoding", "LoadingKitWebSocket", "LoadingKitPrimitives",
                "CLoadingKitPSL", "CLoadingKitShims",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        module(
            "LoadingKitPersistence", at: "LoadingKit/Persistence",
            [
                "LoadingKitCore", "LoadingKitTransport", "LoadingKitPrimitives", "CLoadingKitOpenSSL",
                "CLoadingKitShims",
                .target(name: "CLoadingKitSQLite", condition: .when(traits: ["Persistence"])),
            ]),
        module(
            "LoadingKitProxies", at: "Protocols/Proxies",
            [
                "LoadingKitCore", "LoadingKitHTTP1", "LoadingKitPrimitives", "LoadingKitTransport",
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        module(
            "LoadingKitHTTP", at: "Protocols/HTTP",
            [
                "LoadingKitCore", "LoadingKitProxies", "LoadingKitHTTP1", "LoadingKitHTTP2", "LoadingKitHPACK",
                "LoadingKitContentCoding",
                "LoadingKitWebSocket", "LoadingKitPrimitives", "LoadingKitTransport", "CLoadingKitOpenSSL",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HeapModule", package: "swift-collections"),
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        module(
            "LoadingKitFTPHandler", at: "Protocols/FTP/Handler",
            [
                "LoadingKitCore", "LoadingKitHTTP", "LoadingKitProxies", "LoadingKitFTP", "LoadingKitTransport",
                "LoadingKitPrimitives",
            ]),
        module("LoadingKitFile", at: "Protocols/File", ["LoadingKitCore", "LoadingKitTransport"]),
        module("LoadingKitDataURL", at: "Protocols/DataURL", ["LoadingKitCore", "LoadingKitPrimitives"]),
        module(
            "LoadingKitTransfers", at: "LoadingKit/Transfers",
            [
                "LoadingKitCore", "LoadingKitPersistence", "LoadingKitTransport", "LoadingKitPrimitives",
                "CLoadingKitShims",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "DequeModule", package: "swift-collections"),
            ]),
        module(
            "LoadingKitHAR", at: "LoadingKit/HAR",
            ["LoadingKitCore", "LoadingKitTransport", "LoadingKitPrimitives"]),
        .target(
            name: "LoadingKitInspector",
            dependencies: [
                "LoadingKitCore", "LoadingKitHAR", "LoadingKitHTTP1", "LoadingKitTransport", "LoadingKitPrimitives",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            path: "Sources/LoadingKit/Inspector",
            // The page is a part of each program that shows its traffic.
            resources: [
                "inspector.html", "inspector.css", "values.js", "store.js", "list.js", "details.js", "bodies.js",
                "connections.js", "files.js", "live.js", "held.js", "rules.js", "start.js",
            ].map { .embedInCode("Resources/\($0)") },
            swiftSettings: settings),
        module(
            "LoadingKit", at: "LoadingKit/LoadingKit",
            [
                "LoadingKitCore", "LoadingKitHAR", "LoadingKitInspector", "LoadingKitHTTP", "LoadingKitFile",
                "LoadingKitDataURL", "LoadingKitPersistence", "LoadingKitPrimitives",
                .target(name: "LoadingKitTransfers", condition: .when(traits: ["Background"])),
                .target(name: "LoadingKitFTPHandler", condition: .when(traits: ["FTP"])),
            ]),

        plugin(
            "LoadingKitTesting", at: "Testing",
            [
                "LoadingKitForms", "LoadingKitHAR", "LoadingKitPrimitives",
                .product(name: "Logging", package: "swift-log"),
            ]),
        plugin("LoadingKitForms", at: "Forms", ["LoadingKitPrimitives"]),
        plugin("LoadingKitEvents", at: "Events", ["LoadingKitPrimitives"]),
        plugin(
            "LoadingKitResilience", at: "Resilience",
            ["LoadingKitPrimitives", .product(name: "DequeModule", package: "swift-collections")]),
        plugin("LoadingKitUnixSockets", at: "UnixSockets"),
        plugin("LoadingKitArchives", at: "Archives", ["CLoadingKitZlib", "LoadingKitPrimitives"]),
        plugin(
            "LoadingKitS3", at: "S3",
            ["CLoadingKitOpenSSL", "LoadingKitForms", "LoadingKitPrimitives", "LoadingKitTransport"]),
        plugin("LoadingKitSystemProxies", at: "SystemProxies", ["LoadingKitPrimitives"]),
        plugin("LoadingKitNegotiate", at: "Negotiate", ["CLoadingKitGSS"]),
        plugin(
            "LoadingKitHTTPTypes", at: "HTTPTypes",
            [.product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"]))]),
        plugin(
            "LoadingKitTelemetry", at: "Telemetry",
            [
                "LoadingKitForms", "LoadingKitPrimitives",
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Telemetry"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Telemetry"])),
            ]),

        // The tool, and the loopback servers that its demo and the tests talk to.
        module(
            "LoadingKitLoopbackServer", at: "LoadingKit/LoopbackServer",
            [
                "LoadingKitHTTP1", "LoadingKitHTTP2", "LoadingKitHPACK", "LoadingKitWebSocket", "LoadingKitPrimitives",
                "LoadingKitTransport", "CLoadingKitOpenSSL", "CLoadingKitZlib",
            ]),
        .executableTarget(
            name: "loadkit",
            dependencies: [
                "LoadingKit", "LoadingKitCore", "LoadingKitHAR", "LoadingKitInspector", "LoadingKitTransfers",
                "LoadingKitLoopbackServer",
                "LoadingKitPrimitives", "LoadingKitTransport", "LoadingKitForms", "LoadingKitArchives", "LoadingKitS3",
                "LoadingKitUnixSockets",
                .target(name: "LoadingKitNegotiate", condition: .when(traits: ["Negotiate"])),
                .product(name: "Logging", package: "swift-log"),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLineTool"])),
            ],
            path: "Sources/LoadingKit/CommandLine",
            // The texts become part of the program, which is a single file.
            resources: [
                "NewHandler/Catalogue.md.txt", "NewHandler/ContractTests.swift.txt", "NewHandler/Error.swift.txt",
                "NewHandler/Handler.swift.txt", "NewHandler/LoadTests.swift.txt", "NewHandler/Package.swift.txt",
                "NewHandler/README.md.txt", "NewHandler/Registration.swift.txt", "NewHandler/Remark.md.txt",
                "NewHandler/Resource.swift.txt", "NewHandler/gitignore.txt", "demo.json", "loadkitd.service.txt",
                "loadkitd.socket.txt", "loadkitd.8.txt",
                "completions.bash.txt", "completions.fish.txt",
            ].map { .embedInCode("Resources/\($0)") },
            swiftSettings: settings),
        // Runs the transfers of background sessions in a process of its own.
        .executableTarget(
            name: "loadkitd", dependencies: ["LoadingKit"], path: "Sources/LoadingKit/BackgroundDaemon",
            swiftSettings: settings),

        // Gives the tests' process folders of its own for what it keeps on disk, before anything else runs.
        .target(name: "CTestFolders", path: "Tests/TestFolders"),
        // Does what another user would.
        .target(name: "CTestUsers", path: "Tests/TestUsers"),
        // Makes the bodies that the decoder undoes; no product needs it.
        .systemLibrary(
            name: "CBrotliEncoder", path: "Tests/CBrotliEncoder", pkgConfig: "libbrotlienc",
            providers: [.apt(["libbrotli-dev"]), .yum(["brotli-devel"])]),
        .target(
            name: "TestSupport",
            dependencies: [
                "LoadingKitLoopbackServer", "LoadingKitContentCoding", "LoadingKitPrimitives", "CLoadingKitOpenSSL",
                "CTestFolders", "CBrotliEncoder", "CLoadingKitZstd",
            ],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        tests("PrimitivesTests", ["LoadingKitPrimitives"]),
        tests("HTTP1Tests", ["LoadingKitHTTP1"]),
        tests("HPACKTests", ["LoadingKitHPACK"]),
        tests("HTTP2Tests", ["LoadingKitHTTP2"]),
        tests("ContentCodingTests", ["LoadingKitContentCoding", "CLoadingKitZlib"]),
        tests("WebSocketTests", ["LoadingKitWebSocket"]),
        tests(
            "FTPTests", ["LoadingKitFTP", "CLoadingKitOpenSSL", "LoadingKitFTPHandler", "LoadingKit"],
            exclude: ["Servers/server.py"]),
        tests("TransportTests", ["LoadingKitTransport", "CLoadingKitOpenSSL"]),
        tests("CoreTests", ["LoadingKitCore"]),
        tests("ProxiesTests", ["LoadingKitProxies", "LoadingKitCore"]),
        // Stores cookies and responses until the tests kill it.
        .executableTarget(
            name: "StoreWriter", dependencies: ["LoadingKitPersistence", "LoadingKitCore"], path: "Tests/StoreWriter",
            swiftSettings: settings),
        tests(
            "PersistenceTests",
            [
                "LoadingKitPersistence", "LoadingKitCore", "StoreWriter", "CLoadingKitOpenSSL",
                .target(name: "CLoadingKitSQLite", condition: .when(traits: ["Persistence"])),
            ]),
        // A program with a background session, which the tests kill and start again.
        .executableTarget(
            name: "BackgroundProbe", dependencies: ["LoadingKit"], path: "Tests/BackgroundProbe",
            swiftSettings: settings),
        // The daemon with transfers that are none, which the tests start and kill.
        .executableTarget(
            name: "DaemonProbe",
            dependencies: ["LoadingKitTransfers", "LoadingKitTransport", "LoadingKitCore", "LoadingKitPrimitives"],
            path: "Tests/DaemonProbe", swiftSettings: settings),
        tests(
            "TransfersTests",
            [
                "LoadingKitTransfers", "LoadingKitPersistence", "LoadingKitCore", "LoadingKitTransport", "LoadingKit",
                "LoadingKitPrimitives", "BackgroundProbe", "DaemonProbe", "loadkitd", "loadkit", "CTestUsers",
            ]),
        // The tests run it in a network namespace of its own.
        .target(name: "CTestNetworks", path: "Tests/CTestNetworks"),
        .executableTarget(
            name: "NetworkProbe", dependencies: ["LoadingKit", "LoadingKitLoopbackServer", "CTestNetworks"],
            path: "Tests/NetworkProbe", swiftSettings: settings),
        // A system that one seed decides, and whole sessions in it.
        .target(name: "CSimulatedSystem", path: "Tests/Simulation/CSimulatedSystem"),
        .executableTarget(
            name: "SimulatedWorld",
            dependencies: [
                "LoadingKit", "LoadingKitHTTP", "LoadingKitHTTP2", "LoadingKitLoopbackServer", "LoadingKitPersistence",
                "LoadingKitPrimitives", "LoadingKitTransfers", "LoadingKitTransport", "TestSupport", "CSimulatedSystem",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Simulation/SimulatedWorld", swiftSettings: settings),
        // The tests run the program, and do not depend on it: they would be linked with the C library's functions that it defines.
        .testTarget(
            name: "SimulationTests", dependencies: ["TestSupport"],
            path: "Tests/Simulation/SimulationTests", swiftSettings: settings),
        // Reaches the limits of its process.
        .executableTarget(
            name: "ExhaustionProbe", dependencies: ["LoadingKit", "LoadingKitLoopbackServer"],
            path: "Tests/ExhaustionProbe", swiftSettings: settings),
        tests("ExhaustionTests", ["LoadingKit", "ExhaustionProbe"]),
        // Ends while it loads.
        .executableTarget(
            name: "ExitProbe", dependencies: ["LoadingKit"], path: "Tests/ExitProbe", swiftSettings: settings),
        tests(
            "HTTPTests",
            ["LoadingKitHTTP", "LoadingKitHTTP2", "LoadingKitWebSocket", "LoadingKit", "NetworkProbe", "ExitProbe"]),
        .testTarget(
            name: "AdoptionTests", dependencies: ["LoadingKit", "TestSupport", "LoadingKitLoopbackServer"],
            path: "Tests/Adoption", swiftSettings: settings),
        tests("DataURLTests", ["LoadingKitDataURL", "LoadingKit"]),
        tests("FileTests", ["LoadingKitFile", "LoadingKit"]),
        tests(
            "InspectorTests",
            ["LoadingKitInspector", "LoadingKitHAR", "LoadingKitCore", "LoadingKitHTTP1", "LoadingKit"]),
        tests(
            "CommandLineTests",
            ["loadkit", "LoadingKitCore", "LoadingKitHAR", "LoadingKitInspector", "LoadingKitTransfers", "DaemonProbe"]),
        // The tests run copies of it, to see which of them share stores.
        .executableTarget(
            name: "StoreProbe", dependencies: ["LoadingKit", "LoadingKitCore"], path: "Tests/StoreProbe",
            swiftSettings: settings),
        tests("LoadingKitTests", ["LoadingKit", "LoadingKitPersistence", "StoreProbe"]),
        // The tests count its instructions.
        .executableTarget(
            name: "GrowthProbe",
            dependencies: [
                "LoadingKit", "LoadingKitCore", "LoadingKitTransport", "LoadingKitEvents", "LoadingKitS3",
                "LoadingKitHAR",
            ],
            path: "Tests/GrowthProbe", swiftSettings: settings),
        tests("GrowthTests", ["GrowthProbe"]),
        // Makes the code of the next two, which see what is public alone.
        .plugin(name: "GeneratedTests", capability: .buildTool(), path: "Tests/GeneratedTests"),
        .testTarget(
            name: "AppleInterfaceTests", dependencies: ["LoadingKit"], path: "Tests/AppleInterfaceTests",
            exclude: ["AppleInterface.md"], packageAccess: false, swiftSettings: settings,
            plugins: ["GeneratedTests"]),
        .testTarget(
            name: "SnippetTests",
            dependencies: [
                "LoadingKit", "LoadingKitTesting", "LoadingKitForms", "LoadingKitEvents", "LoadingKitArchives",
                "LoadingKitS3", "LoadingKitUnixSockets", "LoadingKitSystemProxies", "LoadingKitNegotiate",
                "LoadingKitResilience", "LoadingKitHTTPTypes", "LoadingKitTelemetry", "LoadingKitHTTP1",
                "LoadingKitHTTP2", "LoadingKitHPACK", "LoadingKitContentCoding", "LoadingKitWebSocket",
                "LoadingKitFTP",
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Telemetry"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Telemetry"])),
            ],
            path: "Tests/SnippetTests", packageAccess: false, swiftSettings: settings, plugins: ["GeneratedTests"]),
        // Loads by each path through the library, from servers that say what they saw.
        .target(
            name: "MatrixPaths",
            dependencies: ["LoadingKit", "LoadingKitCore", "TestSupport", "LoadingKitLoopbackServer", "loadkitd"],
            path: "Tests/MatrixPaths", swiftSettings: settings),
        // The tests run it in a network namespace of its own.
        .executableTarget(
            name: "MatrixProbe", dependencies: ["MatrixPaths", "LoadingKit", "CTestNetworks"],
            path: "Tests/MatrixProbe", swiftSettings: settings),
        tests("MatrixTests", ["MatrixPaths", "MatrixProbe", "LoadingKit", "LoadingKitCore", "LoadingKitPrimitives"]),
        // A program that imports LoadingKit alone, and a library that it uses beside it: they see what is public alone.
        .target(name: "CommonNames", path: "Tests/CommonNames", packageAccess: false, swiftSettings: settings),
        .target(
            name: "ImportedAlone", dependencies: ["LoadingKit", "CommonNames"], path: "Tests/ImportedAlone",
            packageAccess: false, swiftSettings: settings),
        tests("ImportTests", ["ImportedAlone", "CommonNames"]),
        example("Fetch"),
        example("ProgressAndCancel"),
        example("ResumableDownload"),
        example("StreamedUpload"),
        example("WebSocketEcho"),
        example("CustomScheme"),
        example("Interceptor"),
        example("CertificatePinning"),
        example("CookiesAndCache"),
        example("UploadForm", ["LoadingKitForms"]),
        example("FollowEvents", ["LoadingKitEvents"]),
        example("ReadArchive", ["LoadingKitArchives"]),
        example("UseBucket", ["LoadingKitS3"]),
        example("BackgroundDownload"),
        example("UseJSON", ["LoadingKitLoopbackServer"]),
        example("TestWithStubs", ["LoadingKitTesting"]),
        example("ResilientLoad", ["LoadingKitResilience", "LoadingKitLoopbackServer"]),
        example(
            "ReportMetrics",
            [
                "LoadingKitTelemetry", "LoadingKitLoopbackServer",
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Telemetry"])),
            ]),
        example("ProxyWithCertificate"),
        example("InAServer", ["LoadingKitLoopbackServer"]),
        tests(
            "ExamplesTests",
            [
                "LoadingKit", "FetchExample", "ProgressAndCancelExample", "ResumableDownloadExample",
                "StreamedUploadExample", "WebSocketEchoExample", "CustomSchemeExample", "InterceptorExample",
                "CertificatePinningExample", "CookiesAndCacheExample", "UploadFormExample", "FollowEventsExample",
                "ReadArchiveExample", "UseBucketExample", "BackgroundDownloadExample", "UseJSONExample",
                "TestWithStubsExample", "ResilientLoadExample", "ReportMetricsExample", "ProxyWithCertificateExample",
                "InAServerExample",
            ]),
        tests(
            "LoadingKitTestingTests",
            ["LoadingKit", "LoadingKitTesting", "LoadingKitHAR", "LoadingKitCore", "LoadingKitTransport"]),
        // Its targets are those of the package in Fuzzing, too.
        tests(
            "FuzzTests",
            [
                "LoadingKitHTTP1", "LoadingKitHPACK", "LoadingKitHTTP2", "LoadingKitContentCoding",
                "LoadingKitWebSocket", "LoadingKitFTP", "LoadingKitPrimitives", "LoadingKitTransport", "LoadingKitCore",
                "LoadingKitHTTP", "LoadingKitProxies", "LoadingKitDataURL", "LoadingKitHAR", "LoadingKitPersistence",
                "LoadingKitTransfers", "LoadingKitArchives", "LoadingKitEvents", "LoadingKitForms",
                "LoadingKitResilience", "LoadingKitS3", "LoadingKitSystemProxies", "LoadingKitUnixSockets",
            ]),
        tests("LoadingKitFormsTests", ["LoadingKit", "LoadingKitForms", "LoadingKitTransport"]),
        tests("LoadingKitEventsTests", ["LoadingKit", "LoadingKitEvents"]),
        tests("LoadingKitResilienceTests", ["LoadingKit", "LoadingKitResilience", "LoadingKitTesting"]),
        tests("LoadingKitUnixSocketsTests", ["LoadingKit", "LoadingKitUnixSockets", "LoadingKitTesting"]),
        tests("LoadingKitSystemProxiesTests", ["LoadingKit", "LoadingKitSystemProxies"]),
        tests("LoadingKitArchivesTests", ["LoadingKit", "LoadingKitArchives", "LoadingKitTesting"]),
        tests(
            "LoadingKitS3Tests",
            ["LoadingKit", "LoadingKitCore", "LoadingKitHAR", "LoadingKitS3", "LoadingKitTesting"]),
        // A program with a Kerberos configuration of its own, which the library reads once.
        .executableTarget(
            name: "NegotiateProbe", dependencies: ["LoadingKit", "LoadingKitNegotiate"], path: "Tests/NegotiateProbe",
            packageAccess: false, swiftSettings: settings),
        tests("LoadingKitNegotiateTests", ["LoadingKit", "LoadingKitNegotiate", "NegotiateProbe", "loadkit"]),
        tests(
            "LoadingKitHTTPTypesTests",
            [
                "LoadingKit", "LoadingKitHTTPTypes",
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
            ]),
        tests(
            "LoadingKitTelemetryTests",
            [
                "LoadingKit", "LoadingKitTelemetry", "LoadingKitResilience", "LoadingKitTesting",
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Telemetry"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Telemetry"])),
            ]),
        tests("TutorialTests", []),
        // One set of sources, behind a symbolic link in each folder, against one implementation and the other.
        sideBySideTests("LoadingKit", ["LoadingKit"]),
        sideBySideTests("FoundationNetworking", []),
    ] + readersPackage("SampleScheme", at: "GeneratedPackage")
        + readersPackage("MemScheme", at: "Tutorials/MemScheme")
        + readersPackage("Interceptors", at: "Tutorials/Interceptors"),
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// On Apple's platforms the module LoadingKit is Foundation's `URLSession` under this name, and the products of the plugins are there but
// have no module. `LOADINGKIT_PLATFORM=linux` or `apple` chooses where packages are built for another system than this one.
#if canImport(Darwin)
    let system = "apple"
#else
    let system = "linux"
#endif
if Context.environment["LOADINGKIT_PLATFORM"] ?? system == "apple" {
    package.targets = [.target(name: "LoadingKit", path: "Sources/LoadingKit/Apple")]
    package.products = package.products.filter { $0 is Product.Library }
        .map { .library(name: $0.name, targets: ["LoadingKit"]) }
    package.dependencies = []
}

// `LOADINGKIT_TESTS=HTTPTests,CoreTests swift build --build-tests …` builds these tests and what they use, and nothing else:
// it takes a part of the time while one works.
if let named = Context.environment["LOADINGKIT_TESTS"] {
    let targets = Dictionary(uniqueKeysWithValues: package.targets.map { ($0.name, $0) })
    var kept: Set = ["GeneratedTests"]
    var open = named.split(separator: ",").map(String.init) + ["LoadingKit"]
    if open.contains("SimulationTests") { open.append("SimulatedWorld") }
    while let name = open.popLast() {
        guard let target = targets[name], kept.insert(name).inserted else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): open.append(name)
            case .productItem: break
            @unknown default: break
            }
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { !$0.isMade(of: kept) }
}

extension Product {
    fileprivate func isMade(of targets: Set<String>) -> Bool {
        switch self {
        case let library as Library: targets.isSuperset(of: library.targets)
        case let executable as Executable: targets.isSuperset(of: executable.targets)
        default: true
        }
    }
}

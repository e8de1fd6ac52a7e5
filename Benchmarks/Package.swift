// swift-tools-version: 6.1

import PackageDescription

/// A program of its own for each client, so that each has its own processor time and memory.
func client(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: "Client\(name)", dependencies: ["ClientSupport"] + dependencies)
}

// A package of its own: who depends on LoadingKit never fetches what only its benchmarks need.
let package = Package(
    name: "LoadingKitBenchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "LoadingKit", path: ".."),
        // Without its traits: they need a malloc library that is not everywhere.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: [
        .target(name: "Figures"),
        .target(
            name: "CPeers",
            // llhttp's sources are where Debian's package puts them.
            cSettings: [.unsafeFlags(["-I/usr/share/include/llhttp", "-I/usr/share", "-O3"])],
            linkerSettings: [.linkedLibrary("h2o-evloop"), .linkedLibrary("nghttp2"), .linkedLibrary("z")]),
        .executableTarget(
            name: "Codecs",
            dependencies: [
                "CPeers", "Figures",
                .product(name: "LoadingKitHTTP1", package: "LoadingKit"),
                .product(name: "LoadingKitHPACK", package: "LoadingKit"),
                .product(name: "LoadingKitHTTP2", package: "LoadingKit"),
                .product(name: "LoadingKitContentCoding", package: "LoadingKit"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Codecs",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),

        // End to end: the clients, what each measures of itself, and what starts them in turn.
        .target(name: "CMeter", cSettings: [.unsafeFlags(["-O2"])]),
        .target(name: "ClientSupport", dependencies: ["CMeter"]),
        client("LoadingKit", [.product(name: "LoadingKit", package: "LoadingKit")]),
        client(
            "AsyncHTTPClient", [.product(name: "AsyncHTTPClient", package: "async-http-client")]),
        client("Foundation", []),
        .executableTarget(
            name: "ClientCurl", dependencies: ["CMeter"], linkerSettings: [.linkedLibrary("curl")]),
        .executableTarget(
            name: "EndToEnd",
            dependencies: ["Figures", .product(name: "Benchmark", package: "benchmark")],
            path: "Benchmarks/EndToEnd",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),

        // What Scripts/races.py counts the failures of.
        .executableTarget(
            name: "RacingLoadingKit", dependencies: [.product(name: "LoadingKit", package: "LoadingKit")]),
        // What Scripts/chaos.py measures the memory of.
        .executableTarget(
            name: "ChaosLoadingKit", dependencies: [.product(name: "LoadingKit", package: "LoadingKit")]),
        .executableTarget(name: "RacingCurl", linkerSettings: [.linkedLibrary("curl")]),
    ],
    swiftLanguageModes: [.v6]
)

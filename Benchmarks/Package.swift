// swift-tools-version: 6.1

import PackageDescription

// A package of its own: who depends on LoadingKit never fetches what only its benchmarks need.
let package = Package(
    name: "LoadingKitBenchmarks",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(name: "LoadingKit", path: ".."),
        // Without its traits: they need a malloc library that is not everywhere.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
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
    ],
    swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.1

import PackageDescription

// The targets see what is `package` in LoadingKit: its name is that of its folder.
let library = Context.packageDirectory.split(separator: "/").dropLast().last.map { $0.lowercased() } ?? "loadingkit"

let package = Package(
    name: "LoadingKitFuzzing",
    dependencies: [.package(name: "LoadingKit", path: "..")],
    targets: [
        // llhttp's sources are where Debian's package puts them.
        .target(
            name: "CPeers", cSettings: [.unsafeFlags(["-I/usr/share/include/llhttp", "-I/usr/share", "-O2"])],
            linkerSettings: [.linkedLibrary("nghttp2"), .linkedLibrary("z")]),
        .executableTarget(
            name: "Fuzz",
            dependencies: [
                "CPeers",
                .product(name: "LoadingKit", package: "LoadingKit"),
                .product(name: "LoadingKitHTTP1", package: "LoadingKit"),
                .product(name: "LoadingKitHPACK", package: "LoadingKit"),
                .product(name: "LoadingKitHTTP2", package: "LoadingKit"),
                .product(name: "LoadingKitContentCoding", package: "LoadingKit"),
                .product(name: "LoadingKitWebSocket", package: "LoadingKit"),
                .product(name: "LoadingKitFTP", package: "LoadingKit"),
                .product(name: "LoadingKitArchives", package: "LoadingKit"),
                .product(name: "LoadingKitEvents", package: "LoadingKit"),
                .product(name: "LoadingKitForms", package: "LoadingKit"),
                .product(name: "LoadingKitResilience", package: "LoadingKit"),
                .product(name: "LoadingKitS3", package: "LoadingKit"),
                .product(name: "LoadingKitSystemProxies", package: "LoadingKit"),
                .product(name: "LoadingKitUnixSockets", package: "LoadingKit"),
            ],
            packageAccess: false,
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .define("NTLM"),
                .unsafeFlags(["-package-name", library, "-parse-as-library"]),
            ]),
    ],
    swiftLanguageModes: [.v6]
)

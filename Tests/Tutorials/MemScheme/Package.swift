// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "MemScheme",
    dependencies: [
        .package(path: "../LoadingKit")
    ],
    targets: [
        .target(
            name: "MemScheme",
            dependencies: [
                .product(name: "LoadingKit", package: "LoadingKit")
            ]),
        .testTarget(
            name: "MemSchemeTests",
            dependencies: [
                "MemScheme",
                .product(name: "LoadingKit", package: "LoadingKit"),
                .product(name: "LoadingKitTesting", package: "LoadingKit"),
            ]),
    ]
)

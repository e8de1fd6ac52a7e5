// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "SampleScheme",
    products: [
        .library(name: "SampleScheme", targets: ["SampleScheme"])
    ],
    dependencies: [
        .package(url: "https://example.org/LoadingKit.git", branch: "main")
    ],
    targets: [
        .target(
            name: "SampleScheme",
            dependencies: [
                .product(name: "LoadingKit", package: "LoadingKit")
            ]),
        .testTarget(
            name: "SampleSchemeTests",
            dependencies: [
                "SampleScheme",
                .product(name: "LoadingKit", package: "LoadingKit"),
                .product(name: "LoadingKitTesting", package: "LoadingKit"),
            ]),
    ]
)

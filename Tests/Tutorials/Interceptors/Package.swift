// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "Interceptors",
    dependencies: [
        .package(path: "../LoadingKit")
    ],
    targets: [
        .target(
            name: "Interceptors",
            dependencies: [
                .product(name: "LoadingKit", package: "LoadingKit")
            ]),
        .testTarget(
            name: "InterceptorsTests",
            dependencies: [
                "Interceptors",
                .product(name: "LoadingKit", package: "LoadingKit"),
                .product(name: "LoadingKitTesting", package: "LoadingKit"),
            ]),
    ]
)

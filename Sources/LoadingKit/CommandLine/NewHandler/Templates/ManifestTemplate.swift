/// Package.swift.
struct ManifestTemplate {
    let text: String

    init(_ names: HandlerNames, _ source: LoadingKitSource) {
        let package = SourceText.literal(source.identity)
        text = """
            // swift-tools-version: 6.1
            import PackageDescription

            let package = Package(
                name: "\(names.module)",
                products: [
                    .library(name: "\(names.module)", targets: ["\(names.module)"])
                ],
                dependencies: [
                    \(source.dependency)
                ],
                targets: [
                    .target(
                        name: "\(names.module)",
                        dependencies: [
                            .product(name: "LoadingKit", package: \(package))
                        ]),
                    .testTarget(
                        name: "\(names.tests)",
                        dependencies: [
                            "\(names.module)",
                            .product(name: "LoadingKit", package: \(package)),
                            .product(name: "LoadingKitTesting", package: \(package)),
                        ]),
                ]
            )

            """
    }
}

extension LoadingKitSource {
    /// The dependency in the manifest's syntax.
    var dependency: String {
        switch self {
        case .folder(let path): ".package(path: \(SourceText.literal(path)))"
        case .repository(let url, .branch(let name)):
            ".package(url: \(SourceText.literal(url)), branch: \(SourceText.literal(name)))"
        case .repository(let url, .from(let version)):
            ".package(url: \(SourceText.literal(url)), from: \(SourceText.literal(version)))"
        }
    }
}

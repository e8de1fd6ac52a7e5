#if CommandLineTool
    import ArgumentParser
    import Foundation

    /// `loadkit new-handler NAME`: writes a package with a handler for a URL scheme.
    struct NewHandlerCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new-handler",
            abstract: "Writes a Swift package with a handler for a URL scheme of your own, and its tests.",
            discussion: """
                The package builds and passes its tests as it is written. Nothing that is there is overwritten: the \
                folder must not exist, or be empty.

                The package depends on the LoadingKit whose build made this tool, where it lies in its repository's \
                .build folder; else --loadingkit has to say where LoadingKit is.
                """)

        @Argument(help: ArgumentHelp("What the types begin with, such as Mem or my-scheme.", valueName: "NAME"))
        var name: String

        @Option(help: ArgumentHelp("The URL scheme. Default: the name in lower case.", valueName: "SCHEME"))
        var scheme: String?

        @Option(
            help: ArgumentHelp("Where the package goes. Default: a folder named like its module.", valueName: "FOLDER"))
        var folder: String?

        @Option(help: ArgumentHelp("The folder or the repository of LoadingKit.", valueName: "PATH-OR-URL"))
        var loadingkit: String?

        @Option(
            help: ArgumentHelp(
                "With a repository: its oldest release that will do. Default: its branch main.", valueName: "VERSION"))
        var version: String?

        func run() async throws {
            let names = try HandlerNames(name, scheme: scheme)
            let source = try LoadingKitSource(loadingkit, version: version, checkout: LoadingKitSource.ownCheckout())
            let package = HandlerPackage(names, source)
            let destination = try PackageFolder(folder ?? names.module)
            try destination.checkIdentity(against: source)
            try destination.write(package.files)
            try StandardOutput.write(report(package, destination))
        }

        private func report(_ package: HandlerPackage, _ destination: PackageFolder) -> String {
            let place = PlainText.line(destination.path)
            let files = package.files.map { "  \($0.path)\n" }.joined()
            return "\(place):\n\(files)Test it with: swift test --package-path \(ShellWord(place).text)\n"
        }
    }
#endif

import ArgumentParser

/// `loadkit URL…`: loads, and writes what it gets.
struct LoadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Loads URLs of every scheme, and writes their bodies to standard output.",
        usage: """
            loadkit [options] URL ...
            loadkit schemes [URL]
            loadkit demo
            """,
        discussion: """
            Options have curl's names and meanings. Redirects are followed, compressed bodies are decoded, and a load \
            ends after five minutes without a byte.

            `loadkit schemes` lists what can be loaded; `loadkit demo` loads over every scheme from servers of its \
            own, without a network.

            Errors go to standard error in one line, with curl's exit codes; with several URLs, the code is that of \
            the last failure.
            """)

    @OptionGroup var options: LoadOptions

    func run() async throws {
        let plan = try LoadPlan(options)
        let status = await LoadRunner(plan, Console.standardError).run()
        if status != .success { throw ExitCode(status.rawValue) }
    }
}

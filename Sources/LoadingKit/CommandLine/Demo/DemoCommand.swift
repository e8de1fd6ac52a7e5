#if CommandLineTool
    import ArgumentParser
    import Foundation

    /// `loadkit demo`: loads URLs of every scheme from servers in this process.
    struct DemoCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "demo",
            abstract:
                "Loads over every scheme from servers of its own, and shows where the time goes. Needs no network.")

        func run() async throws {
            let printer = DemoPrinter(Terminal(STDOUT_FILENO))
            try printer.printIntroduction()
            let world = try DemoWorld()
            defer { world.stop() }
            let start = Date()
            var problems: [String] = []
            let (script, loads) = (world.script, world.script.loads)
            for (index, load) in loads.enumerated() {
                let result = await world.run(load)
                let problem = script.problem(of: load, with: result, expecting: world.pages.body(of: load))
                try printer.print(load.step, result, number: index + 1, problem)
                if let problem { problems.append("\(index + 1). \(load.name): \(problem)") }
            }
            let count = loads.count + 1
            let outcome = await world.background.run()
            try printer.print(script.background, number: count, events: outcome.events, outcome.problem)
            if let problem = outcome.problem { problems.append("\(count). \(script.background.name): \(problem)") }
            try printer.printSummary(loads, count, problems, seconds: Date().timeIntervalSince(start))
            if !problems.isEmpty { throw ExitCode(1) }
        }
    }
#endif

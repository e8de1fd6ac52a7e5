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
            printer.printIntroduction()
            let world = try DemoWorld()
            defer { world.stop() }
            let start = Date()
            var problems: [String] = []
            let loads = DemoLoad.all(world)
            for (index, load) in loads.enumerated() {
                let result = await world.run(load)
                let problem = load.problem(with: result)
                printer.print(load, result, number: index + 1, problem)
                if let problem { problems.append("\(index + 1). \(load.name): \(problem)") }
            }
            var count = loads.count
            #if Persistence
                count += 1
                let outcome = await world.background.run()
                printer.print(outcome, number: count)
                if let problem = outcome.problem { problems.append("\(count). \(BackgroundDemo.name): \(problem)") }
            #endif
            printer.printSummary(loads, count, problems, seconds: Date().timeIntervalSince(start))
            if !problems.isEmpty { throw ExitCode(1) }
        }
    }
#endif

#if CommandLineTool
    import ArgumentParser

    /// The method, the fields and the query.
    struct RequestOptions: ParsableArguments {
        @Flag(name: [.customShort("I"), .long], help: "Ask for the head alone (HEAD), and write it.")
        var head = false

        @Flag(name: [.customShort("G"), .long], help: "Send -d's data in the query, with GET.")
        var get = false

        @Option(
            name: [.customShort("X"), .customLong("request")], parsing: .unconditional,
            help: ArgumentHelp("The request's method.", valueName: "METHOD"))
        var method: String?

        @Option(
            name: [.customShort("H"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                "Send a field. 'Name:' sends none, 'Name;' an empty one; @FILE has one on each line. May be repeated.",
                valueName: "'NAME: VALUE'"))
        var header: [String] = []

        @Option(
            name: .long, parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Add to the query, encoded as by --data-urlencode; +TEXT as it is.", valueName: "DATA"))
        var urlQuery: [String] = []

        @Option(
            name: [.customShort("A"), .long], parsing: .unconditional,
            help: ArgumentHelp("What to send as User-Agent.", valueName: "NAME"))
        var userAgent: String?

        @Option(
            name: [.customShort("e"), .long], parsing: .unconditional,
            help: ArgumentHelp("What to send as Referer.", valueName: "URL"))
        var referer: String?

        @Option(
            name: [.customShort("r"), .long], parsing: .unconditional,
            help: ArgumentHelp("Ask for a part of the body: 0-99, 100-, -50.", valueName: "RANGE"))
        var range: String?
    }

    /// The body. The value of an option that several names share has the name before it (``Arguments/sharedNames``), so that
    /// different options keep their order.
    struct BodyOptions: ParsableArguments {
        @Option(
            name: [
                .customShort("d"), .long, .customLong("data-ascii"), .customLong("data-raw"),
                .customLong("data-binary"),
                .customLong("data-urlencode"), .customLong("json"),
            ], parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                """
                Send a form with POST; repeated, joined with &. @FILE is a file's content, @- standard input's: with -d without \
                its line breaks, with --data-binary as it is; --data-raw has no @. --data-urlencode NAME=TEXT encodes the text. \
                --json sends and accepts JSON.
                """, valueName: "DATA"))
        var data: [String] = []

        @Option(
            name: [.customShort("F"), .long, .customLong("form-string")], parsing: .unconditionalSingleValue,
            help: ArgumentHelp(
                """
                Send a part of a multipart form: NAME=TEXT, NAME=@FILE, or NAME=<FILE for a file's content as text; then \
                ;type=TYPE and ;filename=NAME. --form-string takes all as text.
                """, valueName: "NAME=CONTENT"))
        var form: [String] = []

        @Option(
            name: [.customShort("T"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Send a file with PUT; - is standard input.", valueName: "FILE"))
        var uploadFile: [String] = []
    }
#endif

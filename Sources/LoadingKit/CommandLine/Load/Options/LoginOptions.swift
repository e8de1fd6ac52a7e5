#if CommandLineTool
    import ArgumentParser

    /// Credentials and cookies.
    struct LoginOptions: ParsableArguments {
        @Option(
            name: [.customShort("u"), .long], parsing: .unconditional,
            help: ArgumentHelp(
                "Name and password for the server, which it gets when it asks; without a password, it is asked for.",
                valueName: "NAME:PASSWORD"))
        var user: String?

        @Flag(help: "The schemes by which -u's password may be sent: all of these by default, --basic alone at once.")
        var scheme: [LoginScheme] = []

        @Option(
            name: .long, parsing: .unconditional, help: ArgumentHelp("Send a bearer token.", valueName: "TOKEN"))
        var oauth2Bearer: String?

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp(
                "Sign with -u's key and secret: PROVIDER1[:PROVIDER2[:REGION[:SERVICE]]].", valueName: "NAMES"))
        var awsSigv4: String?

        @Flag(name: [.customShort("n"), .long], help: "Take name and password from ~/.netrc.")
        var netrc = false

        @Flag(name: .long, help: "Like --netrc; the file may lack.")
        var netrcOptional = false

        @Option(
            name: .long, parsing: .unconditional,
            help: ArgumentHelp("Take name and password from this file.", valueName: "FILE"))
        var netrcFile: String?

        @Option(
            name: [.customShort("b"), .long], parsing: .unconditionalSingleValue,
            help: ArgumentHelp("Send cookies, or those of a file in Netscape's form.", valueName: "NAME=VALUE|FILE"))
        var cookie: [String] = []

        @Option(
            name: [.customShort("c"), .long], parsing: .unconditional,
            help: ArgumentHelp("Write the cookies to a file afterwards; - is standard output.", valueName: "FILE"))
        var cookieJar: String?

        @Flag(name: .long, help: "Leave out those of a file's cookies that were for one session.")
        var junkSessionCookies = false
    }

    /// An authentication scheme for -u.
    enum LoginScheme: String, EnumerableFlag {
        case basic, digest, ntlm, negotiate, anyauth
    }
#endif

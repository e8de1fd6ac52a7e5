import LoadingKitFTP
import Testing

@Suite struct MLSDTests {
    private func read(_ text: String) -> ReadListing? { ReadListing.anyhow(Array(text.utf8), as: .mlsd) }

    @Test func factsAndNames() {
        let table = [
            ("type=file;size=12;modify=20260131230509;perm=r; a name", "file <a name> 12 2026-01-31T23:05:09Z r"),
            ("Type=FILE;Size=0;Modify=20260131230509.123;  leading", "file < leading> 0 2026-01-31T23:05:09Z"),
            ("TYPE=dir;UNIX.mode=0755;perm=el; d", "directory <d> 0755"),
            ("type=OS.unix=slink:/a; l", "link <l> -> /a"),
            ("type=OS.unix=symlink;size=4; l", "link <l>"), ("type=OS.unix=chr-4/64; c", "other <c>"),
            (" no facts", "other <no facts>"), ("size=5; no type", "other <no type>"),
            ("type=file;size=1;size=2; first", "file <first> 1"), ("type=file;size=-1;modify=2026; odd", "file <odd>"),
            ("type=file;modify=20260231000000; no such day", "file <no such day>"),
            ("type=file;modify=20161231235960; leap", "file <leap> 2016-12-31T23:59:60Z"),
            ("type=file;x=; größe; =?", "file <größe; =?>"), ("type=file a", "file <a>"),
        ]
        for (line, entry) in table {
            for end in ["\r\n", "\n", ""] { #expect(read(line + end) == ReadListing([entry]), "\(line)") }
        }
        var parser = FTPListingParser(format: .mlsd)
        let entries = try? parser.receive(Array("Type=file;X.Y=a=b; n\r\n".utf8))
        #expect(entries?.first?.facts == ["type": "file", "x.y": "a=b"])
    }

    @Test func directoriesThemselvesAreNoEntries() {
        let own = "type=cdir; /pub\r\ntype=PDIR; /\r\ntype=dir; .\r\ntype=dir; ..\r\n\r\n"
        #expect(read(own) == ReadListing([]))
        for line in ["nospace", "type; n", "=x; n", "type=file; ", "type=file;"] {
            #expect(read(line + "\r\n") == ReadListing([], unreadable: 1), "\(line)")
        }
    }

    @Test func linesHaveALimit() {
        var limits = FTPLimits()
        limits.listingLineLength = 14
        let lines = "type=file; abc\r\ntype=file; abcd\r\ntype=file; e\r\n"
        for format in [FTPListingParser.Format.mlsd, .list(now: 0)] {
            let read = ReadListing.anyhow(Array(lines.utf8), as: format, limits: limits)
            #expect(read?.error == .lineTooLong(limit: 14))
        }
        #expect(ReadListing.anyhow(Array(lines.utf8), as: .mlsd, limits: limits)?.entries == ["file <abc>"])
        limits.listingLineLength = 0
        #expect(ReadListing.anyhow(Array("\r\n\na".utf8), as: .mlsd, limits: limits)?.error == .lineTooLong(limit: 0))
        limits.listingLineLength = .max
        #expect(ReadListing.anyhow(Array(lines.utf8), as: .mlsd, limits: limits)?.entries.count == 3)
        #expect(FTPError.lineTooLong(limit: 14).description.contains("14"))
    }

    @Test func entriesBeforeAnErrorAreGivenFirst() throws {
        var limits = FTPLimits()
        limits.listingLineLength = 14
        var parser = FTPListingParser(format: .mlsd, limits: limits)
        let entries = try parser.receive(Array("type=file; abc\r\ntype=file; abcdef".utf8))
        #expect(entries.count == 1)
        for _ in 0..<2 {
            #expect(throws: FTPError.lineTooLong(limit: 14)) { _ = try parser.receive([]) }
            #expect(throws: FTPError.lineTooLong(limit: 14)) { _ = try parser.finish() }
        }
    }
}

import LoadingKitFTP
import Testing

/// Lines of LIST, and what is read of each: the forms that servers' manuals show, and the corners of each.
@Suite struct ListFormatTests {
    /// Each line as a listing of its own, with every end of a line, and then all in one listing.
    private func expectAll(_ table: [(line: String, entry: String)], _ location: SourceLocation = #_sourceLocation) {
        for (line, entry) in table {
            for end in ["\r\n", "\n", ""] {
                let read = ReadListing.anyhow(Array((line + end).utf8), as: .list(now: ReadListing.now))
                #expect(read == ReadListing([entry]), "\(line)", sourceLocation: location)
            }
        }
        let listing = table.map { $0.line + "\r\n" }.joined()
        let read = ReadListing([Array(listing.utf8)], as: .list(now: ReadListing.now))
        #expect(read == ReadListing(table.map(\.entry)), sourceLocation: location)
    }

    @Test func unixColumns() {
        expectAll([
            (
                "-rw-r--r--   1 alice    staff        531 Jan 29 03:26 plain",
                "file <plain> 531 2026-01-29T03:26 rw-r--r--"
            ),
            (
                "drwxr-xr-x   2 alice                 512 Apr  8  1994 no group",
                "directory <no group> 1994-04-08 rwxr-xr-x"
            ),
            (
                "-rw-r--r--   1 1000     1000 18446744073709551615 Jan  1  2020 largest",
                "file <largest> 18446744073709551615 2020-01-01 rw-r--r--"
            ),
            (
                "-rw-r--r--   1 1000     1000 18446744073709551616 Jan  1  2020 larger",
                "file <larger> 2020-01-01 rw-r--r--"
            ),
            ("-rw-rw-r--+  1 alice    staff          0 Jan  1  2020 list", "file <list> 0 2020-01-01 rw-rw-r--+"),
            ("-rw-rw-r--.  1 alice    staff          7 Jan  1  2020 context", "file <context> 7 2020-01-01 rw-rw-r--."),
            (
                "-rwsr-Sr-T   1 alice    Domain Users   7 Jan  1  2020 group of two words",
                "file <group of two words> 7 2020-01-01 rwsr-Sr-T"
            ),
            (
                "-------r--         326  1391972  1392298 Nov 22  1995 MacOS",
                "file <MacOS> 1392298 1995-11-22 ------r--"
            ),
            (
                "drwxrwxr-x               folder        2 May 10  1996 folder of MacOS",
                "directory <folder of MacOS> 1996-05-10 rwxrwxr-x"
            ),
            (
                "-rw-r--r--   1 alice    staff       1.4k Jan 29 03:26 rounded",
                "file <rounded> 2026-01-29T03:26 rw-r--r--"
            ),
            (
                "-rw-r--r--   1 May      5            531 Jan 29 03:26 owner is a month",
                "file <owner is a month> 531 2026-01-29T03:26 rw-r--r--"
            ),
            ("?---------   ? ?        ?              0 Jan  1  2020 unknown", "other <unknown> 2020-01-01 ---------"),
            (
                "mrw-r--r--   1 alice    staff         12 Jan  1  2020 migrated",
                "file <migrated> 12 2020-01-01 rw-r--r--"
            ),
            ("-rw-r--r--\t1\talice\tstaff\t531\tJan 29 03:26\ttabs", "file <tabs> 531 2026-01-29T03:26 rw-r--r--"),
        ])
    }

    @Test func unixNames() {
        let start = "-rw-r--r-- 1 alice staff 1 Jan  1  2020 "
        let facts = "1 2020-01-01 rw-r--r--"
        expectAll(
            [
                " leading", "   three", "trailing  ", "a  b", "größe", "12:00", "Jan  1  2020 x", "a -> b",
                "-rw-r--r--", "a/b",
                "a\\b", "a\tb", "..hidden", "*", "total 5", "<b>", "a\rb", "\u{0}nul", "😀",
            ].map { (start + $0, "file <\($0)> \(facts)") })
    }

    @Test func unixLinksAndDevices() {
        expectAll([
            ("lrwxrwxrwx 1 a b 7 Jan 25  2024 link -> usr/bin", "link <link> 2024-01-25 rwxrwxrwx -> usr/bin"),
            ("lrwxrwxrwx 1 a b 7 Jan 25  2024 a b -> c -> d", "link <a b> 2024-01-25 rwxrwxrwx -> c -> d"),
            ("lrwxrwxrwx 1 a b 7 Jan 25  2024 bare", "link <bare> 2024-01-25 rwxrwxrwx"),
            ("lrwxrwxrwx 1 a b 7 Jan 25  2024  -> x", "link < -> x> 2024-01-25 rwxrwxrwx"),
            ("crw-rw---- 1 root tty  4,  64 Jan  1  2020 ttyS0", "other <ttyS0> 2020-01-01 rw-rw----"),
            ("brw-rw---- 1 root disk   8,1 Jan  1  2020 sda1", "other <sda1> 2020-01-01 rw-rw----"),
            ("prw-rw---- 1 root tty      0 Jan  1  2020 pipe", "other <pipe> 2020-01-01 rw-rw----"),
            ("srw-rw---- 1 root tty      0 Jan  1  2020 socket", "other <socket> 2020-01-01 rw-rw----"),
            ("drwxrwxrwt 1 root tty      0 Jan  1  2020 slash/", "directory <slash> 2020-01-01 rwxrwxrwt"),
        ])
    }

    @Test func unixDates() {
        let dates = [
            // Around 15 February 2026: a day ahead is this year's, as zones differ; more is last year's.
            ("Feb 15 11:59", "2026-02-15T11:59"), ("Feb 16 11:59", "2026-02-16T11:59"),
            ("Feb 16 12:01", "2025-02-16T12:01"),
            ("Dec 31 23:59", "2025-12-31T23:59"), ("Jan  1 00:00", "2026-01-01T00:00"),
            ("Feb 29 10:00", "2024-02-29T10:00"),
            ("Jan  1 9:05", "2026-01-01T09:05"), ("JAN 1  2020", "2020-01-01"), ("Jan 01 2020", "2020-01-01"),
            ("1 Jan 2020", "2020-01-01"), ("29 Jan 03:26", "2026-01-29T03:26"), ("Sept 1 2024", "2024-09-01"),
            ("January 29 2024", "2024-01-29"), ("2024-01-29", "2024-01-29"), ("2024-01-29 03:26", "2024-01-29T03:26"),
        ]
        expectAll(
            dates.map { date, expected in
                ("-rw-r--r-- 1 alice staff 1 \(date) f", "file <f> 1 \(expected) rw-r--r--")
            })
    }

    @Test func windows() {
        expectAll([
            ("04-27-00  09:09PM       <DIR>          folder", "directory <folder> 2000-04-27T21:09"),
            ("04-27-00  09:09PM       <DIR>            two spaces", "directory <  two spaces> 2000-04-27T21:09"),
            ("04-27-00  09:09PM       <DIR> close", "directory <close> 2000-04-27T21:09"),
            ("04-06-99  12:00AM                  589 a file.htm", "file <a file.htm> 589 1999-04-06T00:00"),
            ("04-06-1999  12:00PM                589  b", "file < b> 589 1999-04-06T12:00"),
            ("2024-04-27  21:09           1,234,567 commas", "file <commas> 1234567 2024-04-27T21:09"),
            ("27.04.2024  21:09           1.234.567 full stops", "file <full stops> 1234567 2024-04-27T21:09"),
            ("27/04/2024  09:09 PM              589 day first", "file <day first> 589 2024-04-27T21:09"),
            ("04-27-24  09:09PM       <JUNCTION>     data [D:\\data x]", "link <data> 2024-04-27T21:09 -> D:\\data x"),
            ("04-27-24  09:09PM       <SYMLINKD>     a [b] [c]", "link <a [b]> 2024-04-27T21:09 -> c"),
            ("04-27-24  09:09PM       <SYMLINK>      bare", "link <bare> 2024-04-27T21:09"),
            ("04-27-24  09:09PM       <OTHER>        x", "other <x> 2024-04-27T21:09"),
        ])
    }

    @Test func whatIsNoEntry() {
        let remarks = ["total 12", "", "   ", "Total of 5 files"]
        let own = [
            "drwxr-xr-x 2 a b 512 Jan  1  2020 .", "drwxr-xr-x 2 a b 512 Jan  1  2020 ..", "04-27-00  09:09PM <DIR> ..",
        ]
        for line in remarks + own {
            let read = ReadListing.anyhow(Array((line + "\r\n").utf8), as: .list(now: ReadListing.now))
            #expect(read == ReadListing([]), "\(line)")
        }
        let unreadable = [
            "hello", "-rw-r--r--", "-rw-r--r-- 1 a b 531 Jan 29 03:26", "-rw-r--r-- 1 a b x Jan 29 03:26 f", "+no tab",
            "-rw-r--r-- 1 a b 5 Jan 32 03:26 f", "-rw-r--r-- 1 a b 5 Feb 30 2024 f",
            "-rw-r--r-- 1 a b 5 Jan 29 24:00 f",
            "13-13-00  09:09PM 5 f", "04-27-00  13:09PM 5 f", "04-27-00  09:09PM <DIR>",
            "-rw-r--r-- 1 a b 5 Jan 29 9999999999999999999 f", "-rw-r--r-- 1 a b 5 29 févr. 03:26 f",
            "-rw-r--r-- 1 a b 5 29. Jan. 2024 f", "-rw-r--r-- 1 a b 5 1月 29 03:26 f", "-rw-r--r-- 1 a b 5 Ja 29 2024 f",
            // Of `ls -T` and `ls --full-time`.
            "-rw-r--r-- 1 a b 531 Jan 29 03:26:15 2024 a.txt",
            "-rw-r--r-- 1 a b 531 2024-01-29 03:26:15.123456789 +0130 a.txt",
            // Of EPLF, VMS, MVS and AS/400.
            "+i8388621.48594,m825718503,r,s280,\tdjb.html",
            "README.TXT;2  2/3  5-JUN-1997 15:43:10  [ANONYMOUS,GUEST]  (RWED,RWED,RE,RE)", "A.TXT;1",
            "WYOSPT 3420   2023/05/21  1  200  FB      80  8053  PS  A.FILE",
            "QSYS            77824 02/23/00 15:09:55 *DIR       QDOC/",
        ]
        for line in unreadable {
            let read = ReadListing.anyhow(Array((line + "\r\n").utf8), as: .list(now: ReadListing.now))
            #expect(read == ReadListing([], unreadable: 1), "\(line)")
        }
    }
}

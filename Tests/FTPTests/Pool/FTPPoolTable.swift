/// state | input | actions | next state
enum FTPPoolTable {
    static let expected = #"""
         | ada | open 1 | connections 1, idle 0, waiting 0
         | bob | open 1 | connections 1, idle 0, waiting 0
         | ada, not on a used one | open 1 | connections 1, idle 0, waiting 0
         | withdrawn |  | connections 0, idle 0, waiting 0
         | ready again |  | connections 0, idle 0, waiting 0
         | closed in use |  | connections 0, idle 0, waiting 0
         | closed while idle |  | connections 0, idle 0, waiting 0
         | found to be closed |  | connections 0, idle 0, waiting 0
         | serve |  | connections 0, idle 0, waiting 0
        ada | ada | open 2 | connections 2, idle 0, waiting 0
        ada | bob | open 2 | connections 2, idle 0, waiting 0
        ada | ada, not on a used one | open 2 | connections 2, idle 0, waiting 0
        ada | withdrawn |  | connections 1, idle 0, waiting 0
        ada | ready again |  | connections 1, idle 1, waiting 0
        ada | closed in use |  | connections 0, idle 0, waiting 0
        ada | closed while idle |  | connections 1, idle 0, waiting 0
        ada | found to be closed |  | connections 1, idle 0, waiting 0
        ada | serve |  | connections 1, idle 0, waiting 0
        ada; ready again | ada | reuse 1 for 2 | connections 1, idle 0, waiting 0
        ada; ready again | bob | open 2 | connections 2, idle 1, waiting 0
        ada; ready again | ada, not on a used one | open 2 | connections 2, idle 1, waiting 0
        ada; ready again | withdrawn |  | connections 1, idle 1, waiting 0
        ada; ready again | ready again |  | connections 1, idle 1, waiting 0
        ada; ready again | closed in use |  | connections 1, idle 1, waiting 0
        ada; ready again | closed while idle |  | connections 0, idle 0, waiting 0
        ada; ready again | found to be closed |  | connections 1, idle 1, waiting 0
        ada; ready again | serve |  | connections 1, idle 1, waiting 0
        ada; bob; ready again | ada | reuse 1 for 3 | connections 2, idle 0, waiting 0
        ada; bob; ready again | bob | close 1, open 3 | connections 2, idle 0, waiting 0
        ada; bob; ready again | ada, not on a used one | close 1, open 3 | connections 2, idle 0, waiting 0
        ada; bob; ready again | withdrawn |  | connections 2, idle 1, waiting 0
        ada; bob; ready again | ready again |  | connections 2, idle 2, waiting 0
        ada; bob; ready again | closed in use |  | connections 1, idle 1, waiting 0
        ada; bob; ready again | closed while idle |  | connections 1, idle 0, waiting 0
        ada; bob; ready again | found to be closed |  | connections 2, idle 1, waiting 0
        ada; bob; ready again | serve |  | connections 2, idle 1, waiting 0
        ada; ready again; ada | ada | open 3 | connections 2, idle 0, waiting 0
        ada; ready again; ada | bob | open 3 | connections 2, idle 0, waiting 0
        ada; ready again; ada | ada, not on a used one | open 3 | connections 2, idle 0, waiting 0
        ada; ready again; ada | withdrawn |  | connections 1, idle 0, waiting 0
        ada; ready again; ada | ready again |  | connections 1, idle 1, waiting 0
        ada; ready again; ada | closed in use |  | connections 0, idle 0, waiting 0
        ada; ready again; ada | closed while idle |  | connections 1, idle 0, waiting 0
        ada; ready again; ada | found to be closed | open 2 | connections 1, idle 0, waiting 0
        ada; ready again; ada | serve |  | connections 1, idle 0, waiting 0
        ada; bob; ready again; ready again | ada | reuse 1 for 3 | connections 2, idle 1, waiting 0
        ada; bob; ready again; ready again | bob | reuse 2 for 3 | connections 2, idle 1, waiting 0
        ada; bob; ready again; ready again | ada, not on a used one | close 1, open 3 | connections 2, idle 1, waiting 0
        ada; bob; ready again; ready again | withdrawn |  | connections 2, idle 2, waiting 0
        ada; bob; ready again; ready again | ready again |  | connections 2, idle 2, waiting 0
        ada; bob; ready again; ready again | closed in use |  | connections 2, idle 2, waiting 0
        ada; bob; ready again; ready again | closed while idle |  | connections 1, idle 1, waiting 0
        ada; bob; ready again; ready again | found to be closed |  | connections 2, idle 2, waiting 0
        ada; bob; ready again; ready again | serve |  | connections 2, idle 2, waiting 0
        ada; bob | ada | 3 waits | connections 2, idle 0, waiting 1
        ada; bob | bob | 3 waits | connections 2, idle 0, waiting 1
        ada; bob | ada, not on a used one | 3 waits | connections 2, idle 0, waiting 1
        ada; bob | withdrawn |  | connections 2, idle 0, waiting 0
        ada; bob | ready again |  | connections 2, idle 1, waiting 0
        ada; bob | closed in use |  | connections 1, idle 0, waiting 0
        ada; bob | closed while idle |  | connections 2, idle 0, waiting 0
        ada; bob | found to be closed |  | connections 2, idle 0, waiting 0
        ada; bob | serve |  | connections 2, idle 0, waiting 0
        ada; bob; bob; ada | ada | 5 waits | connections 2, idle 0, waiting 3
        ada; bob; bob; ada | bob | 5 waits | connections 2, idle 0, waiting 3
        ada; bob; bob; ada | ada, not on a used one | 5 waits | connections 2, idle 0, waiting 3
        ada; bob; bob; ada | withdrawn |  | connections 2, idle 0, waiting 1
        ada; bob; bob; ada | ready again | 3 waits no more, close 1, open 3 | connections 2, idle 0, waiting 1
        ada; bob; bob; ada | closed in use |  | connections 1, idle 0, waiting 2
        ada; bob; bob; ada | closed while idle |  | connections 2, idle 0, waiting 2
        ada; bob; bob; ada | found to be closed |  | connections 2, idle 0, waiting 2
        ada; bob; bob; ada | serve |  | connections 2, idle 0, waiting 2
        ada; ada; bob; closed in use | ada | 4 waits | connections 1, idle 0, waiting 2
        ada; ada; bob; closed in use | bob | 4 waits | connections 1, idle 0, waiting 2
        ada; ada; bob; closed in use | ada, not on a used one | open 4 | connections 2, idle 0, waiting 1
        ada; ada; bob; closed in use | withdrawn |  | connections 1, idle 0, waiting 0
        ada; ada; bob; closed in use | ready again | 3 waits no more, open 3 | connections 2, idle 1, waiting 0
        ada; ada; bob; closed in use | closed in use |  | connections 0, idle 0, waiting 1
        ada; ada; bob; closed in use | closed while idle |  | connections 1, idle 0, waiting 1
        ada; ada; bob; closed in use | found to be closed |  | connections 1, idle 0, waiting 1
        ada; ada; bob; closed in use | serve | 3 waits no more, open 3 | connections 2, idle 0, waiting 0
        ada; ada; ada, not on a used one | ada | 4 waits | connections 2, idle 0, waiting 2
        ada; ada; ada, not on a used one | bob | 4 waits | connections 2, idle 0, waiting 2
        ada; ada; ada, not on a used one | ada, not on a used one | 4 waits | connections 2, idle 0, waiting 2
        ada; ada; ada, not on a used one | withdrawn |  | connections 2, idle 0, waiting 0
        ada; ada; ada, not on a used one | ready again | 3 waits no more, close 1, open 3 | connections 2, idle 0, waiting 0
        ada; ada; ada, not on a used one | closed in use |  | connections 1, idle 0, waiting 1
        ada; ada; ada, not on a used one | closed while idle |  | connections 2, idle 0, waiting 1
        ada; ada; ada, not on a used one | found to be closed |  | connections 2, idle 0, waiting 1
        ada; ada; ada, not on a used one | serve |  | connections 2, idle 0, waiting 1
        """#
}

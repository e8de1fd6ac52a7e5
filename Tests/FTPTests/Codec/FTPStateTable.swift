/// state | input | action | next state
enum FTPStateTable {
    static let expected = #"""
        greeting | 150 (9 bytes) | wait | greeting
        greeting | 200 ok | logIn | anonymous
        greeting | 213 10 | logIn | anonymous
        greeting | 227 (1,2,3,4,0,9) | logIn | anonymous
        greeting | 229 (|||8|) | logIn | anonymous
        greeting | 257 "/h" | logIn | anonymous
        greeting | 331 ? | close serviceUnavailable | closed
        greeting | 332 ? | close serviceUnavailable | closed
        greeting | 350 ? | close serviceUnavailable | closed
        greeting | 421 ? | close serviceUnavailable | closed
        greeting | 425 ? | close serviceUnavailable | closed
        greeting | 450 ? | close serviceUnavailable | closed
        greeting | 500 ? | close serviceUnavailable | closed
        greeting | 530 ? | close serviceUnavailable | closed
        greeting | 550 ? | close serviceUnavailable | closed
        greeting | 552 ? | close serviceUnavailable | closed
        greeting | 600 ? | close unexpectedReply | closed
        greeting | [tls] | wait | greeting
        greeting | [login] | wait | greeting
        greeting | [begin] | wait | greeting
        greeting | [proceed 5] | wait | greeting
        greeting | [opened] | wait | greeting
        greeting | [not opened] | wait | greeting
        greeting | [ended] | wait | greeting
        auth | 150 (9 bytes) | wait | auth
        auth | 200 ok | startTLS | securing
        auth | 213 10 | startTLS | securing
        auth | 227 (1,2,3,4,0,9) | startTLS | securing
        auth | 229 (|||8|) | startTLS | securing
        auth | 257 "/h" | startTLS | securing
        auth | 331 ? | close security | closed
        auth | 332 ? | close security | closed
        auth | 350 ? | close security | closed
        auth | 421 ? | close serviceUnavailable | closed
        auth | 425 ? | close security | closed
        auth | 450 ? | close security | closed
        auth | 500 ? | close security | closed
        auth | 530 ? | close security | closed
        auth | 550 ? | close security | closed
        auth | 552 ? | close security | closed
        auth | 600 ? | close unexpectedReply | closed
        auth | [tls] | wait | auth
        auth | [login] | wait | auth
        auth | [begin] | wait | auth
        auth | [proceed 5] | wait | auth
        auth | [opened] | wait | auth
        auth | [not opened] | wait | auth
        auth | [ended] | wait | auth
        securing | 150 (9 bytes) | close unexpectedReply | closed
        securing | 200 ok | close unexpectedReply | closed
        securing | 213 10 | close unexpectedReply | closed
        securing | 227 (1,2,3,4,0,9) | close unexpectedReply | closed
        securing | 229 (|||8|) | close unexpectedReply | closed
        securing | 257 "/h" | close unexpectedReply | closed
        securing | 331 ? | close unexpectedReply | closed
        securing | 332 ? | close unexpectedReply | closed
        securing | 350 ? | close unexpectedReply | closed
        securing | 421 ? | close serviceUnavailable | closed
        securing | 425 ? | close unexpectedReply | closed
        securing | 450 ? | close unexpectedReply | closed
        securing | 500 ? | close unexpectedReply | closed
        securing | 530 ? | close unexpectedReply | closed
        securing | 550 ? | close unexpectedReply | closed
        securing | 552 ? | close unexpectedReply | closed
        securing | 600 ? | close unexpectedReply | closed
        securing | [tls] | PBSZ 0 | bufferSize
        securing | [login] | wait | securing
        securing | [begin] | wait | securing
        securing | [proceed 5] | wait | securing
        securing | [opened] | wait | securing
        securing | [not opened] | wait | securing
        securing | [ended] | wait | securing
        bufferSize | 150 (9 bytes) | wait | bufferSize
        bufferSize | 200 ok | PROT P | protection
        bufferSize | 213 10 | PROT P | protection
        bufferSize | 227 (1,2,3,4,0,9) | PROT P | protection
        bufferSize | 229 (|||8|) | PROT P | protection
        bufferSize | 257 "/h" | PROT P | protection
        bufferSize | 331 ? | PROT P | protection
        bufferSize | 332 ? | PROT P | protection
        bufferSize | 350 ? | PROT P | protection
        bufferSize | 421 ? | close serviceUnavailable | closed
        bufferSize | 425 ? | PROT P | protection
        bufferSize | 450 ? | PROT P | protection
        bufferSize | 500 ? | PROT P | protection
        bufferSize | 530 ? | PROT P | protection
        bufferSize | 550 ? | PROT P | protection
        bufferSize | 552 ? | PROT P | protection
        bufferSize | 600 ? | close unexpectedReply | closed
        bufferSize | [tls] | wait | bufferSize
        bufferSize | [login] | wait | bufferSize
        bufferSize | [begin] | wait | bufferSize
        bufferSize | [proceed 5] | wait | bufferSize
        bufferSize | [opened] | wait | bufferSize
        bufferSize | [not opened] | wait | bufferSize
        bufferSize | [ended] | wait | bufferSize
        protection | 150 (9 bytes) | wait | protection
        protection | 200 ok | logIn | anonymous
        protection | 213 10 | logIn | anonymous
        protection | 227 (1,2,3,4,0,9) | logIn | anonymous
        protection | 229 (|||8|) | logIn | anonymous
        protection | 257 "/h" | logIn | anonymous
        protection | 331 ? | close security | closed
        protection | 332 ? | close security | closed
        protection | 350 ? | close security | closed
        protection | 421 ? | close serviceUnavailable | closed
        protection | 425 ? | close security | closed
        protection | 450 ? | close security | closed
        protection | 500 ? | close security | closed
        protection | 530 ? | close security | closed
        protection | 550 ? | close security | closed
        protection | 552 ? | close security | closed
        protection | 600 ? | close unexpectedReply | closed
        protection | [tls] | wait | protection
        protection | [login] | wait | protection
        protection | [begin] | wait | protection
        protection | [proceed 5] | wait | protection
        protection | [opened] | wait | protection
        protection | [not opened] | wait | protection
        protection | [ended] | wait | protection
        anonymous | 150 (9 bytes) | close unexpectedReply | closed
        anonymous | 200 ok | close unexpectedReply | closed
        anonymous | 213 10 | close unexpectedReply | closed
        anonymous | 227 (1,2,3,4,0,9) | close unexpectedReply | closed
        anonymous | 229 (|||8|) | close unexpectedReply | closed
        anonymous | 257 "/h" | close unexpectedReply | closed
        anonymous | 331 ? | close unexpectedReply | closed
        anonymous | 332 ? | close unexpectedReply | closed
        anonymous | 350 ? | close unexpectedReply | closed
        anonymous | 421 ? | close serviceUnavailable | closed
        anonymous | 425 ? | close unexpectedReply | closed
        anonymous | 450 ? | close unexpectedReply | closed
        anonymous | 500 ? | close unexpectedReply | closed
        anonymous | 530 ? | close unexpectedReply | closed
        anonymous | 550 ? | close unexpectedReply | closed
        anonymous | 552 ? | close unexpectedReply | closed
        anonymous | 600 ? | close unexpectedReply | closed
        anonymous | [tls] | wait | anonymous
        anonymous | [login] | USER ada | user
        anonymous | [begin] | wait | anonymous
        anonymous | [proceed 5] | wait | anonymous
        anonymous | [opened] | wait | anonymous
        anonymous | [not opened] | wait | anonymous
        anonymous | [ended] | wait | anonymous
        user | 150 (9 bytes) | wait | user
        user | 200 ok | FEAT | features
        user | 213 10 | FEAT | features
        user | 227 (1,2,3,4,0,9) | FEAT | features
        user | 229 (|||8|) | FEAT | features
        user | 257 "/h" | FEAT | features
        user | 331 ? | PASS pw | password
        user | 332 ? | close account | closed
        user | 350 ? | close account | closed
        user | 421 ? | close serviceUnavailable | closed
        user | 425 ? | logIn login | anonymous
        user | 450 ? | logIn login | anonymous
        user | 500 ? | logIn login | anonymous
        user | 530 ? | logIn login | anonymous
        user | 550 ? | logIn login | anonymous
        user | 552 ? | logIn login | anonymous
        user | 600 ? | close unexpectedReply | closed
        user | [tls] | wait | user
        user | [login] | wait | user
        user | [begin] | wait | user
        user | [proceed 5] | wait | user
        user | [opened] | wait | user
        user | [not opened] | wait | user
        user | [ended] | wait | user
        password | 150 (9 bytes) | wait | password
        password | 200 ok | FEAT | features
        password | 213 10 | FEAT | features
        password | 227 (1,2,3,4,0,9) | FEAT | features
        password | 229 (|||8|) | FEAT | features
        password | 257 "/h" | FEAT | features
        password | 331 ? | close account | closed
        password | 332 ? | close account | closed
        password | 350 ? | close account | closed
        password | 421 ? | close serviceUnavailable | closed
        password | 425 ? | logIn login | anonymous
        password | 450 ? | logIn login | anonymous
        password | 500 ? | logIn login | anonymous
        password | 530 ? | logIn login | anonymous
        password | 550 ? | logIn login | anonymous
        password | 552 ? | logIn login | anonymous
        password | 600 ? | close unexpectedReply | closed
        password | [tls] | wait | password
        password | [login] | wait | password
        password | [begin] | wait | password
        password | [proceed 5] | wait | password
        password | [opened] | wait | password
        password | [not opened] | wait | password
        password | [ended] | wait | password
        features | 150 (9 bytes) | wait | features
        features | 200 ok | ready | idle
        features | 213 10 | ready | idle
        features | 227 (1,2,3,4,0,9) | ready | idle
        features | 229 (|||8|) | ready | idle
        features | 257 "/h" | ready | idle
        features | 331 ? | ready | idle
        features | 332 ? | ready | idle
        features | 350 ? | ready | idle
        features | 421 ? | close serviceUnavailable | closed
        features | 425 ? | ready | idle
        features | 450 ? | ready | idle
        features | 500 ? | ready | idle
        features | 530 ? | ready | idle
        features | 550 ? | ready | idle
        features | 552 ? | ready | idle
        features | 600 ? | close unexpectedReply | closed
        features | [tls] | wait | features
        features | [login] | wait | features
        features | [begin] | wait | features
        features | [proceed 5] | wait | features
        features | [opened] | wait | features
        features | [not opened] | wait | features
        features | [ended] | wait | features
        options | 150 (9 bytes) | wait | options
        options | 200 ok | ready | idle
        options | 213 10 | ready | idle
        options | 227 (1,2,3,4,0,9) | ready | idle
        options | 229 (|||8|) | ready | idle
        options | 257 "/h" | ready | idle
        options | 331 ? | ready | idle
        options | 332 ? | ready | idle
        options | 350 ? | ready | idle
        options | 421 ? | close serviceUnavailable | closed
        options | 425 ? | ready | idle
        options | 450 ? | ready | idle
        options | 500 ? | ready | idle
        options | 530 ? | ready | idle
        options | 550 ? | ready | idle
        options | 552 ? | ready | idle
        options | 600 ? | close unexpectedReply | closed
        options | [tls] | wait | options
        options | [login] | wait | options
        options | [begin] | wait | options
        options | [proceed 5] | wait | options
        options | [opened] | wait | options
        options | [not opened] | wait | options
        options | [ended] | wait | options
        idle | 150 (9 bytes) | close unexpectedReply | closed
        idle | 200 ok | close unexpectedReply | closed
        idle | 213 10 | close unexpectedReply | closed
        idle | 227 (1,2,3,4,0,9) | close unexpectedReply | closed
        idle | 229 (|||8|) | close unexpectedReply | closed
        idle | 257 "/h" | close unexpectedReply | closed
        idle | 331 ? | close unexpectedReply | closed
        idle | 332 ? | close unexpectedReply | closed
        idle | 350 ? | close unexpectedReply | closed
        idle | 421 ? | close serviceUnavailable | closed
        idle | 425 ? | close unexpectedReply | closed
        idle | 450 ? | close unexpectedReply | closed
        idle | 500 ? | close unexpectedReply | closed
        idle | 530 ? | close unexpectedReply | closed
        idle | 550 ? | close unexpectedReply | closed
        idle | 552 ? | close unexpectedReply | closed
        idle | 600 ? | close unexpectedReply | closed
        idle | [tls] | wait | idle
        idle | [login] | wait | idle
        idle | [begin] | TYPE I | form
        idle | [proceed 5] | wait | idle
        idle | [opened] | wait | idle
        idle | [not opened] | wait | idle
        idle | [ended] | wait | idle
        form | 150 (9 bytes) | wait | form
        form | 200 ok | SIZE a | size
        form | 213 10 | SIZE a | size
        form | 227 (1,2,3,4,0,9) | SIZE a | size
        form | 229 (|||8|) | SIZE a | size
        form | 257 "/h" | SIZE a | size
        form | 331 ? | fail notImplemented | idle
        form | 332 ? | fail notImplemented | idle
        form | 350 ? | fail notImplemented | idle
        form | 421 ? | close serviceUnavailable | closed
        form | 425 ? | fail notImplemented | idle
        form | 450 ? | fail notImplemented | idle
        form | 500 ? | fail notImplemented | idle
        form | 530 ? | fail notImplemented | idle
        form | 550 ? | fail notImplemented | idle
        form | 552 ? | fail notImplemented | idle
        form | 600 ? | close unexpectedReply | closed
        form | [tls] | wait | form
        form | [login] | wait | form
        form | [begin] | wait | form
        form | [proceed 5] | wait | form
        form | [opened] | wait | form
        form | [not opened] | wait | form
        form | [ended] | wait | form
        home | 150 (9 bytes) | wait | home
        home | 200 ok | close unexpectedReply | closed
        home | 213 10 | close unexpectedReply | closed
        home | 227 (1,2,3,4,0,9) | close unexpectedReply | closed
        home | 229 (|||8|) | close unexpectedReply | closed
        home | 257 "/h" | CWD a | folder
        home | 331 ? | close unexpectedReply | closed
        home | 332 ? | close unexpectedReply | closed
        home | 350 ? | close unexpectedReply | closed
        home | 421 ? | close serviceUnavailable | closed
        home | 425 ? | close unexpectedReply | closed
        home | 450 ? | close unexpectedReply | closed
        home | 500 ? | close unexpectedReply | closed
        home | 530 ? | close unexpectedReply | closed
        home | 550 ? | close unexpectedReply | closed
        home | 552 ? | close unexpectedReply | closed
        home | 600 ? | close unexpectedReply | closed
        home | [tls] | wait | home
        home | [login] | wait | home
        home | [begin] | wait | home
        home | [proceed 5] | wait | home
        home | [opened] | wait | home
        home | [not opened] | wait | home
        home | [ended] | wait | home
        folder | 150 (9 bytes) | wait | folder
        folder | 200 ok | EPSV | extendedPassive
        folder | 213 10 | EPSV | extendedPassive
        folder | 227 (1,2,3,4,0,9) | EPSV | extendedPassive
        folder | 229 (|||8|) | EPSV | extendedPassive
        folder | 257 "/h" | EPSV | extendedPassive
        folder | 331 ? | fail notImplemented | idle
        folder | 332 ? | fail notImplemented | idle
        folder | 350 ? | fail notImplemented | idle
        folder | 421 ? | close serviceUnavailable | closed
        folder | 425 ? | fail notImplemented | idle
        folder | 450 ? | fail notImplemented | idle
        folder | 500 ? | fail noSuchFile | idle
        folder | 530 ? | fail noSuchFile | idle
        folder | 550 ? | fail noSuchFile | idle
        folder | 552 ? | fail noSuchFile | idle
        folder | 600 ? | close unexpectedReply | closed
        folder | [tls] | wait | folder
        folder | [login] | wait | folder
        folder | [begin] | wait | folder
        folder | [proceed 5] | wait | folder
        folder | [opened] | wait | folder
        folder | [not opened] | wait | folder
        folder | [ended] | wait | folder
        makingFolder | 150 (9 bytes) | wait | makingFolder
        makingFolder | 200 ok | CWD a | folder
        makingFolder | 213 10 | CWD a | folder
        makingFolder | 227 (1,2,3,4,0,9) | CWD a | folder
        makingFolder | 229 (|||8|) | CWD a | folder
        makingFolder | 257 "/h" | CWD a | folder
        makingFolder | 331 ? | fail cannotWrite | idle
        makingFolder | 332 ? | fail cannotWrite | idle
        makingFolder | 350 ? | fail cannotWrite | idle
        makingFolder | 421 ? | close serviceUnavailable | closed
        makingFolder | 425 ? | fail cannotWrite | idle
        makingFolder | 450 ? | fail cannotWrite | idle
        makingFolder | 500 ? | fail cannotWrite | idle
        makingFolder | 530 ? | fail cannotWrite | idle
        makingFolder | 550 ? | CWD a | folder
        makingFolder | 552 ? | fail cannotWrite | idle
        makingFolder | 600 ? | close unexpectedReply | closed
        makingFolder | [tls] | wait | makingFolder
        makingFolder | [login] | wait | makingFolder
        makingFolder | [begin] | wait | makingFolder
        makingFolder | [proceed 5] | wait | makingFolder
        makingFolder | [opened] | wait | makingFolder
        makingFolder | [not opened] | wait | makingFolder
        makingFolder | [ended] | wait | makingFolder
        making | 150 (9 bytes) | wait | making
        making | 200 ok | finish | idle
        making | 213 10 | finish | idle
        making | 227 (1,2,3,4,0,9) | finish | idle
        making | 229 (|||8|) | finish | idle
        making | 257 "/h" | finish | idle
        making | 331 ? | fail cannotWrite | idle
        making | 332 ? | fail cannotWrite | idle
        making | 350 ? | fail cannotWrite | idle
        making | 421 ? | close serviceUnavailable | closed
        making | 425 ? | fail cannotWrite | idle
        making | 450 ? | fail cannotWrite | idle
        making | 500 ? | fail notImplemented | idle
        making | 530 ? | fail cannotWrite | idle
        making | 550 ? | fail cannotWrite | idle
        making | 552 ? | fail noSpace | idle
        making | 600 ? | close unexpectedReply | closed
        making | [tls] | wait | making
        making | [login] | wait | making
        making | [begin] | wait | making
        making | [proceed 5] | wait | making
        making | [opened] | wait | making
        making | [not opened] | wait | making
        making | [ended] | wait | making
        size | 150 (9 bytes) | wait | size
        size | 200 ok | MDTM a | time
        size | 213 10 | MDTM a | time
        size | 227 (1,2,3,4,0,9) | MDTM a | time
        size | 229 (|||8|) | MDTM a | time
        size | 257 "/h" | MDTM a | time
        size | 331 ? | report -1 -1 | reported
        size | 332 ? | report -1 -1 | reported
        size | 350 ? | report -1 -1 | reported
        size | 421 ? | close serviceUnavailable | closed
        size | 425 ? | report -1 -1 | reported
        size | 450 ? | report -1 -1 | reported
        size | 500 ? | report -1 -1 | reported
        size | 530 ? | report -1 -1 | reported
        size | 550 ? | report -1 -1 | reported
        size | 552 ? | report -1 -1 | reported
        size | 600 ? | close unexpectedReply | closed
        size | [tls] | wait | size
        size | [login] | wait | size
        size | [begin] | wait | size
        size | [proceed 5] | wait | size
        size | [opened] | wait | size
        size | [not opened] | wait | size
        size | [ended] | wait | size
        time | 150 (9 bytes) | wait | time
        time | 200 ok | report 10 -1 | reported
        time | 213 10 | report 10 -1 | reported
        time | 227 (1,2,3,4,0,9) | report 10 -1 | reported
        time | 229 (|||8|) | report 10 -1 | reported
        time | 257 "/h" | report 10 -1 | reported
        time | 331 ? | report 10 -1 | reported
        time | 332 ? | report 10 -1 | reported
        time | 350 ? | report 10 -1 | reported
        time | 421 ? | close serviceUnavailable | closed
        time | 425 ? | report 10 -1 | reported
        time | 450 ? | report 10 -1 | reported
        time | 500 ? | report 10 -1 | reported
        time | 530 ? | report 10 -1 | reported
        time | 550 ? | report 10 -1 | reported
        time | 552 ? | report 10 -1 | reported
        time | 600 ? | close unexpectedReply | closed
        time | [tls] | wait | time
        time | [login] | wait | time
        time | [begin] | wait | time
        time | [proceed 5] | wait | time
        time | [opened] | wait | time
        time | [not opened] | wait | time
        time | [ended] | wait | time
        reported | 150 (9 bytes) | close unexpectedReply | closed
        reported | 200 ok | close unexpectedReply | closed
        reported | 213 10 | close unexpectedReply | closed
        reported | 227 (1,2,3,4,0,9) | close unexpectedReply | closed
        reported | 229 (|||8|) | close unexpectedReply | closed
        reported | 257 "/h" | close unexpectedReply | closed
        reported | 331 ? | close unexpectedReply | closed
        reported | 332 ? | close unexpectedReply | closed
        reported | 350 ? | close unexpectedReply | closed
        reported | 421 ? | close serviceUnavailable | closed
        reported | 425 ? | close unexpectedReply | closed
        reported | 450 ? | close unexpectedReply | closed
        reported | 500 ? | close unexpectedReply | closed
        reported | 530 ? | close unexpectedReply | closed
        reported | 550 ? | close unexpectedReply | closed
        reported | 552 ? | close unexpectedReply | closed
        reported | 600 ? | close unexpectedReply | closed
        reported | [tls] | wait | reported
        reported | [login] | wait | reported
        reported | [begin] | wait | reported
        reported | [proceed 5] | EPSV | extendedPassive
        reported | [opened] | wait | reported
        reported | [not opened] | wait | reported
        reported | [ended] | wait | reported
        extendedPassive | 150 (9 bytes) | wait | extendedPassive
        extendedPassive | 200 ok | PASV | passive
        extendedPassive | 213 10 | PASV | passive
        extendedPassive | 227 (1,2,3,4,0,9) | PASV | passive
        extendedPassive | 229 (|||8|) | open 8 | opening
        extendedPassive | 257 "/h" | PASV | passive
        extendedPassive | 331 ? | PASV | passive
        extendedPassive | 332 ? | PASV | passive
        extendedPassive | 350 ? | PASV | passive
        extendedPassive | 421 ? | close serviceUnavailable | closed
        extendedPassive | 425 ? | PASV | passive
        extendedPassive | 450 ? | PASV | passive
        extendedPassive | 500 ? | PASV | passive
        extendedPassive | 530 ? | PASV | passive
        extendedPassive | 550 ? | PASV | passive
        extendedPassive | 552 ? | PASV | passive
        extendedPassive | 600 ? | close unexpectedReply | closed
        extendedPassive | [tls] | wait | extendedPassive
        extendedPassive | [login] | wait | extendedPassive
        extendedPassive | [begin] | wait | extendedPassive
        extendedPassive | [proceed 5] | wait | extendedPassive
        extendedPassive | [opened] | wait | extendedPassive
        extendedPassive | [not opened] | wait | extendedPassive
        extendedPassive | [ended] | wait | extendedPassive
        passive | 150 (9 bytes) | wait | passive
        passive | 200 ok | fail dataConnection | idle
        passive | 213 10 | fail dataConnection | idle
        passive | 227 (1,2,3,4,0,9) | open 9 | opening
        passive | 229 (|||8|) | fail dataConnection | idle
        passive | 257 "/h" | fail dataConnection | idle
        passive | 331 ? | fail dataConnection | idle
        passive | 332 ? | fail dataConnection | idle
        passive | 350 ? | fail dataConnection | idle
        passive | 421 ? | close serviceUnavailable | closed
        passive | 425 ? | fail dataConnection | idle
        passive | 450 ? | fail dataConnection | idle
        passive | 500 ? | fail dataConnection | idle
        passive | 530 ? | fail dataConnection | idle
        passive | 550 ? | fail dataConnection | idle
        passive | 552 ? | fail dataConnection | idle
        passive | 600 ? | close unexpectedReply | closed
        passive | [tls] | wait | passive
        passive | [login] | wait | passive
        passive | [begin] | wait | passive
        passive | [proceed 5] | wait | passive
        passive | [opened] | wait | passive
        passive | [not opened] | wait | passive
        passive | [ended] | wait | passive
        opening | 150 (9 bytes) | close unexpectedReply | closed
        opening | 200 ok | close unexpectedReply | closed
        opening | 213 10 | close unexpectedReply | closed
        opening | 227 (1,2,3,4,0,9) | close unexpectedReply | closed
        opening | 229 (|||8|) | close unexpectedReply | closed
        opening | 257 "/h" | close unexpectedReply | closed
        opening | 331 ? | close unexpectedReply | closed
        opening | 332 ? | close unexpectedReply | closed
        opening | 350 ? | close unexpectedReply | closed
        opening | 421 ? | close serviceUnavailable | closed
        opening | 425 ? | close unexpectedReply | closed
        opening | 450 ? | close unexpectedReply | closed
        opening | 500 ? | close unexpectedReply | closed
        opening | 530 ? | close unexpectedReply | closed
        opening | 550 ? | close unexpectedReply | closed
        opening | 552 ? | close unexpectedReply | closed
        opening | 600 ? | close unexpectedReply | closed
        opening | [tls] | wait | opening
        opening | [login] | wait | opening
        opening | [begin] | wait | opening
        opening | [proceed 5] | wait | opening
        opening | [opened] | REST 5 | restart
        opening | [not opened] | PASV | passive
        opening | [ended] | wait | opening
        restart | 150 (9 bytes) | wait | restart
        restart | 200 ok | RETR a | command
        restart | 213 10 | RETR a | command
        restart | 227 (1,2,3,4,0,9) | RETR a | command
        restart | 229 (|||8|) | RETR a | command
        restart | 257 "/h" | RETR a | command
        restart | 331 ? | RETR a | command
        restart | 332 ? | RETR a | command
        restart | 350 ? | RETR a | command
        restart | 421 ? | close serviceUnavailable | closed
        restart | 425 ? | RETR a | command
        restart | 450 ? | RETR a | command
        restart | 500 ? | RETR a | command
        restart | 530 ? | RETR a | command
        restart | 550 ? | RETR a | command
        restart | 552 ? | RETR a | command
        restart | 600 ? | close unexpectedReply | closed
        restart | [tls] | wait | restart
        restart | [login] | wait | restart
        restart | [begin] | wait | restart
        restart | [proceed 5] | wait | restart
        restart | [opened] | wait | restart
        restart | [not opened] | wait | restart
        restart | [ended] | wait | restart
        command | 150 (9 bytes) | begin 5 9 false | transferring
        command | 200 ok | begin 5 -1 false | transferring
        command | 213 10 | begin 5 -1 false | transferring
        command | 227 (1,2,3,4,0,9) | begin 5 -1 false | transferring
        command | 229 (|||8|) | begin 5 -1 false | transferring
        command | 257 "/h" | begin 5 -1 false | transferring
        command | 331 ? | close unexpectedReply | closed
        command | 332 ? | close unexpectedReply | closed
        command | 350 ? | close unexpectedReply | closed
        command | 421 ? | close serviceUnavailable | closed
        command | 425 ? | fail dataConnection | idle
        command | 450 ? | fail noPermission | idle
        command | 500 ? | fail notImplemented | idle
        command | 530 ? | fail noPermission | idle
        command | 550 ? | fail noPermission | idle
        command | 552 ? | fail noPermission | idle
        command | 600 ? | close unexpectedReply | closed
        command | [tls] | wait | command
        command | [login] | wait | command
        command | [begin] | wait | command
        command | [proceed 5] | wait | command
        command | [opened] | wait | command
        command | [not opened] | wait | command
        command | [ended] | wait | command
        transferring | 150 (9 bytes) | wait | transferring
        transferring | 200 ok | wait | transferring
        transferring | 213 10 | wait | transferring
        transferring | 227 (1,2,3,4,0,9) | wait | transferring
        transferring | 229 (|||8|) | wait | transferring
        transferring | 257 "/h" | wait | transferring
        transferring | 331 ? | fail interrupted | idle
        transferring | 332 ? | fail interrupted | idle
        transferring | 350 ? | fail interrupted | idle
        transferring | 421 ? | close serviceUnavailable | closed
        transferring | 425 ? | fail interrupted | idle
        transferring | 450 ? | fail interrupted | idle
        transferring | 500 ? | fail interrupted | idle
        transferring | 530 ? | fail interrupted | idle
        transferring | 550 ? | fail interrupted | idle
        transferring | 552 ? | fail noSpace | idle
        transferring | 600 ? | close unexpectedReply | closed
        transferring | [tls] | wait | transferring
        transferring | [login] | wait | transferring
        transferring | [begin] | wait | transferring
        transferring | [proceed 5] | wait | transferring
        transferring | [opened] | wait | transferring
        transferring | [not opened] | wait | transferring
        transferring | [ended] | wait | ending
        ending | 150 (9 bytes) | wait | ending
        ending | 200 ok | finish | idle
        ending | 213 10 | finish | idle
        ending | 227 (1,2,3,4,0,9) | finish | idle
        ending | 229 (|||8|) | finish | idle
        ending | 257 "/h" | finish | idle
        ending | 331 ? | fail interrupted | idle
        ending | 332 ? | fail interrupted | idle
        ending | 350 ? | fail interrupted | idle
        ending | 421 ? | close serviceUnavailable | closed
        ending | 425 ? | fail interrupted | idle
        ending | 450 ? | fail interrupted | idle
        ending | 500 ? | fail interrupted | idle
        ending | 530 ? | fail interrupted | idle
        ending | 550 ? | fail interrupted | idle
        ending | 552 ? | fail noSpace | idle
        ending | 600 ? | close unexpectedReply | closed
        ending | [tls] | wait | ending
        ending | [login] | wait | ending
        ending | [begin] | wait | ending
        ending | [proceed 5] | wait | ending
        ending | [opened] | wait | ending
        ending | [not opened] | wait | ending
        ending | [ended] | wait | ending
        probing | 150 (9 bytes) | wait | probing
        probing | 200 ok | close isDirectory | closed
        probing | 213 10 | close isDirectory | closed
        probing | 227 (1,2,3,4,0,9) | close isDirectory | closed
        probing | 229 (|||8|) | close isDirectory | closed
        probing | 257 "/h" | close isDirectory | closed
        probing | 331 ? | fail noSuchFile | idle
        probing | 332 ? | fail noSuchFile | idle
        probing | 350 ? | fail noSuchFile | idle
        probing | 421 ? | close serviceUnavailable | closed
        probing | 425 ? | fail noSuchFile | idle
        probing | 450 ? | fail noSuchFile | idle
        probing | 500 ? | fail noSuchFile | idle
        probing | 530 ? | fail noSuchFile | idle
        probing | 550 ? | fail noSuchFile | idle
        probing | 552 ? | fail noSuchFile | idle
        probing | 600 ? | close unexpectedReply | closed
        probing | [tls] | wait | probing
        probing | [login] | wait | probing
        probing | [begin] | wait | probing
        probing | [proceed 5] | wait | probing
        probing | [opened] | wait | probing
        probing | [not opened] | wait | probing
        probing | [ended] | wait | probing
        closed | 150 (9 bytes) | wait | closed
        closed | 200 ok | wait | closed
        closed | 213 10 | wait | closed
        closed | 227 (1,2,3,4,0,9) | wait | closed
        closed | 229 (|||8|) | wait | closed
        closed | 257 "/h" | wait | closed
        closed | 331 ? | wait | closed
        closed | 332 ? | wait | closed
        closed | 350 ? | wait | closed
        closed | 421 ? | wait | closed
        closed | 425 ? | wait | closed
        closed | 450 ? | wait | closed
        closed | 500 ? | wait | closed
        closed | 530 ? | wait | closed
        closed | 550 ? | wait | closed
        closed | 552 ? | wait | closed
        closed | 600 ? | wait | closed
        closed | [tls] | wait | closed
        closed | [login] | wait | closed
        closed | [begin] | wait | closed
        closed | [proceed 5] | wait | closed
        closed | [opened] | wait | closed
        closed | [not opened] | wait | closed
        closed | [ended] | wait | closed

        """#
}

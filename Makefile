# Two commands from a fresh clone on Debian or Ubuntu with a Swift toolchain: `make demo` and `make test`.
# `make bench` measures the codecs, and loads end to end, against others and prints one table (`make bench FILTER=hpack`:
# in part); `make bench-results` also writes Benchmarks/RESULTS.md and its chart. `make bench-against COMMIT` compares the
# cost of loads with that of another commit (`make bench-against 7eb8d3d FILTER=h2`: in part). `make bench-thresholds` compares the
# instructions and thread switches of a load with Benchmarks/thresholds.json (`WRITE=1`: writes it). `make bench-limits` measures
# what the others leave out (cold starts, uploads, far servers …) beside its goals. `make stress` runs random loads under
# ThreadSanitizer and AddressSanitizer, each in a build of its own. `make races` counts the requests that LoadingKit and
# libcurl lose when servers close connections: idle ones, at a reload, after ten requests. `make chaos` measures the memory
# that is held after tens of thousands of failed loads, and of plain ones. `make soak` makes random loads of every kind against
# real servers for six hours (`SOAK_MINUTES`, `SOAK_SEED`), and fails where one ends wrong, or memory, descriptors or threads
# grow. `make fuzz` runs all fuzz targets, FUZZ_SECONDS each (`make fuzz FUZZ_TARGET=zip FUZZ_SECONDS=600`: one). `make simulate`
# runs sessions in a simulated system for two minutes (`SECONDS=3600`; `SEEDS=582`, `BACKGROUND=1-100`, `STORES=1-100`: these),
# and `make faults` lets each call of each scenario of a table fail. `make coverage` lists the regions of codecs and pools that no
# test reaches, and fails where one is not in Tests/unreached.txt. `make traits` builds combinations of package traits.
# `make docs` makes the documentation's site. `make deb` makes a Debian package of loadkit and loadkitd, and `make deb-check`
# installs it in a clean root and runs it there. `make static` builds a program for an empty root.
.PHONY: demo test test-peers docs deb deb-check traits static simulate faults coverage stress races chaos bench bench-results bench-against lint format build install-build-packages install-plugin-packages install-test-packages install-race-packages install-comparison-packages fuzz fuzz-merge install-fuzz-packages soak bench-thresholds bench-limits install-threshold-packages install-limit-packages

# Where pipx puts what it installs.
export PATH := $(HOME)/.local/bin:$(PATH)

BUILD_PACKAGES := libssl-dev zlib1g-dev libbrotli-dev libzstd-dev libpsl-dev libsqlite3-dev pkg-config
TEST_PACKAGES := python3 nginx-light
# The tests of codecs and pools, whose coverage is measured.
COVERAGE_TESTS := HPACKTests,HTTP1Tests,HTTP2Tests,WebSocketTests,ContentCodingTests,FTPTests,ProxiesTests,PrimitivesTests,HTTPTests,CoreTests,FuzzTests
# Programs of others that tests talk to, where they are installed.
PEER_PACKAGES := curl nghttp2-server apache2-bin python3-h2 python3-websockets tinyproxy-bin squid microsocks dante-server python3-pyftpdlib python3-openssl valgrind binutils zip libproxy-tools libproxy1-plugin-webkit libproxy1-plugin-kconfig libkf5config-bin libproxy1-plugin-gsettings gsettings-desktop-schemas openssl krb5-kdc krb5-admin-server krb5-user libapache2-mod-auth-gssapi gss-ntlmssp winbind samba-common-bin python3-gssapi faketime groff-base zsh fish
# Packages for plugins. A program that uses none of these plugins does not need them.
PLUGIN_PACKAGES := libkrb5-dev
BENCH_PACKAGES := libh2o-evloop-dev node-llhttp libnghttp2-dev libcurl4-openssl-dev nginx-light wrk nghttp2-client openssl python3
FUZZ_PACKAGES := node-llhttp libnghttp2-dev python3
COMPARISON_PACKAGES := nginx-light openssl python3
THRESHOLD_PACKAGES := $(COMPARISON_PACKAGES) valgrind binutils
LIMIT_PACKAGES := $(COMPARISON_PACKAGES) libcurl4-openssl-dev python3-websockets iproute2 util-linux
RACE_PACKAGES := libcurl4-openssl-dev nginx-light apache2-bin openssl python3
RACE_BUILD := cd Benchmarks && swift build -c release --static-swift-stdlib --scratch-path .build/clients
# The flags are for all modules: their branches are counted, and targets see what is internal.
FUZZ_BUILD := cd Fuzzing && swift build -c release --disable-index-store -debug-info-format none \
	-Xswiftc -sanitize=fuzzer -Xswiftc -enable-testing -Xcc -fsanitize=fuzzer-no-link
COMPUTING := ^(ContentCoding|Fuzz|HPACK|HTTP1|HTTP2|Persistence|Primitives|WebSocket)Tests\.
# Combinations of package traits that `make traits` builds; `make test` builds all of them together.
TRAIT_SETS := none default default,CommandLineTool
LOADS ?= 50000
FUZZ_SECONDS ?= 60
FUZZ_TARGET ?=

SOAK_MINUTES ?= 360
SOAK_SEED ?= 1
FILTER ?= .*
SECONDS ?= 120
SOURCES := Package.swift Sources Tests Examples Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Sources Fuzzing/Package.swift Fuzzing/Sources

demo: install-build-packages
	swift build --product loadkit --traits default,CommandLineTool
	"$$(swift build --show-bin-path)/loadkit" demo

# Tests whose peers are not installed are not run; `make test-peers` installs the peers. The tests run in four parts, because the tests
# of one part share the cores and the memory, and those of codecs and stores compute for long. The last step says what was not run.
test: install-build-packages install-plugin-packages install-test-packages lint
	Scripts/build-tests.sh $(TEST_BUILD_OPTIONS)
	@Scripts/docs.py
	@rm -f .build/not-run
	@Scripts/inspector.py
	@Scripts/test.sh --filter '^HTTPTests\.'
	@Scripts/test.sh --filter '^SideBySide'
	@Scripts/test.sh --filter '$(COMPUTING)'
	@Scripts/test.sh --skip '^HTTPTests\.' --skip '^SideBySide' --skip '$(COMPUTING)'
	@Scripts/not-run.sh

test-peers:
	@Scripts/install-packages.sh $(PEER_PACKAGES)
	@Scripts/install-moto.sh
	@Scripts/install-ftp-servers.sh

# The documentation of all products as a site, in .build/documentation.
docs: install-build-packages install-plugin-packages
	swift build --enable-all-traits
	@Scripts/docs.py .build/documentation

deb: install-build-packages
	@Scripts/deb.sh

deb-check: install-build-packages
	@Scripts/install-packages.sh debootstrap python3
	@Scripts/deb-check.sh "$$(Scripts/deb.sh | tail -1)"

# The tool, with all that the library has, for each combination; then what the package is on Apple's platforms.
traits: install-build-packages
	@for traits in $(TRAIT_SETS); do \
		case $$traits in none) options=--disable-default-traits ;; *) options="--traits $$traits" ;; esac; \
		echo "Traits: $$traits"; \
		swift build --scratch-path .build-traits --disable-index-store -debug-info-format none $$options --target loadkit \
			|| exit; \
	done
	LOADINGKIT_PLATFORM=apple swift build --scratch-path .build-traits/apple

# A program that needs no file of the system, run in an empty root.
static: install-build-packages
	@Scripts/install-packages.sh libidn2-dev libunistring-dev binutils openssl
	@Scripts/static.py

stress: install-build-packages
	TSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/races.txt:halt_on_error=1 LOADINGKIT_STRESS_LOADS=$(LOADS) \
		swift test --enable-all-traits --sanitize=thread --scratch-path .build-thread \
		-Xswiftc -DTHREAD_SANITIZER --filter StressTests
	LSAN_OPTIONS=suppressions=$(CURDIR)/Scripts/leaks.txt LOADINGKIT_STRESS_LOADS=$(LOADS) \
		swift test --enable-all-traits --sanitize=address --scratch-path .build-address --filter StressTests

simulate: install-build-packages
	swift build --product SimulatedWorld
	"$$(swift build --show-bin-path)/SimulatedWorld" $(if $(SEEDS),--seeds $(SEEDS)) $(if $(BACKGROUND),--background $(BACKGROUND)) \
		$(if $(STORES),--stores $(STORES)) $(if $(SEEDS)$(BACKGROUND)$(STORES),,--seconds $(SECONDS)) $(if $(TRACE),--trace)

faults: install-build-packages
	swift build --product SimulatedWorld
	"$$(swift build --show-bin-path)/SimulatedWorld" --faults $(SCENARIO)

coverage: install-build-packages install-plugin-packages
	LOADINGKIT_TESTS=$(COVERAGE_TESTS) Scripts/build-tests.sh --scratch-path .build-coverage $(TEST_BUILD_OPTIONS) \
		-Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping
	@Scripts/coverage.py "$$(swift build --scratch-path .build-coverage --show-bin-path)/LoadingKitPackageTests.xctest"

fuzz: install-build-packages install-fuzz-packages
	$(FUZZ_BUILD)
	@Scripts/fuzz.py "$$($(FUZZ_BUILD) --show-bin-path)/Fuzz" $(FUZZ_SECONDS) $(FUZZ_TARGET)

# Takes the inputs that `make fuzz` has found into the corpora, where they cover more.
fuzz-merge: install-build-packages install-fuzz-packages
	$(FUZZ_BUILD)
	@Scripts/fuzz.py --merge "$$($(FUZZ_BUILD) --show-bin-path)/Fuzz" 0 $(FUZZ_TARGET)

races: install-build-packages install-race-packages
	$(RACE_BUILD) --product RacingLoadingKit
	$(RACE_BUILD) --product RacingCurl
	@Scripts/races.py "$$($(RACE_BUILD) --show-bin-path)"

chaos: install-build-packages install-race-packages
	$(RACE_BUILD) --product ChaosLoadingKit
	@Scripts/chaos.py "$$($(RACE_BUILD) --show-bin-path)"

soak: install-build-packages install-race-packages
	@Scripts/install-packages.sh squid
	@Scripts/install-ftp-servers.sh
	$(RACE_BUILD) --product ChaosLoadingKit
	@nice Scripts/chaos.py "$$($(RACE_BUILD) --show-bin-path)" soak '$(SOAK_MINUTES)' '$(SOAK_SEED)'

bench: install-build-packages install-bench-packages
	@Scripts/bench.sh show '$(FILTER)'

bench-results: install-build-packages install-bench-packages
	@Scripts/bench.sh write

# `COMMIT` is the second word of the command line. It is a target of its own then, with nothing to do.
ifeq (bench-against,$(firstword $(MAKECMDGOALS)))
COMMIT ?= $(word 2,$(MAKECMDGOALS))
$(eval .PHONY: $(COMMIT))
$(eval $(COMMIT):;@:)
endif

bench-against: install-build-packages install-comparison-packages
	@Scripts/bench-against.py '$(COMMIT)' --filter '$(FILTER)'

bench-thresholds: install-build-packages install-threshold-packages
	@Scripts/bench-thresholds.py --filter '$(FILTER)' $(if $(WRITE),--write)

bench-limits: install-build-packages install-limit-packages
	@Scripts/bench-limits.py --filter '$(FILTER)'

# Names that read as questions give Bool and change nothing (`Scripts/names.py --comments` lists comments to look at, too).
lint:
	swift format lint --strict --recursive --parallel --configuration .swift-format $(SOURCES)
	@Scripts/draw.py --check
	@Scripts/check-docs.py
	@Scripts/apple-interface.py --check
	@Scripts/names.py
	@Scripts/circles.py

format:
	swift format format --in-place --recursive --parallel --configuration .swift-format $(SOURCES)

build: install-build-packages install-plugin-packages
	swift build

install-build-packages:
	@Scripts/install-packages.sh $(BUILD_PACKAGES)

install-plugin-packages:
	@Scripts/install-packages.sh $(PLUGIN_PACKAGES)

install-test-packages:
	@Scripts/install-packages.sh $(TEST_PACKAGES)

install-race-packages:
	@Scripts/install-packages.sh $(RACE_PACKAGES)

install-comparison-packages:
	@Scripts/install-packages.sh $(COMPARISON_PACKAGES)

install-limit-packages:
	@Scripts/install-packages.sh $(LIMIT_PACKAGES)

install-fuzz-packages:
	@Scripts/install-packages.sh $(FUZZ_PACKAGES)

install-threshold-packages:
	@Scripts/install-packages.sh $(THRESHOLD_PACKAGES)

install-bench-packages:
	@Scripts/install-packages.sh $(BENCH_PACKAGES)

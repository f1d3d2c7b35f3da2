// Command bench measures what sdm costs. Each figure is compared with a floor that is measured in
// the same run: programs that do the same work without sdm's parsing and merging.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sdm/cmd/internal/startup"
	"sdm/launch/local"
	"sdm/launch/mpir"
)

func main() {
	local.ShimMain(os.Args)
	mpir.KeeperMain(os.Args)
	// What runs inside is measured as sdm sim is, which uses all processors. All else, with the
	// floors, is limited as the other programs of sdm are.
	if len(os.Args) < 2 || os.Args[1] != "inside" {
		startup.LimitProcessors()
	}
	if len(os.Args) > 1 {
		if serve := children[os.Args[1]]; serve != nil {
			serve(os.Args[2:])
			return
		}
	}
	b := options()
	defer os.RemoveAll(b.dir)
	go b.awaitSignal()
	b.prepare()
	for _, s := range sections {
		if b.wants(s.name, s.byName) {
			b.section = s.name
			s.run(b)
		}
	}
}

// awaitSignal ends the run at a signal, also one that was ignored: in the background of a script. It is a
// goroutine that ends with the program.
func (b *bench) awaitSignal() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	got := <-signals
	os.RemoveAll(b.dir)
	fatal(b.section, fmt.Errorf("ended by %v", got))
}

// children are the functions of this program when it starts itself.
var children = map[string]func(args []string){
	"forward":  serveForward,
	"relay":    serveRelay,
	"inside":   serveInside,
	"gdbs":     serveGDBs,
	"prrte":    servePRRTE,
	"--server": serveScripted, // as package local starts an sdm-server
}

// sections are the measurements, the cheap ones first. Those with byName run only if -only names
// them; they are for profilers.
var sections = []struct {
	name   string
	run    func(*bench)
	byName bool
}{
	{"machine", benchMachine, false},
	{"broadcast", benchBroadcast, false},
	{"stop", benchStop, false},
	{"large", benchLarge, false},
	{"shapes", benchShapes, false},
	{"flood", benchFlood, false},
	{"idle", benchIdle, false},
	{"heal", benchHeal, false},
	{"million", benchMillion, false},
	{"stagger", benchStagger, false},
	{"fold", benchFold, false},
	{"waits", benchWaits, false},
	{"watch", benchWatch, false},
	{"grow", benchGrow, false},
	{"sessions", benchSessions, false},
	{"editors", benchEditors, false},
	{"web", benchWeb, false},
	{"gdb", benchGDB, false},
	{"shared", benchShared, false},
	{"rounds", benchRounds, false},
	{"backtrace", benchBacktrace, false},
	{"probe", benchProbe, false},
	{"attach", benchAttach, false},
	{"held", benchHeld, false},
	{"slurm", benchSlurm, false},
	{"ways", benchWays, false},
	{"pmix", benchPMIx, false},
	{"eclipse", benchEclipse, false},
	{"load-servers", loadServers, true},
	{"load-forwarders", loadForwarders, true},
	{"load-ranks", loadRanks, true},
	{"load-relay", loadRelay, true},
}

// sectionNames returns the sections that run by default.
func sectionNames() string {
	var names []string
	for _, s := range sections {
		if !s.byName {
			names = append(names, s.name)
		}
	}
	return strings.Join(names, ", ")
}

// bench is one run.
type bench struct {
	only    string // names of the sections to run, with commas between; "": all but those by name
	profile string // file for a processor profile of what runs inside; "": none
	server  string // path of sdm-server; "": it is built
	starts  int    // how often the start of ranks is measured, each way
	ranks   int    // of the sections load-ranks and load-relay
	section string // the current one
	dir     string // for build results; removed at the end
	program string // built there: testdata/programs/work.c
	table   table
	began   time.Time
}

// options reads the command line.
func options() *bench {
	b := &bench{began: time.Now(), table: table{to: os.Stdout}}
	flag.StringVar(&b.only, "only", "", "sections to run, with commas between: "+sectionNames()+" (default: all)")
	flag.StringVar(&b.profile, "cpuprofile", "", "`file` for a processor profile of the sections million, stagger, fold and grow")
	flag.StringVar(&b.server, "server", "", "path of the sdm-server to measure (default: built now)")
	flag.IntVar(&b.starts, "starts", 9, "how often 64 ranks are started, each way")
	flag.IntVar(&b.ranks, "ranks", manyRanks, "how many `ranks` of the 64 there are the sections load-ranks and load-relay ask")
	flag.Parse()
	dir, err := os.MkdirTemp("", "sdm-bench-")
	if err != nil {
		fatal("temporary directory", err)
	}
	b.dir = dir
	return b
}

// wants reports whether a section is to run.
func (b *bench) wants(section string, byName bool) bool {
	return b.only == "" && !byName || strings.Contains(","+b.only+",", ","+section+",")
}

// prepare builds what is measured.
func (b *bench) prepare() {
	if b.server == "" {
		b.server = filepath.Join(b.dir, "sdm-server")
		b.build(b.server)
	}
	b.program = b.compile("work")
}

// build builds the program of cmd with the name of a file, as make build does.
func (b *bench) build(path string) {
	b.run("env", "CGO_ENABLED=0", "go", "build", "-trimpath", "-ldflags", "-w", "-o", path, "./cmd/"+filepath.Base(path))
}

// compile builds one of the programs in testdata.
func (b *bench) compile(name string) string {
	program := filepath.Join(b.dir, name)
	b.run("gcc", "-g", "-O0", "-pthread", "-o", program, sources+name+".c")
	return program
}

// sources is the directory of the programs to debug.
const sources = "testdata/programs/"

// progress reports progress on standard error, since standard output is for the table.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%5.1fs %s: %s\n", time.Since(b.began).Seconds(), b.section, fmt.Sprintf(format, args...))
}

// fatal ends the run. The processes that it has started end, too, because each has a pipe or a
// socket whose other end is here.
func fatal(what string, err error) {
	fmt.Fprintf(os.Stderr, "bench: %s: %v\n", what, err)
	os.Exit(1)
}

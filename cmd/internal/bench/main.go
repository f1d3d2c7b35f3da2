// Command bench measures what sdm costs, each figure against a floor that is
// measured in the same run: programs that do the same work without what makes
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sdm/cmd/internal/startup"
	"sdm/launch/local"
	"sdm/launch/mpir"
)

func main() {
	local.ShimMain(os.Args)
	mpir.KeeperMain(os.Args)
	if len(os.Args) < 2 || os.Args[1] != "inside" { // that stands for sdm sim, which computes
		startup.LimitProcessors() // as the programs that it stands for; floors too
	}
	if len(os.Args) > 1 {
		if serve := children[os.Args[1]]; serve != nil {
			serve(os.Args[2:])
			return
		}
	}
	b := options()
	defer os.RemoveAll(b.dir)
	b.prepare()
	for _, s := range sections {
		if b.wants(s.name, s.byName) {
			b.section = s.name
			s.run(b)
		}
	}
	b.table.print(os.Stdout)
}

// children are what this program is when it starts itself.
var children = map[string]func(args []string){
	"forward":  serveForward,
	"relay":    serveRelay,
	"inside":   serveInside,
	"--server": serveScripted, // as package local starts an sdm-server
}

// sections are the measurements, cheap ones first. One that is asked for by name
// only is there to be looked at with a profiler.
var sections = []struct {
	name   string
	run    func(*bench)
	byName bool
}{
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
	{"grow", benchGrow, false},
	{"gdb", benchGDB, false},
	{"shared", benchShared, false},
	{"rounds", benchRounds, false},
	{"backtrace", benchBacktrace, false},
	{"attach", benchAttach, false},
	{"held", benchHeld, false},
	{"slurm", benchSlurm, false},
	{"load-servers", loadServers, true},
	{"load-forwarders", loadForwarders, true},
	{"load-ranks", loadRanks, true},
	{"load-relay", loadRelay, true},
}

// sectionNames are those that run when none is asked for.
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
	only    string
	profile string // file for a processor profile of what runs inside; "": none
	server  string // path of sdm-server; "": built from the sources here
	starts  int
	ranks   int // of the sections load-ranks and load-relay
	section string
	dir     string // for what is built; removed at the end
	program string // built there: testdata/programs/work.c
	table   table
	began   time.Time
}

func options() *bench {
	b := &bench{began: time.Now()}
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

func (b *bench) wants(section string, byName bool) bool {
	return b.only == "" && !byName || strings.Contains(","+b.only+",", ","+section+",")
}

// prepare builds what is measured.
func (b *bench) prepare() {
	if b.server == "" {
		b.server = filepath.Join(b.dir, "sdm-server")
		b.run("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", b.server, "./cmd/sdm-server")
	}
	b.program = b.compile("work")
}

// compile builds one of the programs in testdata.
func (b *bench) compile(name string) string {
	program := filepath.Join(b.dir, name)
	b.run("gcc", "-g", "-O0", "-pthread", "-o", program, sources+name+".c")
	return program
}

// sources is where those to debug are.
const sources = "testdata/programs/"

// progress says on standard error what is being done; standard output is the
// table alone.
func (b *bench) progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%5.1fs %s: %s\n", time.Since(b.began).Seconds(), b.section, fmt.Sprintf(format, args...))
}

// fatal ends the run. What was started ends with us: each process has a pipe
// or a socket whose other end we hold.
func fatal(what string, err error) {
	fmt.Fprintf(os.Stderr, "bench: %s: %v\n", what, err)
	os.Exit(1)
}

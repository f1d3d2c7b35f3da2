// Complete debuggers in a separate process, with simulated ranks and in-memory links, so that the
// memory of one measurement does not affect the next ones.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strings"
	"time"

	"sdm/backend"
	"sdm/cmd/internal/cluster"
)

// inside are the measurements that run in such a process: `bench inside NAME`. They send their
// figures to the parent, one JSON object on each line.
var inside = map[string]func(in *insider){
	"million": insideMillion,
	"stagger": insideStagger,
	"grow":    insideGrow,
	"fold":    insideFold,
	"waits":   insideWaits,

	"sessions": insideSessions,
	"editors":  insideEditors,
	"web":      insideWeb,
}

// insider is such a process.
type insider struct {
	args []string
	out  *json.Encoder
}

// figure is a row for the parent's table.
type figure struct {
	What, Unit string
	Ours       float64
	Most       float64 // limit; 0: none
	Floor      float64 // floor; 0: none
	Times      float64 // limit of Ours / Floor; 0: none
	Slack      float64 // see limit
	Progress   string  // a message instead of a row
}

// say sends a message for the parent to show.
func (in *insider) say(format string, args ...any) {
	in.out.Encode(figure{Progress: fmt.Sprintf(format, args...)})
}

// add sends a figure with a limit; 0: none.
func (in *insider) add(what, unit string, ours, most float64) {
	in.out.Encode(figure{What: what, Unit: unit, Ours: ours, Most: most})
}

// runInside starts the process of a measurement (see inside) and puts its figures into the table.
func (b *bench) runInside(name string, args ...string) {
	self, err := os.Executable()
	if err != nil {
		fatal(name, err)
	}
	line := append([]string{"inside", "-cpuprofile", b.profile, name}, args...)
	cmd := exec.Command(self, line...)
	cmd.Stderr = os.Stderr
	out := startPiped(cmd, name)
	figures := json.NewDecoder(out)
	for figures.More() {
		var f figure
		if err := figures.Decode(&f); err != nil {
			fatal(name, err)
		}
		if f.Progress != "" {
			b.progress("%s", f.Progress)
			continue
		}
		b.table.add(row{what: f.What, unit: f.Unit, ours: f.Ours, floor: f.Floor,
			limit: limit{most: f.Most, ratio: f.Times, slack: f.Slack}})
	}
	if err := cmd.Wait(); err != nil {
		fatal(name, err)
	}
}

// serveInside is the main function of a process that runInside has started.
func serveInside(args []string) {
	flags := flag.NewFlagSet("inside", flag.ExitOnError)
	profile := flags.String("cpuprofile", "", "file for a profile of the processor time")
	flags.Parse(args)
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fatal("profile", err)
		}
		defer f.Close()
		defer pprof.StopCPUProfile()
	}
	inside[flags.Arg(0)](&insider{args: flags.Args()[1:], out: json.NewEncoder(os.Stdout)})
}

// simSession is a session with simulated ranks in this process.
type simSession struct {
	talk
	cluster *cluster.Cluster
}

// startSimulated builds the tree over ranks that a script controls.
func startSimulated(ranks, servers int, shape, script string, sink func(backend.Sink) backend.Sink) *simSession {
	s, err := cluster.ParseScript(strings.NewReader(script), ranks, servers)
	if err != nil {
		fatal("script", err)
	}
	c := &simSession{talk: talk{ranks: ranks, trouble: func() string { return "" }}}
	cfg := cluster.Config{Ranks: ranks, Servers: servers, Shape: shape, Script: s, Wait: patience, Sink: sink}
	cluster.LimitMemory(cfg)
	c.cluster, err = cluster.New(cfg)
	if err != nil {
		fatal("cluster", err)
	}
	c.master = c.cluster.Master
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if _, err := c.cluster.Build(ctx, patience); err != nil {
		fatal("tree", err)
	}
	return c
}

// close ends the session.
func (c *simSession) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() { // ends with the session
		for range c.master.Events() {
		}
	}()
	if err := c.cluster.Close(ctx); err != nil {
		fatal("end of cluster", err)
	}
}

// peak returns the maximum memory of this process so far, in bytes (proc(5), VmHWM).
func peak() int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		fatal("memory", err)
	}
	for line := range bytes.Lines(text) {
		var kb int
		if n, _ := fmt.Sscanf(string(line), "VmHWM: %d kB", &kb); n == 1 {
			return kb << 10
		}
	}
	fatal("memory", fmt.Errorf("no VmHWM"))
	return 0
}

// medianOf calls f several times and returns the median time.
func medianOf(times int, f func()) time.Duration { return timed(f)(times) }

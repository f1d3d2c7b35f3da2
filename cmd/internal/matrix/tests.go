package main

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// outcome is how a test went.
type outcome int

const (
	unfinished outcome = iota // it has begun; the run ended before it did
	waiting                   // for others, beside which it may run
	passed
	skipped
	failed
)

// test is one that has no tests below it.
type test struct {
	name    string // package without "sdm/", a blank, and the test: "cmd/sdm TestScripts/core"
	outcome outcome
	reason  string // why it was skipped, or the first complaint
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// readTests reads what go test -json has written, which may end anywhere.
func readTests(r io.Reader) []test {
	all := map[string]*test{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return leaves(all) // what stands behind the last end of a line is no event
		}
		var e event
		if json.Unmarshal(line, &e) != nil || e.Test == "" {
			continue
		}
		name := strings.TrimPrefix(e.Package, "sdm/") + " " + e.Test
		if all[name] == nil {
			all[name] = &test{name: name}
		}
		all[name].take(e)
	}
}

// place is what stands before the text of a test: "    mpi_test.go:12: ".
var place = regexp.MustCompile(`^\s+[\w.]+\.go:\d+: `)

// take carries on with what is told of a test. The first line that it has logged is why it has failed or was skipped; of
// a script it is the one that begins with FAIL.
func (t *test) take(e event) {
	switch e.Action {
	case "run": // perhaps again
		t.outcome, t.reason = unfinished, ""
	case "pause":
		t.outcome = waiting
	case "cont":
		t.outcome = unfinished
	case "pass":
		t.outcome = passed
	case "fail":
		t.outcome = failed
	case "skip":
		t.outcome = skipped
	case "output":
		if at := place.FindString(e.Output); at != "" && t.reason == "" {
			t.reason = strings.TrimSpace(e.Output[len(at):])
		}
		if script, ok := strings.CutPrefix(strings.TrimSpace(e.Output), "FAIL: testdata/"); ok {
			t.reason = script
		}
	}
}

// leaves gives the tests in order of the names, without those that only hold others and those that were not reached.
func leaves(all map[string]*test) []test {
	holds := map[string]bool{}
	for name := range all {
		for i := strings.LastIndexByte(name, '/'); i > strings.IndexByte(name, ' '); i = strings.LastIndexByte(name[:i], '/') {
			holds[name[:i]] = true
		}
	}
	var some []test
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if t := all[name]; !holds[name] && t.outcome != waiting {
			if t.outcome != skipped && t.outcome != failed {
				t.reason = ""
			}
			some = append(some, *t)
		}
	}
	return some
}

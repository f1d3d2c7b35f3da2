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
	waiting                   // it is announced, or waits for others beside which it may run: it was not reached
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

// tally is all that was told of tests, by their names.
type tally map[string]*test

// readTests reads what go test -json has written, which may end anywhere.
func readTests(r io.Reader) tally {
	all := tally{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return all // what stands behind the last end of a line is no event
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

// above is the test that a test is part of, and "" of one that is part of none.
func above(name string) string {
	if i := strings.LastIndexByte(name, '/'); i > strings.IndexByte(name, ' ') {
		return name[:i]
	}
	return ""
}

// over tells whether a test has ended, or one that it is part of.
func (all tally) over(name string) bool {
	for ; name != ""; name = above(name) {
		if t := all[name]; t != nil && t.outcome != unfinished && t.outcome != waiting {
			return true
		}
	}
	return false
}

// miss adds the tests that others tell of and that were not reached here.
func (all tally) miss(others tally) {
	for name := range others {
		if all[name] == nil && !all.over(name) {
			all[name] = &test{name: name, outcome: waiting}
		}
	}
}

// begun tells whether a test, or one that is part of it, was reached.
func (all tally) begun(name string) bool {
	for other, t := range all {
		if t.outcome != waiting && (other == name || strings.HasPrefix(other, name+"/")) {
			return true
		}
	}
	return false
}

// unreached names what was not reached, once where no part of it was.
func (all tally) unreached() []string {
	var names []string
	for name, t := range all {
		if up := above(name); t.outcome == waiting && (up == "" || all.begun(up)) && !all.begun(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// leaves gives the tests in order of the names, without those that only hold others.
func (all tally) leaves() []test {
	holds := map[string]bool{}
	for name := range all {
		for up := above(name); up != ""; up = above(up) {
			holds[up] = true
		}
	}
	var some []test
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if t := all[name]; !holds[name] {
			if t.outcome != skipped && t.outcome != failed {
				t.reason = ""
			}
			some = append(some, *t)
		}
	}
	return some
}

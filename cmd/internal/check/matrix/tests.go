// Results of tests, read from the output of go test -json.

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

// outcome is the result of a test.
type outcome int

const (
	unfinished outcome = iota // it was running when the run ended
	waiting                   // it was announced or paused, and not reached
	passed
	skipped
	failed
)

// test is a test or subtest.
type test struct {
	name    string // package without "sdm/", a blank, and the test: "cmd/sdm TestScripts/core"
	outcome outcome
	reason  string // why it was skipped, or the first message
	again   bool   // it was run once more because it had failed
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// tally maps the names of tests to their results.
type tally map[string]*test

// readTests reads the output of go test -json, which may end anywhere.
func readTests(r io.Reader) tally {
	all := tally{}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return all // the last line is incomplete
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

// place matches the prefix of a test's message: "    mpi_test.go:12: ".
var place = regexp.MustCompile(`^\s+[\w.]+\.go:\d+: `)

// take records an event of a test. The reason is the first line that the test has logged; for a
// script it is the line that begins with FAIL.
func (t *test) take(e event) {
	switch e.Action {
	case "run": // may be a repetition
		t.again = t.again || t.outcome == failed
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

// above returns the test that a subtest belongs to; "" for a test that is not a subtest.
func above(name string) string {
	if i := strings.LastIndexByte(name, '/'); i > strings.IndexByte(name, ' ') {
		return name[:i]
	}
	return ""
}

// over reports whether a test, or one that it belongs to, has ended.
func (all tally) over(name string) bool {
	for ; name != ""; name = above(name) {
		if t := all[name]; t != nil && t.outcome != unfinished && t.outcome != waiting {
			return true
		}
	}
	return false
}

// miss adds the tests of others that were not reached here.
func (all tally) miss(others tally) {
	for name := range others {
		if all[name] == nil && !all.over(name) {
			all[name] = &test{name: name, outcome: waiting}
		}
	}
}

// begun reports whether a test, or one of its subtests, was reached.
func (all tally) begun(name string) bool {
	for other, t := range all {
		if t.outcome != waiting && (other == name || strings.HasPrefix(other, name+"/")) {
			return true
		}
	}
	return false
}

// unreached returns the names of tests that were not reached. If no subtest of a test was reached,
// it names the test only.
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

// leaves returns the tests without subtests, and those that failed though no subtest did, by name.
func (all tally) leaves() []test {
	holds, blamed := map[string]bool{}, map[string]bool{}
	for name, t := range all {
		for up := above(name); up != ""; up = above(up) {
			holds[up] = true
			blamed[up] = blamed[up] || t.outcome == failed || t.outcome == unfinished
		}
	}
	var some []test
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if t := all[name]; !holds[name] || t.outcome == failed && !blamed[name] {
			if t.outcome != skipped && t.outcome != failed {
				t.reason = ""
			}
			some = append(some, *t)
		}
	}
	return some
}

// Command matrix makes docs/tested.md from the results of the tests in roots of several releases
// (`make matrix`).
//
//	matrix FOLDER NAME... >docs/tested.md
//
// testdata/roots/matrix writes the files of FOLDER: NAME.versions and NAME.json, or NAME.why with the
// reason why there are none. Each NAME is a column.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: matrix FOLDER NAME...")
		os.Exit(2)
	}
	systems, err := readSystems(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "matrix:", err)
		os.Exit(1)
	}
	os.Stdout.WriteString(page(systems))
}

// readSystems reads the results of a run from a folder.
func readSystems(folder string, names []string) ([]system, error) {
	var all []system
	for _, name := range names {
		s, err := readSystem(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if s.name == "" {
			s.name = strings.TrimSuffix(name, "-all")
		}
		all = append(all, s)
	}
	for _, s := range all {
		for _, other := range all {
			s.tests.miss(other.tests)
		}
	}
	return all, nil
}

// readSystem reads the results of one system. path is without the suffix of the files.
func readSystem(path string) (system, error) {
	s := system{tests: tally{}}
	if why, err := os.ReadFile(path + ".why"); err == nil {
		s.why = strings.TrimSpace(string(why))
		return s, nil
	}
	text, err := os.ReadFile(path + ".versions")
	if os.IsNotExist(err) {
		s.why = "not tried in this run"
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.name, s.versions = readVersions(string(text))
	events, err := os.ReadFile(path + ".json")
	if err != nil && !os.IsNotExist(err) {
		return s, err
	}
	s.tests = readTests(bytes.NewReader(events))
	return s, nil
}

package programs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Environment lists what the MPIs of tests and benchmarks find in their
// environment beside what is there (NAME=VALUE, of testdata/mpi.env): any user
// may start more ranks than the machine has processors.
func Environment() ([]string, error) {
	_, file, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "../../../testdata/mpi.env"))
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all, nil
}

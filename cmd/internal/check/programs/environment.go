// The environment that MPI needs in tests and benchmarks.

package programs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Environment returns the variables (NAME=VALUE, from testdata/mpi.env) that MPI needs in tests and
// benchmarks in addition to the environment: any user may start more ranks than there are
// processors.
func Environment() ([]string, error) {
	_, file, _, _ := runtime.Caller(0)
	text, err := os.ReadFile(filepath.Join(filepath.Dir(file), "../../../../testdata/mpi.env"))
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

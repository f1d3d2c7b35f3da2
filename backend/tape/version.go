// The version of a gdb.

package tape

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// version matches the end of the first line of gdb --version (gdb's print_gdb_version): "GNU gdb
// (Debian 13.1-3) 13.1".
var version = regexp.MustCompile(`([0-9]+\.[0-9]+)[0-9.a-z-]*$`)

// Version returns the version of a gdb, "13.1".
func Version(gdb string) (string, error) {
	out, err := exec.Command(gdb, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", gdb, err)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	found := version.FindStringSubmatch(strings.TrimSpace(first))
	if found == nil {
		return "", fmt.Errorf("%s says %q, which is no version of gdb", gdb, first)
	}
	return found[1], nil
}

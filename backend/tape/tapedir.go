// The tape of a process.

package tape

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// tapeDir is the location of the tapes of one test.
type tapeDir struct {
	path  string // path of the tapes, without rank
	state string // directory for the claims of this run
}

// tapeFor returns the tape of a gdb by its first command that attaches to a process; found is
// false for other commands.
func (s tapeDir) tapeFor(command string) (path string, found bool, err error) {
	about := attach.FindStringSubmatch(strings.TrimSpace(command))
	if about == nil {
		return "", false, nil
	}
	environment, err := os.ReadFile("/proc/" + about[1] + "/environ")
	if err != nil {
		return "", false, err
	}
	for e := range strings.SplitSeq(string(environment), "\x00") {
		if rank, ok := strings.CutPrefix(e, "SDM_RANK="); ok {
			path, err = s.claim(rank)
			return path, err == nil, err
		}
	}
	return "", false, fmt.Errorf("process %s has no SDM_RANK in its environment", about[1])
}

// claim takes the next tape of a rank for this process.
func (s tapeDir) claim(rank string) (string, error) {
	for i := 1; ; i++ {
		name := rank
		if i > 1 {
			name = fmt.Sprintf("%s-%d", rank, i)
		}
		f, err := os.OpenFile(filepath.Join(s.state, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		return s.path + "." + name, f.Close()
	}
}

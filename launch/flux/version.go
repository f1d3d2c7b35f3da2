// Releases of Flux and what they can do.

package flux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"sdm/launch"
)

// Version is a release of flux-core.
type Version struct{ Major, Minor int }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

func (v Version) before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// Releases from which on Flux can do something (NEWS.md of flux-core).
var (
	hasHostPids = Version{0, 60} // flux job hostpids
	hasExec     = Version{0, 84} // flux exec --jobid for jobs of the system instance, by users
)

// ReadVersion reads the output of flux version: lines "NAME: VERSION". The version of the broker
// counts, if there is one, because it starts the processes; else the version of the commands.
func ReadVersion(text string) (Version, error) {
	best := ""
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(name) {
		case "broker":
			best = strings.TrimSpace(value)
		case "commands":
			if best == "" {
				best = strings.TrimSpace(value)
			}
		}
	}
	major, rest, _ := strings.Cut(best, ".")
	minor, _, _ := strings.Cut(rest, ".")
	minor, _, _ = strings.Cut(minor, "-")
	var v Version
	var err error
	if v.Major, err = strconv.Atoi(major); err == nil {
		v.Minor, err = strconv.Atoi(minor)
	}
	if err != nil || v.Major < 0 || v.Minor < 0 {
		return Version{}, errors.New("flux version does not name a version")
	}
	return v, nil
}

// Refusal returns why Flux cannot start our servers on the nodes of a job; nil: it can. own says
// that the user is the owner of the instance, as in flux alloc and flux batch, who may run anything
// on its nodes.
func (v Version) Refusal(own bool) error {
	if own || !v.before(hasExec) {
		return nil
	}
	return fmt.Errorf("release %v of Flux does not let users start processes beside jobs of the system (flux exec --jobid can from %v on; in an instance of your own, as in flux alloc, it can now; --remote-shell ssh reaches the nodes another way)", v, hasExec)
}

// CheckExec returns why flux exec cannot start our servers on the nodes of a job; nil: it can.
func CheckExec(ctx context.Context, env []string) error {
	text, err := launch.Ask(ctx, env, []string{"flux", "version"})
	if err != nil {
		return err
	}
	v, err := ReadVersion(text)
	if err != nil {
		return err
	}
	owner, err := launch.Ask(ctx, env, []string{"flux", "getattr", "security.owner"})
	if err != nil {
		return err
	}
	return v.Refusal(strings.TrimSpace(owner) == strconv.Itoa(os.Getuid()))
}

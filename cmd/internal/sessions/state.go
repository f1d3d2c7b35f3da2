// Package sessions keeps a file for each live session of this user, by which the user's other programs find it: on this
// host, or on another one with the same home directory.
package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sdm/protocol"
	"sdm/protocol/canonical"
)

// Kind tells what began a session.
type Kind string

// The kinds.
const (
	Run    Kind = "run"
	Attach Kind = "attach"
	Core   Kind = "core"
	Watch  Kind = "watch"
	Master Kind = "master" // sdm-master --keep
)

// State is what is on file about a session. It holds no secret. Program, Ranks and Job may have control characters:
// whoever shows them takes these out.
type State struct {
	Version int `json:"version"` // of the format
	// ID is "sdm-" and a number, as short as the other sessions of the user permit; "" if the session is on no file.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Host, Boot, Space, PID and Start identify the session process for ever: the host's name, its boot (random(4),
	// boot_id), the PID namespace, the process id there, and its start in ticks since the boot.
	Host  string `json:"host"`
	Boot  string `json:"boot"`
	Space string `json:"pid_namespace"`
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
	// Socket is the abstract name (unix(7)) at which the session listens, with an @ in front. It is random. Another
	// user could still take it: each end must check who the other one is.
	Socket  string        `json:"socket"`
	Program string        `json:"program"`       // see ProgramText
	Ranks   string        `json:"ranks"`         // a rank set, or a number
	Job     string        `json:"job,omitempty"` // as the resource manager names it
	Began   time.Time     `json:"began"`
	Keep    time.Duration `json:"keep_ns"` // how long it goes on without a front end; 0: it ends at once
	// Intent is a digest of the request that began the session, made by the front end, so that the same request does
	// not begin another one.
	Intent string `json:"intent,omitempty"`
}

// Bounds of a state file.
const (
	version   = 1
	maxFile   = 64 << 10 // bytes; ours have less than 1 KiB
	maxText   = 64       // bytes of Program, Ranks and Job: more than protocol.Clip leaves
	maxSocket = 107      // bytes of a name of a socket (unix(7), sun_path without its first byte)
	maxPID    = 1 << 22  // proc(5), /proc/sys/kernel/pid_max
)

// Addr returns the address of the session for programs on its host: "unix:@NAME".
func (s State) Addr() string { return "unix:" + s.Socket }

// ProgramText returns a command line for State.Program: the base name of the program and its arguments, clipped.
func ProgramText(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return clip(strings.Join(append([]string{filepath.Base(argv[0])}, argv[1:]...), " "))
}

// clip shortens a text to maxText bytes at most; a text that it has shortened stays as it is.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return protocol.Clip(text)
}

// print returns the content of the file.
func (s State) print() []byte { return append(canonical.JSON(s), '\n') }

// parse reads the content of a file of the user uid. Fields that it does not know are passed over.
func parse(b []byte, uid int) (State, error) {
	var head struct{ Version int }
	if err := json.Unmarshal(b, &head); err != nil {
		return State{}, fmt.Errorf("it is no session file: %w", err)
	}
	if head.Version != version {
		return State{}, fmt.Errorf("its format is version %d, this sdm reads version %d", head.Version, version)
	}
	var s State
	if err := json.Unmarshal(b, &s); err != nil {
		return State{}, fmt.Errorf("it is no session file: %w", err)
	}
	if err := s.check(uid); err != nil {
		return State{}, fmt.Errorf("it is no session file: %w", err)
	}
	return s, nil
}

// check returns an error unless a state can be that of a session of the user uid.
func (s State) check(uid int) error {
	if err := protocol.CheckHost(s.Host); err != nil {
		return err
	}
	label, named := strings.CutPrefix(s.Socket, socketPrefix(uid))
	switch {
	case number(s.ID) == 0:
		return fmt.Errorf("%q is not the name of a session", protocol.Clip(s.ID))
	case s.PID < 1 || s.PID > maxPID:
		return fmt.Errorf("%d is not the number of a process", s.PID)
	case s.Start == 0:
		return errors.New("the start of its process is missing")
	case !isWord(string(s.Kind)) || !isWord(s.Boot) || !isWord(s.Space):
		return errors.New("its kind, boot or namespace is missing")
	case !named || len(s.Socket) > maxSocket || !isWord(label):
		return fmt.Errorf("%q is not the socket of a session", protocol.Clip(s.Socket))
	case len(s.Program) > maxText || len(s.Ranks) > maxText || len(s.Job) > maxText || len(s.Intent) > maxText:
		return fmt.Errorf("a text is longer than %d bytes", maxText)
	case s.Began.IsZero():
		return errors.New("the time is missing")
	case s.Keep < 0:
		return fmt.Errorf("%v is not a time to keep it", s.Keep)
	}
	return nil
}

// socketPrefix begins the names of the sockets of a user.
func socketPrefix(uid int) string { return "@sdm/" + strconv.Itoa(uid) + "/" }

// isWord reports whether a text is one word of at most 64 letters, digits, and characters of namespaces and boot ids.
func isWord(text string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-:[]", r)
	}
	return text != "" && len(text) <= 64 && !strings.ContainsFunc(text, odd)
}

// Names of sessions and their files.
const (
	idPrefix   = "sdm-"
	fileSuffix = ".json"
	maxNumber  = 9999
)

// id returns the name of the session with a number.
func id(n int) string { return idPrefix + strconv.Itoa(n) }

// IsID reports whether a text has the form of the name of a session.
func IsID(text string) bool { return number(text) != 0 }

// number returns the number in the name of a session; 0: it is not such a name.
func number(id string) int {
	text, ok := strings.CutPrefix(id, idPrefix)
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 || n > maxNumber || strconv.Itoa(n) != text {
		return 0
	}
	return n
}

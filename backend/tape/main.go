// The programs that replace gdb in a test: the test binary under another name.

package tape

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Environment variables of a recorder or a player.
const (
	modeVariable  = "TAPE_MODE"  // record or play
	pathVariable  = "TAPE_PATH"  // path of the tapes, without rank and number
	namesVariable = "TAPE_NAMES" // NAME=TEXT, one a line
	gdbVariable   = "TAPE_GDB"   // the gdb to record
	stateVariable = "TAPE_STATE" // directory where each process claims its tape
)

// Main must be called at the beginning of TestMain. In a process that replaces gdb it runs the
// recorder or player, and does not return.
func Main() {
	mode := os.Getenv(modeVariable)
	if mode == "" {
		return
	}
	s := tapeDir{path: os.Getenv(pathVariable), state: os.Getenv(stateVariable)}
	code, err := 1, fmt.Errorf("%s is %q", modeVariable, mode)
	switch mode {
	case "record":
		code, err = record(s, os.Getenv(gdbVariable), os.Args[1:], parseNames(os.Getenv(namesVariable)))
	case "play":
		code, err = play(s, parseNames(os.Getenv(namesVariable)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "tape:", err)
	}
	os.Exit(code)
}

// Recorder returns the path of a gdb whose conversations are recorded on tapes. The tape is
// PATH.RANK for the SDM_RANK in the environment of the process that the gdb attaches to first,
// PATH.RANK-2 for the second gdb of that rank, and so on. names are directories of this machine
// that are replaced by a name on the tape.
func Recorder(t testing.TB, gdb, path string, names map[string]string) string {
	return standIn(t, "record", gdb, path, names)
}

// Player returns the path of a gdb that plays the tapes of Recorder.
func Player(t testing.TB, path string, names map[string]string) string {
	return standIn(t, "play", "", path, names)
}

// standIn writes a script that executes this program as a recorder or player.
func standIn(t testing.TB, mode, gdb, path string, names map[string]string) string {
	t.Helper()
	us, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if path, err = filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
	var list []string
	for k, v := range names {
		list = append(list, k+"="+v)
	}
	script := "#!/bin/sh\ntrap '' INT\n" // SIGINT is sent to wake a gdb that is slow
	for _, v := range [][2]string{
		{modeVariable, mode}, {pathVariable, path}, {namesVariable, strings.Join(list, "\n")}, {gdbVariable, gdb},
		{stateVariable, t.TempDir()},
	} {
		script += "export " + v[0] + "=" + quoted(v[1]) + "\n"
	}
	out := filepath.Join(t.TempDir(), "gdb")
	if err := os.WriteFile(out, []byte(script+"exec "+quoted(us)+" \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return out
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

func parseNames(text string) names {
	n := names{}
	for line := range strings.SplitSeq(text, "\n") {
		if k, v, ok := strings.Cut(line, "="); ok {
			n[k] = v
		}
	}
	return n
}

// play runs as a gdb that plays a tape, from standard input to standard output. It ends with the
// tape or with its input.
func play(s tapeDir, n names) (code int, err error) {
	var p *player
	var early []string // commands that came before it was known which tape to play
	commands := bufio.NewReader(os.Stdin)
	for p == nil || !p.over {
		command, err := commands.ReadString('\n')
		if err != nil {
			return 0, nil
		}
		early = append(early, strings.TrimSuffix(command, "\n"))
		if p == nil {
			path, found, err := s.tapeFor(command)
			if err != nil {
				return 1, err
			}
			if !found {
				continue
			}
			if p, err = load(path, n); err != nil {
				return 1, err
			}
			writeLines(p.start())
		}
		for _, c := range early {
			code = writeLines(p.take(c))
		}
		early = nil
	}
	return code, nil
}

func load(path string, n names) (*player, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	lines, err := Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return newPlayer(lines, n), nil
}

// writeLines writes lines as gdb does, and returns the exit code that is among them.
func writeLines(lines []Line) (code int) {
	var b strings.Builder
	for _, l := range lines {
		switch l.Kind {
		case Output:
			b.WriteString(l.Text + "\n")
		case Errors:
			fmt.Fprintln(os.Stderr, l.Text)
		case End:
			code, _ = strconv.Atoi(l.Text)
		}
	}
	os.Stdout.WriteString(b.String())
	return code
}
